"""Tables of attributes that web interfaces and spreadsheets show, as the rows of smartctl."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ID = ("id", "id#", "#")
_NAME = ("attribute", "attribute name", "attribute_name", "name")
_RAW = ("raw", "raw value", "raw_value", "rawvalue")
_NORMALIZED = ("normalized", "normalised", "normalized value")
_VALUE = ("value", "current", "cur")
_FIELD = re.compile(
    r"^[ \t]*(Model Family|Device Model|Serial Number|Firmware Version|User Capacity|"
    r"Rotation Rate)[ \t]*(?::[ \t]*[,;]?|[,;\t])[ \t]*",
    re.MULTILINE | re.IGNORECASE,
)
_FEWEST_COLUMNS = 4
_MOST_LINE = 400


def without_web_tables(text: str) -> str:
    """Return a text whose tables of attributes have the columns of smartctl.

    A table is known by its head, which names an identity, an attribute and a raw value. Proxmox
    calls the raw value "Value" and has "Normalized" beside it.
    """
    lines = text.split("\n")
    heads = [place for place, line in enumerate(lines) if _columns(line)]
    if not heads:
        return text
    for first, last in zip(heads, [*heads[1:], len(lines)], strict=True):
        columns = _columns(lines[first])
        for place in range(first + 1, last):
            lines[place] = _row(lines[place], lines[first], columns) or lines[place]
        lines[first] = ""
    return _FIELD.sub(lambda found: f"{found[1].title()}: ", "\n".join(lines))


def _columns(head: str) -> tuple[int, int, int, int] | None:
    """Return the places of the identity, name, normalized value and raw value; None if not all."""
    if len(head) > _MOST_LINE or not any(one in head for one in "\t,;"):
        return None
    names = [one.strip().lower() for one in head.split(_separator(head))]
    if len(names) < _FEWEST_COLUMNS:
        return None
    value, raw = _place(names, _VALUE), _place(names, _RAW)
    normalized = _place(names, _NORMALIZED)
    if normalized >= 0:
        value, raw = normalized, raw if raw >= 0 else value
    found = (_place(names, _ID), _place(names, _NAME), value, raw)
    return None if -1 in found else found


def _place(names: Sequence[str], spellings: Sequence[str]) -> int:
    return next((place for place, name in enumerate(names) if name in spellings), -1)


def _separator(head: str) -> str:
    return max("\t,;", key=head.count)


def _row(line: str, head: str, columns: tuple[int, int, int, int] | None) -> str | None:
    cells = [one.strip() for one in line.split(_separator(head))]
    if columns is None or len(line) > _MOST_LINE or len(cells) <= max(columns):
        return None
    number, name, value, raw = (cells[place] for place in columns)
    if not re.fullmatch(r"\d{1,3}", number) or not re.fullmatch(r"\d{1,3}", value) or not raw:
        return None
    return f"{number} {'_'.join(name.split()) or '-'} 0x0000 {value} --- --- - {raw}"
