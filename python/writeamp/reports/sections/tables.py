"""Tables that the terminal prints, on the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from writeamp.reports.report import Block, Paragraph, Report, Rows, Section
from writeamp.reports.values import items, rows, texts, words
from writeamp.results.card import Card

# Maximum number of rows of a table on the page, so that pages of large studies stay small.
_MOST_ROWS = 500


def tables_of(card: Card) -> dict[str, Any]:
    """Return the tables of a card and of its parts as JSON types, for `Report.more`."""
    cards = [card, *card.parts]
    return {
        "legend": list(card.legend),
        "tables": [
            {
                "title": table.title,
                "columns": list(table.columns),
                "rows": [list(row) for row in table.rows[:_MOST_ROWS]],
                "left_out": max(0, len(table.rows) - _MOST_ROWS),
                # The page has a section of its own for the notes of the whole result.
                "notes": [] if table is card else list(table.notes),
            }
            for table in cards
        ],
    }


def tables(report: Report) -> Section | None:
    """Return the tables of the terminal, or None for pages of versions that did not store them."""
    blocks = [block for table in rows(report.more, "tables") for block in _blocks(table)]
    blocks += [Paragraph(line, "muted") for line in texts(report.more, "legend")]
    if not blocks:
        return None
    return Section("result", "Result", tuple(blocks), report.with_options("--json"))


def _blocks(table: Mapping[str, Any]) -> Iterator[Block]:
    columns = texts(table, "columns")
    title, width = words(table, "title"), len(columns) or 2
    lines = [
        [str(cell) for cell in line]
        for line in items(table.get("rows"))
        if len(items(line)) == width
    ]
    if lines:
        # Tables of sentences begin with their title as the name of the first column.
        is_heading = bool(columns) and columns[0].lower() == title.lower()
        yield Rows(columns or ["", ""], lines, caption="" if is_heading else title)
    elif title:
        yield Paragraph(title)
    left_out = table.get("left_out")
    if isinstance(left_out, int) and left_out > 0:
        yield Paragraph(f"{left_out:,} more rows are in the output of --json.", "muted")
    for note in texts(table, "notes"):
        yield Paragraph(note, "muted")
