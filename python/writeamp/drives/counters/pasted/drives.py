"""Assignment of the logs in one file to drives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from writeamp.drives.counters.amounts import DATA_UNIT
from writeamp.drives.counters.facts import CounterFacts

# Two tools that print a counter one after the other differ by what was written in between.
_MOST_APART = 0.01
_FEW_UNITS = 2000
_FEW_HOURS = 1.0
_ONE_MOMENT_S = 3600.0
_NO_IDENTITY = (
    "the file has logs of several drives or moments, and this log names none: give one file for "
    "each drive"
)


class LogFacts(NamedTuple):
    """Facts of a log, and the device and the machine that its command names, or ""."""

    facts: CounterFacts
    device: str = ""
    machine: str = ""


def by_drive(parts: Sequence[LogFacts]) -> list[list[CounterFacts]]:
    """Return the facts of each drive at each moment, in the order of their first logs.

    Logs belong together if they name one device or one serial number, if nothing in the file
    says that there are several drives, or if the same logs come in the same order again and again.
    All others stay apart.
    """
    groups: list[list[LogFacts]] = []
    latest: dict[tuple[str, ...], list[LogFacts]] = {}
    for part in parts:
        names = _names(part)
        group = next((latest[name] for name in names if name in latest), None)
        if group is None or not _may_join(group, part):
            group = []
            groups.append(group)
        group.append(part)
        latest |= dict.fromkeys(names, group)
    if len(groups) > 1 and _are_one(groups):
        groups = [[part for group in groups for part in group]]
    elif not all(map(_names, parts)):
        groups = _rounds(parts) or groups
    return [[_noted(part) if len(groups) > 1 else part.facts for part in group] for group in groups]


def _names(part: LogFacts) -> list[tuple[str, ...]]:
    """Return the identities that other logs of the same drive share."""
    names: list[tuple[str, ...]] = []
    if part.facts.serial:
        names.append(("serial", part.facts.serial))
    if part.device:
        names.append(("device", part.machine, part.device))
    return names


def _may_join(group: Sequence[LogFacts], part: LogFacts) -> bool:
    return all(
        one.facts.source != part.facts.source and not _contradict(one, part) for one in group
    )


def _are_one(groups: Sequence[Sequence[LogFacts]]) -> bool:
    """Return whether all groups may be of one drive at one moment."""
    parts = [part for group in groups for part in group]
    return all(_may_join(parts[:place], part) for place, part in enumerate(parts))


def _rounds(parts: Sequence[LogFacts]) -> list[list[LogFacts]]:
    """Return the rounds of a file that has the same logs in the same order, twice or more often."""
    sources = [one.facts.source for one in parts]
    length = len(set(sources))
    if (
        length < 2
        or len(parts) < 2 * length
        or sources != sources[:length] * (len(parts) // length)
    ):
        return []
    rounds = [list(parts[at : at + length]) for at in range(0, len(parts), length)]
    return rounds if all(_are_one([one]) for one in rounds) else []


def _contradict(one: LogFacts, other: LogFacts) -> bool:
    first, second = one.facts, other.facts
    names = [
        (first.model, second.model),
        (first.serial, second.serial),
        (one.machine, other.machine),
        (_kind(first), _kind(second)),
    ]
    if not (first.serial and second.serial):
        names.append((one.device, other.device))
    if any(left and right and left != right for left, right in names):
        return True
    return (
        _apart(first.power_on_hours, second.power_on_hours, _FEW_HOURS)
        or _apart(first.taken_at, second.taken_at, _ONE_MOMENT_S)
        or _apart(first.percentage_used, second.percentage_used, 1)
        or _apart(
            _units(first), _units(second), max(_FEW_UNITS, (_units(first) or 0) * _MOST_APART)
        )
    )


def _kind(facts: CounterFacts) -> str:
    """Return the command set of a drive; "" if its facts do not show it."""
    if facts.raws:
        return "ATA"
    if facts.used_label.startswith("SCSI"):
        return "SCSI"
    return "" if facts.source.startswith("smartctl") and not _units(facts) else "NVMe"


def _units(facts: CounterFacts) -> int | None:
    return next(
        (one.count for one in facts.counters if one.unit is DATA_UNIT and one.side == "host"), None
    )


def _apart(first: float | None, second: float | None, most: float) -> bool:
    return first is not None and second is not None and abs(first - second) > most


def _noted(part: LogFacts) -> CounterFacts:
    facts = part.facts
    if facts.model or facts.serial or part.device:
        return facts
    return replace(facts, notes=(_NO_IDENTITY, *facts.notes))
