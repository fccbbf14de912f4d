"""Seagate's extended SMART log (0xC4): "bytes written", which count 512,000 bytes.

A drive's erase counts say so (XM1440), and CacheLib multiplies so; the ratio needs no unit.
LiteOn prints the same name and means bytes, in decimal.
"""

from __future__ import annotations

from typing import Any

from writeamp.drives.counters.amounts import Side
from writeamp.drives.counters.document import Document
from writeamp.drives.counters.printed import Count, count_of, entries
from writeamp.drives.counters.printed_log import PrintedLog, Written, source_of

_UNIT = "512,000 B"


def _hexadecimal(value: Any) -> Count | None:
    is_hexadecimal = isinstance(value, str) and value.strip().lower().startswith("0x")
    return count_of(value) if is_hexadecimal else None


def _halves(side: Side, name: str) -> Written:
    key = f"of_physical_{name}_bytes_written"
    return Written(side, (f"lsb_{key}",), _UNIT, high_keys=(f"msb_{key}",))


def _whole(side: Side, name: str) -> Written:
    return Written(side, (f"physical_{name}_bytes_written",), _UNIT, read=_hexadecimal)


_LOG = source_of(
    PrintedLog(
        "nvme seagate vs-smart-add-log",
        "Seagate log 0xC4",
        (
            _halves("host", "host"),
            _halves("flash", "nand"),
            _whole("host", "host"),
            _whole("flash", "nand"),
        ),
    )
)


def _matches(document: Document) -> bool:
    found = entries(document)
    is_split = any(key.startswith(("lsb_of_physical", "msb_of_physical")) for key in found)
    said = found.get("physical_nand_bytes_written", ())
    return _LOG.matches(document) and (
        is_split or any(_hexadecimal(one.value) is not None for one in said)
    )


SOURCE = _LOG._replace(matches=_matches)
