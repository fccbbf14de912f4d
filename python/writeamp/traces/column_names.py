"""Fields and units that column names indicate."""

from __future__ import annotations

import re

from writeamp.traces.trace import SECTOR_BYTES

# Words in column names that indicate a field. Names are split into words: `startLba_bytes` has
# three.
_FIELDS = {
    "time": {"time", "timestamp", "ts", "at", "arrival", "datetime", "date", "clock", "elapsed"},
    "device": {"device", "deviceid", "dev", "devid", "disk", "diskid", "disknumber", "drive",
               "volume", "volumeid", "vol", "lun", "asu", "major"},
    "offset": {"offset", "lba", "slba", "lbn", "lsn", "address", "addr", "start", "pos",
               "position", "blkno", "ofs", "off", "lpn", "lpa"},
    "length": {"length", "len", "size", "sz", "iosize", "nbytes", "bytes", "sectors", "blocks",
               "pages", "npages", "nsectors", "nsect", "nblocks"},
    "op": {"op", "opcode", "type", "iotype", "optype", "operation", "rw", "rwbs", "rd", "cmd",
           "command", "request", "action", "dir", "direction", "ddir", "mode", "kind"},
}  # fmt: skip
_COUNTS = {"count", "nr", "num", "n", "nblks", "nlb"}
# Words that indicate an offset, unless the name also has a word of a length: `sector` is an offset,
# `sector_count` a length.
_PLACES = {"sector", "block", "blk", "page"}
# Words that indicate other fields: times that are not arrival times, such as the end of a request,
# and other numbers.
_OTHERS = {
    "latency", "lat", "response", "resp", "duration", "delay", "service", "complete", "completion",
    "end", "last", "wait", "queue", "pid", "tid", "uid", "gid", "cpu", "index", "idx", "seq", "id",
    "priority", "prio", "error", "status",
}  # fmt: skip
_TIME_UNITS = {
    "ns": {"ns", "nsec", "nsecs", "nanoseconds"},
    "us": {"us", "usec", "usecs", "microseconds", "micros"},
    "ms": {"ms", "msec", "msecs", "milliseconds", "millis"},
    "s": {"s", "sec", "secs", "seconds"},
}
_BYTE_UNITS = {
    "bytes": {"bytes", "byte", "nbytes", "b"},
    "1KiB": {"kb", "kib", "k"},
    "sectors": {"sectors", "sector", "nsectors", "nsect", "lba", "slba", "lbn", "lsn", "nblks",
                "nlb", "blkno", "blocks", "nblocks", "block", "blk"},
    "4KiB": {"pages", "page", "npages", "lpn", "lpa"},
}  # fmt: skip
UNIT_BYTES = {"bytes": 1, "sectors": SECTOR_BYTES, "1KiB": 1024, "4KiB": 4096}
# The first pattern matches units of 4 KiB, as in `lba_4k`. The second one matches KiB, so that its
# B is not taken for bytes.
_IN_4KIB = re.compile(r"(?<!\d)4[ _-]?k(i?b)?(?![a-z])", re.IGNORECASE)
_KIB = re.compile(r"[kK]i?B(?![a-z])")


def field_of(name: str) -> str:
    """Return the field of a request that a column name indicates, "other", or "" if unclear."""
    words = _words(name)
    if words & _OTHERS and not words & _FIELDS["device"]:
        return "other"
    if words & _FIELDS["time"] or ({"start", "t"} & words and time_unit_of(name)):
        return "time"
    if words & _COUNTS:
        return "length"
    for field in ("offset", "length"):
        if words & _FIELDS[field]:
            return field
    if words & _PLACES:
        return "offset"
    return next((field for field in ("device", "op") if words & _FIELDS[field]), "")


def time_unit_of(name: str) -> str:
    """Return the unit of time that a column name contains, or ""."""
    return _first(_TIME_UNITS, _words(name))


def byte_unit_of(name: str) -> str:
    """Return the unit of addresses or sizes in a column name, a key of `UNIT_BYTES`, or "".

    `block_size` is the size of a request; `block_count` counts blocks.
    """
    if is_in_4kib(name):
        return "4KiB"
    words = _words(name)
    if words & {"size", "length", "len"}:
        words = words - _PLACES
    return _first(_BYTE_UNITS, words)


def is_in_4kib(name: str) -> bool:
    """Return whether a name contains a unit of 4 KiB, such as `lba_4k`."""
    return _IN_4KIB.search(name) is not None


def flag_of(name: str) -> str:
    """Return "write" for a column name such as `is_write`, "read" for `is_read`, otherwise ""."""
    flags = [flag for flag in ("read", "write") if flag in _words(name)]
    return flags[0] if len(flags) == 1 and field_of(name) in ("", "op") else ""


def _first(units: dict[str, set[str]], words: set[str]) -> str:
    return next((unit for unit, spellings in units.items() if words & spellings), "")


def _words(name: str) -> set[str]:
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", _KIB.sub(" kib", name))
    return set(re.findall("[a-z]+", apart.lower()))
