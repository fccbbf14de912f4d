"""FDP statistics (log 0x22), as `nvme fdp stats` prints them in JSON or text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from writeamp.drives.counters.amounts import BYTE, Counter, Side
from writeamp.drives.counters.document import Document, whole, wide
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.printed import count_of, entries
from writeamp.drives.counters.printed_log import PrintedLog
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


def _facts(log: Mapping[str, Any], source: str) -> Facts:
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
    yield _facts(document.json, _NAME)


def read_printed(log: PrintedLog, document: Document) -> Iterator[Facts]:
    """Yield the facts of a printed log."""
    found = entries(document)
    values: dict[str, Any] = {}
    for rule in log.written:
        name = fdp.HOST_WRITTEN if rule.side == "host" else fdp.MEDIA_WRITTEN
        for key in rule.keys:
            if key not in found:
                continue
            counts = dict.fromkeys(count_of(one.value) for one in found[key])
            one = next(iter(counts))
            said = " and ".join(str(one.value) for one in found[key])
            values[name] = said if len(counts) > 1 or one is None else one.low
    group = found.get("endgid", found.get("endurance_group_id", ()))
    if len(group) == 1:
        values["endgid"] = group[0].value
    yield _facts(values, log.name)


SOURCE = Source(_NAME, _matches, _read, specificity=64)
