"""End of a report: the notes of the document, and tables of all other values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from writeamp.reports.report import Block, Bullets, Paragraph, Report, Rows, Section
from writeamp.reports.values import rows, shown, texts

_MOST_ROWS = 100
# Keys that other sections show.
_ELSEWHERE = frozenset(
    {"warnings", "notes", "differences", "advice", "findings", "settings", "numbers", "what_if"}
)


def notes(report: Report) -> Section | None:
    """Return the notes of the document that are not warnings."""
    warnings = texts(report.document, "warnings")
    remaining = [note for note in texts(report.document, "notes") if note not in warnings]
    return Section("notes", "Notes", (Bullets(remaining),)) if remaining else None


def details(report: Report) -> Section | None:
    """Return all values that no other section shows, as a folded section."""
    facts = [[key, value] for key, value in _facts(report.document)]
    tables: list[Block] = [Rows(["", ""], facts)] if facts else []
    for key in report.document:
        table = rows(report.document, key)
        if table and key not in _ELSEWHERE:
            tables += _table(key, table)
    if not tables:
        return None
    command = report.with_options("--json")
    return Section("details", "All numbers and settings", tuple(tables), command, is_folded=True)


def _facts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the values of a document with their nested keys joined by dots."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not path and key in _ELSEWHERE:
                continue
            yield from _facts(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        if not any(isinstance(item, Mapping | list | tuple) for item in value):
            yield path, _list(value)
    else:
        yield path, shown(value)


def _list(value: Sequence[Any]) -> str:
    if len(value) > 8:
        return f"{len(value):,} values"
    return ", ".join(map(shown, value)) or "–"


def _table(key: str, table: list[Mapping[str, Any]]) -> Iterator[Block]:
    lines = [dict(_facts({"": row})) for row in table[:_MOST_ROWS]]
    columns = list(dict.fromkeys(name for line in lines for name in line))[:12]
    yield Rows(
        [column.lstrip(".") for column in columns],
        [[line.get(column, "") for column in columns] for line in lines],
        caption=key,
    )
    if len(table) > _MOST_ROWS:
        yield Paragraph(f"… and {len(table) - _MOST_ROWS:,} more rows of {key}.", "muted")
