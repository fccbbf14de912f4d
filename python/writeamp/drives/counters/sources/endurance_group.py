"""Endurance group log (0x09), as `nvme endurance-log` prints it in JSON or text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from writeamp.drives.counters.amounts import UNITS, Counter, Side
from writeamp.drives.counters.document import Document, number, whole, wide
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.printed import count_of, entries
from writeamp.drives.counters.printed_log import PrintedLog
from writeamp.drives.counters.source import Source

_NAME = "nvme endurance-log -o json"
_KEYS: tuple[tuple[Side, str], ...] = (
    ("host", "data_units_written"),
    ("flash", "media_units_written"),
)


def _matches(document: Document) -> bool:
    found = document.json
    return isinstance(found, dict) and {key for _, key in _KEYS} <= found.keys()


def _facts(log: Mapping[str, Any], source: str) -> Facts:
    """Return the facts of an endurance group log by the keys of nvme-cli's JSON."""
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
    return Facts(
        source=source,
        counters=counters,
        notes=notes,
        percentage_used=number(log.get("percent_used", log.get("percentage_used"))),
        used_label="endurance group log, percentage used",
    )


def _read(document: Document) -> Iterator[Facts]:
    yield _facts(document.json, _NAME)


def read_printed(log: PrintedLog, document: Document) -> Iterator[Facts]:
    """Yield the facts of a printed log."""
    values = {}
    for key, said in entries(document).items():
        counts = dict.fromkeys(count_of(one.value) for one in said)
        one = next(iter(counts))
        values[key] = one.low if len(counts) == 1 and one is not None else None
    yield _facts(values, log.name)


SOURCE = Source(_NAME, _matches, _read, specificity=62)
