"""Endurance group log (0x09), as `nvme endurance-log -o json` prints it."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.measure.counters.amounts import UNITS, Counter, Side
from writeamp.measure.counters.document import Document, number, whole, wide
from writeamp.measure.counters.facts import Facts
from writeamp.measure.counters.source import Source

_NAME = "nvme endurance-log -o json"
_KEYS: tuple[tuple[Side, str], ...] = (
    ("host", "data_units_written"),
    ("flash", "media_units_written"),
)


def _matches(document: Document) -> bool:
    found = document.json
    return isinstance(found, dict) and {key for _, key in _KEYS} <= found.keys()


def _read(document: Document) -> Iterator[Facts]:
    log = document.json
    group = whole(log.get("endgid", log.get("endurance_group_id"))) or 1
    counters = tuple(
        # The NVMe base specification counts billions of bytes, rounded up.
        Counter(
            side,
            count,
            UNITS["GB"],
            f"endurance group log, {key.replace('_', ' ')}",
            "endurance group log",
            rounding="up",
            scope=f"endurance group {group}",
        )
        for side, key in _KEYS
        if (count := wide(log[key]))
    )
    notes = () if len(counters) == len(_KEYS) else ("endurance group log: 0 means not supported",)
    yield Facts(
        source=_NAME,
        counters=counters,
        notes=notes,
        percentage_used=number(log.get("percent_used", log.get("percentage_used"))),
        used_label="endurance group log, percentage used",
    )


SOURCE = Source(_NAME, _matches, _read)
