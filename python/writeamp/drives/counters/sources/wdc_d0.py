"""WDC's log 0xD0, whose counters of the flash and of the host are in different units."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.drives.counters.document import Document
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.printed import entries
from writeamp.drives.counters.source import Source

_NAME = "nvme wdc vs-smart-add-log, log 0xD0"
_KEYS = frozenset({"lifetime_nand_writes", "lifetime_user_writes"})


def _matches(document: Document) -> bool:
    return bool(_KEYS & entries(document).keys())


def _read(document: Document) -> Iterator[Facts]:
    notes = [
        "log 0xD0: lifetime NAND writes count pages and lifetime user writes another unit, so that "
        "they are not divided"
    ]
    reports = any("wrt_amp" in key or "write_amplification" in key for key in entries(document))
    if reports:
        notes.append("the scale of its write amplification factor is not published")
    yield Facts(source=_NAME, notes=tuple(notes), reports_wa=reports)


SOURCE = Source(_NAME, _matches, _read)
