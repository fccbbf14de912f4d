"""Header lines that name their columns: the `columns:` spec that would read the file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from writeamp.traces.source import Head

# Words of each field, in lower case and without what stands around letters; and its usual unit.
_WORDS = {
    "time": ("time", "timestamp", "ts", "at", "arrival", "datetime"),
    "device": ("device", "deviceid", "dev", "disk", "disknumber", "volume", "volumeid", "lun",
               "asu"),
    "offset": ("offset", "lba", "lbn", "address", "addr", "sector", "block", "start"),
    "length": ("length", "len", "size", "bytes", "sectors", "nblks", "blocks", "nbytes"),
    "op": ("op", "opcode", "type", "iotype", "operation", "rw", "cmd", "command", "request"),
}  # fmt: skip
_IN_SECTORS = {"lba", "lbn", "sector", "sectors", "nblks", "block", "blocks"}
_TIME_UNITS = ("ns", "us", "ms", "s")
_NEEDED = ("offset", "length", "op")
_SEPARATORS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "pipe", " ": "space"}
_MEANINGS = {
    "read": {"r", "read", "rd", "28", "0x28"},
    "write": {"w", "write", "wr", "2a", "0x2a"},
    "trim": {"d", "trim", "discard", "unmap"},
    "flush": {"f", "flush", "sync"},
}
_MOST_WORDS = 8


def spec_of(head: Head) -> str | None:
    """Return the spec that a header's names suggest; None if the first line is no such header.

    Names do not prove a unit, nor digits an operation: whoever is told checks them.
    """
    if not head.lines:
        return None
    for separator, word in _SEPARATORS.items():
        names = _split(head.lines[0], separator)
        places = _places(names)
        if places is None:
            continue
        rows = [_split(line, separator) for line in head.lines[1:]]
        parts = [f"{field}={_value(field, names[at], at, rows)}" for field, at in places.items()]
        if separator != ",":
            parts.append(f"separator={word}")
        return "columns:" + ",".join(parts)
    return None


def _split(line: str, separator: str) -> list[str]:
    return line.split() if separator == " " else [one.strip() for one in line.split(separator)]


def _places(names: Sequence[str]) -> dict[str, int] | None:
    """Return the position of each field by the names of the columns; None if one is missing."""
    found: dict[str, int] = {}
    for at, name in enumerate(names):
        if not re.search("[A-Za-z]", name) or "=" in name or ":" in name:
            return None
        word = _bare(name)
        for field, words in _WORDS.items():
            if word in words and field not in found:
                found[field] = at
    if any(field not in found for field in _NEEDED):
        return None
    return {field: found[field] for field in _WORDS if field in found}


def _bare(name: str) -> str:
    """Return a name without its unit and signs: `Timestamp_us` and `time (us)` are times."""
    word = re.sub(r"[^a-z]", " ", name.lower()).split()
    kept = [one for one in word if one not in _TIME_UNITS and one not in ("in",)]
    return "".join(kept[:1] if kept[:1] and kept[0] in ("time", "timestamp", "ts") else kept)


def _value(field: str, name: str, at: int, rows: Sequence[Sequence[str]]) -> str:
    if field == "op":
        return f"{name}:{_operations(at, rows)}"
    if field == "device":
        return name
    if field == "time":
        units = [one for one in re.findall("[a-z]+", name.lower()) if one in _TIME_UNITS]
        return f"{name}:{units[0] if units else 's'}"
    return f"{name}:{'sectors' if _bare(name) in _IN_SECTORS else 'bytes'}"


def _operations(at: int, rows: Sequence[Sequence[str]]) -> str:
    """Return the words of the column with what they seem to mean; digits are left to who reads."""
    words = list(dict.fromkeys(row[at] for row in rows if len(row) > at and row[at]))[:_MOST_WORDS]
    meanings = []
    for word in words:
        for meaning, spellings in _MEANINGS.items():
            if word.lower() in spellings:
                meanings.append(f"{word}={meaning}")
    if words and len(meanings) == len(words):
        return "/".join(meanings)
    return "0=read/1=write"
