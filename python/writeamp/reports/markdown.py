"""Markdown of a report: what a page's button copies, and `writeamp report` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from writeamp.reports.report import (
    Block,
    Bullets,
    Controls,
    Drawing,
    Paragraph,
    Report,
    Rows,
    Section,
)
from writeamp.text import printable

# Signs that Markdown would obey in text of others.
_OBEYED = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>#|~"})


def markdown(report: Report, sections: Sequence[Section]) -> str:
    """Return the report as Markdown, without its drawings, whose numbers are in tables."""
    return "\n".join(_lines(report, sections))


def _lines(report: Report, sections: Sequence[Section]) -> Iterator[str]:
    yield f"# writeamp {_text(report.verb)}\n"
    is_first = True
    for section in sections:
        lines = list(_section(section))
        if section.title and lines:
            if is_first:
                yield _code(report.command_line)
                is_first = False
            yield f"## {_text(section.title)}\n"
        yield from lines
    if is_first:
        yield _code(report.command_line)


def _section(section: Section) -> Iterator[str]:
    """Yield what a section says without what is seen and pressed in a page alone."""
    if not any(isinstance(one, Controls) for one in section.blocks):
        for block in section.blocks:
            yield from _block(block)
    if section.command is not None:
        yield f"Command:\n\n{_code(section.command)}"


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Paragraph):
        mark = "**" if block.tone == "answer" else ""
        yield f"{mark}{_text(block.text)}{mark}\n"
    elif isinstance(block, Bullets):
        yield from (f"- {_text(one)}" for one in block.texts)
        yield ""
    elif isinstance(block, Rows):
        yield from _table(block)
    elif isinstance(block, Drawing):
        if block.facts:
            yield f"{_text(block.facts)}\n"
    else:
        assert isinstance(block, Controls)


def _table(found: Rows) -> Iterator[str]:
    for words in filter(None, (found.folded, found.caption)):
        yield f"{_text(words)}\n"
    yield _row([one.removeprefix(">") or " " for one in found.columns])
    yield "|" + "|".join("---:" if one.startswith(">") else "---" for one in found.columns) + "|"
    for row in found.rows:
        yield _row(row)
    yield ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_text, cells))} |"


def _text(words: str) -> str:
    return printable(words).translate(_OBEYED)


def _code(command: str) -> str:
    """Return a block of code, fenced by more backticks than are in it."""
    fence = "```"
    while fence in command:
        fence += "`"
    return f"{fence}\n{printable(command)}\n{fence}\n"
