"""Solidigm's workload tracker, whose counts are of intervals and wrap."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.drives.counters.document import Document
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.printed import entries
from writeamp.drives.counters.source import Source

_NAME = "nvme solidigm workload-tracker"
_KEYS = frozenset({"host_writes", "nand_writes"})


def _matches(document: Document) -> bool:
    # Lists of entries stand below a key, tables have the names side by side in one line.
    if document.json is not None or len(document.content) < 1 << 20:
        text = document.text[: 1 << 16]
        is_table = any("hostWrites" in line and "nandWrites" in line for line in text.split("\n"))
        return is_table or entries(document).keys() >= _KEYS
    return False


def _read(document: Document) -> Iterator[Facts]:
    note = (
        "the workload tracker counts sectors of each interval in 32 bits, which wrap: it says "
        "nothing of a life"
    )
    yield Facts(source=_NAME, notes=(note,))


SOURCE = Source(_NAME, _matches, _read)
