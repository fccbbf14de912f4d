"""Additional SMART log (0xCA) as Intel's plugin prints it, and those that took its names.

Intel and Solidigm count 32 MiB; DapuStor prints "Intel Smart log" too, SSSTC, ScaleFlux, Shannon,
YMTC and Memblaze the same keys, of other or unknown units. So the ratio is all that a log without
a model gives; `vendor_units` finds the unit from the model or the SMART log in its folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from writeamp.drives.counters.amounts import MIB32, Side
from writeamp.drives.counters.document import Document, whole, within
from writeamp.drives.counters.facts import Erases, Facts
from writeamp.drives.counters.printed import Count, Entry, count_of, entries
from writeamp.drives.counters.printed_log import PrintedLog, Written, printed_facts
from writeamp.drives.counters.source import Source
from writeamp.drives.counters.vendor_units import NAND_AND_HOST_BYTES

_NAME = "nvme intel smart-log-add"
_LABEL = "additional SMART log 0xCA"
_LAST = re.compile(r"(\d[\d,]*)\s*$")
_MEAN = re.compile(r"min:\s*(\d+),\s*max:\s*(\d+),\s*avg:\s*(\d+)")
_NORMALIZED = re.compile(r"(?:\d+\s+)?(\d{1,3})\s*%")
_SIDES: tuple[tuple[Side, str], ...] = (
    ("host", "host_bytes_written"),
    ("flash", "nand_bytes_written"),
)
# What a counter of 16 or 32 bits holds that was reset.
_RESET = frozenset((1 << bits) - 1 for bits in (16, 32))


def _last(value: Any) -> Count | None:
    """Return the count behind "100%       sectors: "."""
    if isinstance(value, str) and "%" in value:
        match = _LAST.search(value)
        return count_of(match[1]) if match else None
    return count_of(value)


def _written(suffix: str) -> tuple[Written, ...]:
    return tuple(
        Written(side, (key + suffix,), rounding="down", shared=NAND_AND_HOST_BYTES,
                read=_last)
        for side, key in _SIDES
    )  # fmt: skip


_LOGS = tuple(
    PrintedLog(_NAME, _LABEL, _written(suffix), unsupported=_RESET) for suffix in ("", "_raw")
)


def _log(document: Document) -> PrintedLog | None:
    found = entries(document)
    return next((log for log in _LOGS if any(one.keys[0] in found for one in log.written)), None)


def _matches(document: Document) -> bool:
    return _log(document) is not None


def _read(document: Document) -> Iterator[Facts]:
    log = _log(document)
    assert log is not None
    found = dict(entries(document))
    for _, key in _SIDES:
        found[key] = tuple(_with_normalized(one) for one in found.get(key, ()))
    facts = printed_facts(log, {key: said for key, said in found.items() if said})
    head = document.text[:4096]
    is_solidigm = "solidigm_smart_log" in found
    yield replace(
        facts,
        counters=tuple(replace(one, unit=MIB32) if is_solidigm else one for one in facts.counters),
        compresses="ScaleFlux" in head,
        erases=tuple(_erases(found)),
    )


def _with_normalized(entry: Entry) -> Entry:
    match = _NORMALIZED.match(entry.value) if isinstance(entry.value, str) else None
    return entry._replace(normalized=int(match[1])) if match else entry


def _erases(found: dict[str, tuple[Entry, ...]]) -> Iterator[Erases]:
    for key in ("wear_leveling", "wear_leveling_count"):
        for entry in found.get(key, ())[:1]:
            match = _MEAN.search(entry.value) if isinstance(entry.value, str) else None
            least, most, mean = (
                (whole(one) for one in match.groups())
                if match
                else (whole(within(entry.value, one)) for one in ("min", "max", "avg"))
            )
            if mean and most and least is not None and least <= mean <= most:
                yield Erases(mean, mean + 1, most, f"{_LABEL}, wear leveling")


SOURCE = Source(_NAME, _matches, _read, specificity=30)
