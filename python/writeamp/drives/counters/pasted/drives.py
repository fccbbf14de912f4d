"""Assignment of the logs in one file to drives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from writeamp.drives.counters.amounts import DATA_UNIT
from writeamp.drives.counters.facts import CounterFacts

# Largest relative difference of a counter that two tools read one after the other. A larger one
# means that the logs are of two drives or two moments.
_MOST_APART = 0.01
_FEW_UNITS = 2000
_FEW_HOURS = 1.0
_ONE_MOMENT_S = 3600.0
_NO_IDENTITY = (
    "the file has logs of several drives or moments, and this log does not name its drive: pass "
    "one file per drive"
)


class LogFacts(NamedTuple):
    """Facts of a log, with the device and machine that its command names, or ""."""

    facts: CounterFacts
    device: str = ""
    machine: str = ""


def by_drive(parts: Sequence[LogFacts]) -> list[list[CounterFacts]]:
    """Return a list of facts for each drive and moment, in the order of their first logs.

    Logs of different sources that do not contradict each other are joined if they name the same
    device or serial number. If all logs of the file fit together in this way, they are joined
    without names, too. If some logs have no name and the same sequence of logs repeats, each
    repetition is one drive at one moment. All other logs stay separate.
    """
    groups: list[list[LogFacts]] = []
    latest: dict[tuple[str, ...], list[LogFacts]] = {}
    for log in parts:
        names = _names(log)
        group = next((latest[name] for name in names if name in latest), None)
        if group is None or not _may_join(group, log):
            group = []
            groups.append(group)
        group.append(log)
        latest |= dict.fromkeys(names, group)
    if len(groups) > 1 and _are_one(groups):
        groups = [[log for group in groups for log in group]]
    elif not all(map(_names, parts)):
        groups = _rounds(parts) or groups
    return [[_noted(log) if len(groups) > 1 else log.facts for log in group] for group in groups]


def _names(log: LogFacts) -> list[tuple[str, ...]]:
    """Return the identities that logs of one drive have in common."""
    names: list[tuple[str, ...]] = []
    if log.facts.serial:
        names.append(("serial", log.facts.serial))
    if log.device:
        names.append(("device", log.machine, log.device))
    return names


def _may_join(group: Sequence[LogFacts], log: LogFacts) -> bool:
    return all(
        member.facts.source != log.facts.source and not _contradict(member, log) for member in group
    )


def _are_one(groups: Sequence[Sequence[LogFacts]]) -> bool:
    """Return whether all groups of logs may be of one drive at one moment."""
    parts = [log for group in groups for log in group]
    return all(_may_join(parts[:place], log) for place, log in enumerate(parts))


def _rounds(parts: Sequence[LogFacts]) -> list[list[LogFacts]]:
    """Return the logs of each repetition, if the same sequence of logs repeats; otherwise empty."""
    sources = [log.facts.source for log in parts]
    length = len(set(sources))
    if (
        length < 2
        or len(parts) < 2 * length
        or sources != sources[:length] * (len(parts) // length)
    ):
        return []
    rounds = [list(parts[at : at + length]) for at in range(0, len(parts), length)]
    return rounds if all(_are_one([logs]) for logs in rounds) else []


def _contradict(log: LogFacts, other: LogFacts) -> bool:
    first, second = log.facts, other.facts
    names = [
        (first.model, second.model),
        (first.serial, second.serial),
        (log.machine, other.machine),
        (_kind(first), _kind(second)),
    ]
    if not (first.serial and second.serial):
        names.append((log.device, other.device))
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
    """Return the command set of a drive, or "" if unknown."""
    if facts.raws:
        return "ATA"
    if facts.used_label.startswith("SCSI"):
        return "SCSI"
    return "" if facts.source.startswith("smartctl") and not _units(facts) else "NVMe"


def _units(facts: CounterFacts) -> int | None:
    return next(
        (
            counter.count
            for counter in facts.counters
            if counter.unit is DATA_UNIT and counter.side == "host"
        ),
        None,
    )


def _apart(first: float | None, second: float | None, most: float) -> bool:
    return first is not None and second is not None and abs(first - second) > most


def _noted(log: LogFacts) -> CounterFacts:
    facts = log.facts
    if facts.model or facts.serial or log.device:
        return facts
    return replace(facts, notes=(_NO_IDENTITY, *facts.notes))
