"""HTML page of a report: its sections, with its data embedded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from writeamp.pages.frame import page, source
from writeamp.plots.output import inline_svg
from writeamp.reports.embedding import ELEMENT, payload
from writeamp.reports.markdown import markdown
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
from writeamp.reports.sections import sections_of
from writeamp.text import html_text

_MARKDOWN = "markdown"
_HERE = "writeamp.reports"
# Longest drawing, so that a page stays below a megabyte.
_MOST_CHARACTERS = 200_000
# Cells with longer texts are wide on phones, too, or they would have a word in each line.
_LONG_CHARACTERS, _LONG = 40, ' class="long"'


def report_page(report: Report) -> bytes:
    """Return the self-contained page of a report."""
    sections = sections_of(report)
    title = f"writeamp {report.verb}"
    return page(
        title,
        "\n".join(_body(report, title, sections)),
        styles=[source(_HERE, "report.css")],
        scripts=[source(_HERE, "models.js"), source(_HERE, "page.js")],
        data={ELEMENT: payload(report), _MARKDOWN: markdown(report, sections)},
    )


def _body(report: Report, title: str, sections: Sequence[Section]) -> Iterator[str]:
    yield f"<header>\n<h1>{html_text(title)}</h1>"
    top = [section for section in sections if not section.title]
    for section in top:
        yield from map(block_html, section.blocks)
    yield f'<pre tabindex="0" aria-label="The command">{html_text(report.command_line)}</pre>'
    yield (
        f'<div class="actions screen"><button type="button" data-copies="{_MARKDOWN}">'
        'Copy as Markdown</button> <span id="copied" role="status"></span></div>\n</header>\n<main>'
    )
    for section in sections:
        if section.title:
            yield from _section(section)
    yield (
        f"</main>\n<footer><p>Made by writeamp {html_text(report.version)}. The result is stored "
        "in this page: <code>writeamp report FILE</code> prints it as Markdown, and with "
        "<code>--json</code> as the command's JSON document. Serial numbers of drives are hashed."
        "</p></footer>"
    )


def _section(section: Section) -> Iterator[str]:
    name, title = html_text(section.name), html_text(section.title)
    yield f'<section id="{name}" aria-label="{title}">'
    yield f"<details><summary>{title}</summary>" if section.is_folded else f"<h2>{title}</h2>"
    yield from map(block_html, section.blocks)
    if section.command is not None:
        yield (
            f'<div class="again">Command: <pre tabindex="0" aria-label="The command of: '
            f'{title}">{html_text(section.command)}</pre></div>'
        )
    yield "</details></section>" if section.is_folded else "</section>"


def block_html(block: Block) -> str:
    """Return the HTML of a block, with all text escaped."""
    if isinstance(block, Paragraph):
        tone = f' class="{block.tone}"' if block.tone else ""
        return f"<p{tone}>{html_text(block.text)}</p>"
    if isinstance(block, Bullets):
        bullets = "".join(f"<li>{html_text(text)}</li>" for text in block.texts)
        return f'<ul class="notes">{bullets}</ul>'
    if isinstance(block, Rows):
        return _table(block)
    if isinstance(block, Drawing):
        caption = f"<figcaption>{html_text(block.words)}</figcaption>" if block.words else ""
        return f"<figure>{_charts(block)}{caption}</figure>"
    assert isinstance(block, Controls)
    return f"{block.start}{block_html(block.drawing)}{block.end}"


def _charts(drawing: Drawing) -> str:
    """Return the chart for wide and for narrow windows; the style shows one of both."""
    charts = ""
    for name, for_phone in (("wide", False), ("phone", True)):
        svg = inline_svg(drawing.figure, inside=drawing.inside, for_phone=for_phone)
        if len(svg) > _MOST_CHARACTERS:
            return "<p>This drawing is too large for the page; draw it with --plot.</p>"
        charts += f'<div class="chart {name}">{svg}</div>'
    return charts


def _table(table: Rows) -> str:
    sides = [' class="number"' if column.startswith(">") else "" for column in table.columns]
    caption = f"<caption>{html_text(table.caption)}</caption>" if table.caption else ""
    head = "".join(
        f'<th scope="col"{side}>{html_text(column.removeprefix(">"))}</th>'
        for column, side in zip(table.columns, sides, strict=True)
    )
    rows = "\n".join(
        "<tr>"
        + "".join(
            f"<td{_LONG if not side and len(cell) > _LONG_CHARACTERS else side}>"
            f"{html_text(cell)}</td>"
            for cell, side in zip(row, sides, strict=True)
        )
        + "</tr>"
        for row in table.rows
    )
    # Names and values need no head, which would be an empty row.
    has_head = any(column.removeprefix(">") for column in table.columns)
    head = f"<thead><tr>{head}</tr></thead>" if has_head else ""
    kind = "" if has_head else ' class="facts"'
    made = (
        f'<div class="scroll" tabindex="0"><table{kind}>{caption}{head}\n'
        f"<tbody>{rows}</tbody></table></div>"
    )
    if not table.folded:
        return made
    return f"<details><summary>{html_text(table.folded)}</summary>{made}</details>"
