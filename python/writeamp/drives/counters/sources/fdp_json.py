"""FDP statistics (log 0x22), as `nvme fdp stats -o json` prints them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from writeamp.drives.counters.amounts import BYTE, Counter, Side
from writeamp.drives.counters.document import Document, whole, wide
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.source import Source
from writeamp.vssd.log_pages import fdp

_NAME = "nvme fdp stats -o json"
_KEYS: tuple[tuple[Side, str, str], ...] = (
    ("host", fdp.HOST_WRITTEN, "FDP statistics, host bytes"),
    ("flash", fdp.MEDIA_WRITTEN, "FDP statistics, media bytes"),
)


def _matches(document: Document) -> bool:
    found = document.json
    return isinstance(found, dict) and {fdp.HOST_WRITTEN, fdp.MEDIA_WRITTEN} <= found.keys()


def fdp_facts(log: Mapping[str, Any], source: str) -> Facts:
    """Return the facts of FDP statistics by the keys of nvme-cli's JSON."""
    group = whole(log.get("endgid", log.get("endurance_group_id")))
    scope = f"endurance group {group or 1}"
    counters, notes = [], []
    for side, key, label in _KEYS:
        count = wide(log[key])
        if count is None:
            notes.append(f"{label}: {str(log[key])[:60]!r} is no count")
        elif count:
            # Toggling FDP clears them, so that they are of the time since.
            counters.append(
                Counter(side, count, BYTE, label, "FDP statistics", rounding="exact", scope=scope)
            )
    if not counters and not notes:
        notes.append("FDP statistics are 0: FDP is off, or nothing was written since it is on")
    return Facts(source=source, counters=tuple(counters), notes=tuple(notes))


def _read(document: Document) -> Iterator[Facts]:
    yield fdp_facts(document.json, _NAME)


SOURCE = Source(_NAME, _matches, _read)
