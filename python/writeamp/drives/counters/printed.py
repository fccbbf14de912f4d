"""Printed logs: keys and values of a tool's text or JSON in any spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from writeamp.drives.counters.document import MOST, Document, text_of, whole, wide

# Logs of one drive are small; larger documents are not searched for keys.
_MOST_BYTES = 1 << 20
_MOST_ENTRIES = 20_000
# Longest part of a line that is read, in characters; the rest is ignored.
_LONGEST_LINE = 1000
_NAMES = ("attribute", "Attribute", "Attribute Name", "key", "name", "field", "description")
_VALUES = ("raw", "raw_value", "value", "Attribute Value")
# "key : value"; some tools print the position of the field in brackets before the key.
_LINE = re.compile(r"\s*(?:\[\d+:\d+\]\s*)?([^:=;|]{1,120}?)\s*[:=;|]\s*(.{0,400})")
_COLUMNS = re.compile(r"\s{2,}|\t")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OTHERS = re.compile(r"[^a-z0-9]+")
_NUMBER = re.compile(r"[+]?(\d[\d.,'’_?\s\ufffd]*)(?:[eE]\+?(\d{1,3}))?")
# Decoding replaces separators in an unknown encoding by U+FFFD, so it counts as a separator.
_GROUPS = re.compile(r"\d{1,3}(?:([.,'’_?\s\ufffd])\d{3})(?:\1\d{3})*")
_INDIAN_GROUPS = re.compile(r"\d{1,2}(?:,\d{2})*,\d{3}")
_HEX = re.compile(r"0[xX]([0-9a-fA-F]{1,32})h?")
_HIGH_AND_LOW = re.compile(r"(\d{1,20})\s+(\d{1,20})")
# A float with at most this many significant digits was probably rounded when it was printed, so its
# count has bounds.
_FEW_DIGITS = 7
_FLOAT_BITS = 53
_GROUP = 3


class PrintedEntry(NamedTuple):
    """Entry of a log: key in lower case with underscores, printed value, and normalized value."""

    key: str
    value: Any
    normalized: int | None = None


class PrintedCount(NamedTuple):
    """Bounds of a printed count; they differ if the count was printed as a rounded float."""

    low: int
    high: int


def spelled(key: str) -> str:
    """Return a key in a spelling that is common to all tools.

    >>> spelled("Physical media units written"), spelled("dataUnitsWritten"), spelled("Max (TLC)")
    ('physical_media_units_written', 'data_units_written', 'max_tlc')
    """
    return _OTHERS.sub("_", _CAMEL.sub("_", key).lower()).strip("_")


@lru_cache(maxsize=2)
def entries(document: Document) -> dict[str, tuple[PrintedEntry, ...]]:
    """Return the entries of a document of one drive, by key; empty if it is too large.

    Raises:
        WriteampError: the JSON is truncated, or has a key twice.
    """
    if len(document.content) > _MOST_BYTES:
        return {}
    by_key: dict[str, list[PrintedEntry]] = {}
    source = _lines(document.text) if document.json is None else _nodes(document.json)
    for place, entry in enumerate(source):
        if place >= _MOST_ENTRIES:
            break
        same = by_key.setdefault(entry.key, [])
        if entry not in same:
            same.append(entry)
    return {key: tuple(same) for key, same in by_key.items() if key}


def _lines(text: str) -> Iterator[PrintedEntry]:
    for whole_line in text.splitlines():
        line = whole_line.strip()[:_LONGEST_LINE]
        if line.startswith("#"):
            continue
        if match := _LINE.match(line):
            yield PrintedEntry(spelled(match[1]), match[2].strip())
            continue
        columns = [column for column in _COLUMNS.split(line[:400]) if column]
        if len(columns) < 2:
            continue
        first = 1 if len(columns) > 2 and _HEX.fullmatch(columns[0]) else 0
        normalized = whole(columns[first + 1]) if len(columns) == first + 3 else None
        yield PrintedEntry(spelled(columns[first]), columns[-1], normalized)


def _nodes(root: Any) -> Iterator[PrintedEntry]:
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if isinstance(node, list):
            nodes += reversed(node)
            continue
        if not isinstance(node, dict):
            continue
        yield from _named(node)
        for key, value in node.items():
            if isinstance(value, dict) and "raw" in value:
                yield PrintedEntry(spelled(key[:120]), value["raw"], whole(value.get("normalized")))
                nodes.append(value["raw"])
            elif isinstance(value, dict) and {"hi", "lo"} <= value.keys():
                yield PrintedEntry(spelled(key[:120]), value)
            elif isinstance(value, dict | list):
                nodes.append(value)
            else:
                yield PrintedEntry(spelled(key[:120]), value)


def _named(node: dict[str, Any]) -> Iterator[PrintedEntry]:
    """Yield the entry of an object with its key in one member and its value in another."""
    name = next((text for key in _NAMES if (text := text_of(node.get(key)))), None)
    value = next((node[key] for key in _VALUES if key in node), None)
    if name is not None and value is not None:
        yield PrintedEntry(spelled(name), value, whole(node.get("normalized")))


def count_of(value: Any) -> PrintedCount | None:
    """Return the count at the start of a value, or None.

    Text may have thousands separators of any locale, be hexadecimal, or be the high and low 64 bits
    separated by a space. For a float, the bounds follow from its precision.

    >>> count_of("1.902.011.793 [973 TB]")
    PrintedCount(low=1902011793, high=1902011793)
    >>> count_of("0 609651339018240").low, count_of("0x2d").low
    (609651339018240, 45)
    """
    if isinstance(value, str):
        return _of_text(value.strip()[:200])
    if isinstance(value, float):
        return _of_float(value)
    count = wide(value)
    return None if count is None else PrintedCount(count, count)


def _of_float(value: float) -> PrintedCount | None:
    count = whole(value)
    if count is None:
        return None
    digits = f"{Decimal(repr(value)):f}".split(".")[0]
    if count < 1 << _FLOAT_BITS and len(digits.rstrip("0")) > _FEW_DIGITS:
        return PrintedCount(count, count)
    return _rounded(count, len(digits), len(digits.rstrip("0")))


def _rounded(count: int, digits: int, significant: int) -> PrintedCount:
    """Return the bounds of a count with this number of significant digits."""
    if digits <= _FEW_DIGITS:
        return PrintedCount(count, count)
    slack = count >> _FLOAT_BITS
    if significant <= _FEW_DIGITS:
        slack = max(slack, 10 ** (digits - max(significant, 6)) // 2)
    return PrintedCount(max(count - slack, 0), min(count + slack, MOST))


def _of_text(text: str) -> PrintedCount | None:
    if match := _HEX.match(text):
        return _exact(int(match[1], 16))
    match = _NUMBER.match(text)
    if match is None:
        return None
    digits, exponent = match[1].strip(), match[2]
    if exponent is not None:
        return _of_scientific(digits, int(exponent))
    halves = _HIGH_AND_LOW.fullmatch(digits)
    count = _of_halves(halves[1], halves[2]) if halves else _of_groups(digits)
    return None if count is None else _exact(count)


def _of_halves(high: str, low: str) -> int | None:
    # "12 345" may be the high and the low 64 bits, or 12,345, so it is rejected.
    if int(low) >> 64 or (int(high) and len(low) == _GROUP):
        return None
    return (int(high) << 64) + int(low)


def _of_groups(digits: str) -> int | None:
    if _GROUPS.fullmatch(digits) or _INDIAN_GROUPS.fullmatch(digits):
        return int("".join(digit for digit in digits if digit.isdecimal()))
    whole_part, _, rest = digits.partition(".")
    is_whole = whole_part.isascii() and whole_part.isdecimal() and rest.strip("0") == ""
    return int(whole_part) if is_whole else None


def _of_scientific(digits: str, exponent: int) -> PrintedCount | None:
    try:
        value = Decimal(digits).scaleb(exponent)
    except ArithmeticError:
        return None
    if value != value.to_integral_value() or value > MOST:
        return None
    significant = len(digits.replace(".", "").lstrip("0"))
    return _rounded(int(value), len(str(int(value))), significant)


def _exact(count: int) -> PrintedCount | None:
    return PrintedCount(count, count) if count <= MOST else None


_SIZE = re.compile(r"[\[(]\s*([\d.,]+)\s*([kKMGTPE]?)(i?)B\s*[\])]")
_POWERS = " KMGTPE"


def size_beside(value: Any) -> Fraction | None:
    """Return the bytes that a tool prints in brackets after a count, or None.

    >>> size_beside("1,902,011,793 [973 TB]")
    Fraction(973000000000000, 1)
    """
    match = _SIZE.search(value[:200]) if isinstance(value, str) else None
    if match is None:
        return None
    number = match[1]
    if number.count(",") == 1 and "." not in number:
        number = number.replace(",", ".")
    try:
        size = Fraction(number.replace(",", ""))
    except ValueError:
        return None
    power = _POWERS.index(match[2].upper() or " ")
    return size * Fraction(1024 if match[3] else 1000) ** int(power)
