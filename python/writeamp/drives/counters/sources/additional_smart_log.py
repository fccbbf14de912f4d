"""Additional SMART log (0xCA) as Intel's plugin prints it, and those that took its names.

Intel and Solidigm count 32 MiB; DapuStor prints "Intel Smart log" too, SSSTC, ScaleFlux, Shannon,
YMTC and Memblaze the same keys, of other or unknown units. So the ratio is all that a log without
a model gives; `vendor_units` finds the unit from the model or the SMART log in its folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from writeamp.drives.counters.amounts import MIB32
from writeamp.drives.counters.document import Document, whole, within
from writeamp.drives.counters.facts import Erases, Facts
from writeamp.drives.counters.printed import Entry, entries
from writeamp.drives.counters.printed_log import PrintedLog, printed_facts

_MEAN = re.compile(r"min:\s*(\d+),\s*max:\s*(\d+),\s*avg:\s*(\d+)")
_NORMALIZED = re.compile(r"(?:\d+\s+)?(\d{1,3})\s*%")


def read_printed(log: PrintedLog, document: Document) -> Iterator[Facts]:
    """Yield the facts of a printed log."""
    found = dict(entries(document))
    for key in ("host_bytes_written", "nand_bytes_written"):
        if key in found:
            found[key] = tuple(_with_normalized(one) for one in found[key])
    facts = printed_facts(log, found)
    is_solidigm = "solidigm_smart_log" in found
    yield replace(
        facts,
        counters=tuple(replace(one, unit=MIB32) if is_solidigm else one for one in facts.counters),
        compresses="ScaleFlux" in document.text[:4096],
        erases=tuple(_erases(log, found)),
    )


def _with_normalized(entry: Entry) -> Entry:
    match = _NORMALIZED.match(entry.value) if isinstance(entry.value, str) else None
    return entry._replace(normalized=int(match[1])) if match else entry


def _erases(log: PrintedLog, found: dict[str, tuple[Entry, ...]]) -> Iterator[Erases]:
    for key in ("wear_leveling", "wear_leveling_count"):
        for entry in found.get(key, ())[:1]:
            match = _MEAN.search(entry.value) if isinstance(entry.value, str) else None
            least, most, mean = (
                (whole(one) for one in match.groups())
                if match
                else (whole(within(entry.value, one)) for one in ("min", "max", "avg"))
            )
            if mean and most and least is not None and least <= mean <= most:
                yield Erases(mean, mean + 1, most, f"{log.label}, wear leveling")
