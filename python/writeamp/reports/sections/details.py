"""End of a report: the notes of the document, and what no other section shows as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from writeamp.reports.report import Block, Bullets, Paragraph, Report, Rows, Section
from writeamp.reports.values import rows, shown, texts

_MOST_ROWS = 100
# Shown by sections of their own, or above all of them.
_ELSEWHERE = frozenset(
    {"warnings", "notes", "differences", "advice", "findings", "settings", "numbers", "what_if"}
)


def notes(report: Report) -> Section | None:
    """Return the notes of the document, those that are no warnings."""
    warnings = texts(report.document, "warnings")
    found = [one for one in texts(report.document, "notes") if one not in warnings]
    return Section("notes", "Notes", (Bullets(found),)) if found else None


def details(report: Report) -> Section | None:
    """Return the facts of the document, folded where other sections have the answer."""
    facts = [[key, value] for key, value in _facts(report.document)]
    found: list[Block] = [Rows(["", ""], facts)] if facts else []
    for key in report.document:
        table = rows(report.document, key)
        if table and key not in _ELSEWHERE:
            found += _table(key, table)
    if not found:
        return None
    command = report.with_options("--json")
    return Section("details", "All numbers and settings", tuple(found), command, is_folded=True)


def _facts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield values by their keys, joined by points."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            if not path and key in _ELSEWHERE:
                continue
            yield from _facts(one, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        if not any(isinstance(one, Mapping | list) for one in value):
            yield path, _list(value)
    else:
        yield path, shown(value)


def _list(value: list[Any]) -> str:
    if len(value) > 8:
        return f"{len(value):,} values"
    return ", ".join(map(shown, value)) or "–"


def _table(key: str, table: list[Mapping[str, Any]]) -> Iterator[Block]:
    lines = [dict(_facts({"": row})) for row in table[:_MOST_ROWS]]
    columns = list(dict.fromkeys(name for line in lines for name in line))[:12]
    yield Rows(
        [one.lstrip(".") for one in columns],
        [[line.get(one, "") for one in columns] for line in lines],
        caption=key,
    )
    if len(table) > _MOST_ROWS:
        yield Paragraph(f"… and {len(table) - _MOST_ROWS:,} more rows of {key}.", "muted")
