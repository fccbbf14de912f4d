"""Markdown of a report, for the page's copy button and `writeamp report`."""

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

# Characters with a meaning in Markdown, which are escaped in text.
_OBEYED = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>#|~"})


def markdown(report: Report, sections: Sequence[Section]) -> str:
    """Return the report as Markdown, with tables of numbers instead of drawings."""
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
    """Yield a section's lines; of a section with interactive blocks, only its command."""
    if not any(isinstance(block, Controls) for block in section.blocks):
        for block in section.blocks:
            yield from _block(block)
    if section.command is not None:
        yield f"Command:\n\n{_code(section.command)}"


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Paragraph):
        mark = "**" if block.tone == "answer" else ""
        yield f"{mark}{_text(block.text)}{mark}\n"
    elif isinstance(block, Bullets):
        yield from (f"- {_text(text)}" for text in block.texts)
        yield ""
    elif isinstance(block, Rows):
        yield from _table(block)
    elif isinstance(block, Drawing):
        if block.facts:
            yield f"{_text(block.facts)}\n"
    else:
        assert isinstance(block, Controls)


def _table(table: Rows) -> Iterator[str]:
    for words in filter(None, (table.folded, table.caption)):
        yield f"{_text(words)}\n"
    yield _row([column.removeprefix(">") or " " for column in table.columns])
    yield (
        "|"
        + "|".join("---:" if column.startswith(">") else "---" for column in table.columns)
        + "|"
    )
    for row in table.rows:
        yield _row(row)
    yield ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_text, cells))} |"


def _text(words: str) -> str:
    return printable(words).translate(_OBEYED)


def _code(command: str) -> str:
    """Return a code block, with a fence longer than any row of backticks in the code."""
    fence = "```"
    while fence in command:
        fence += "`"
    return f"{fence}\n{printable(command)}\n{fence}\n"
