"""Reasons for a missing WA in a fleet: drives with the same reason are one group."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from writeamp.drives.counters.answer import NO_FLASH_COUNTER, NO_HOST_COUNTER
from writeamp.drives.counters.facts import ROTATES
from writeamp.drives.counters.names import short_file
from writeamp.drives.counters.result import DriveCounters
from writeamp.results.numbers import kind_of

# Number of models of a group that are named.
_EXAMPLES = 2
_ESTIMATED, _LOWER_BOUND = "estimated", "lower-bound"
_OF_SMARTCTL = f"{NO_FLASH_COUNTER} smartctl"


@dataclass(frozen=True)
class MissingWa:
    """Drives whose WA is unknown for the same reason.

    Attributes:
        group: noun phrase for these drives, such as "hard disks"; None for a rare reason.
        reason: the reason, or the common part of different reasons.
        drives: number of drives.
        examples: models of some of the drives; files of those without a model.
    """

    group: str | None
    reason: str
    drives: int
    examples: tuple[str, ...]

    @property
    def words(self) -> str:
        """The group, or the first clause of the reason."""
        return self.group or _clause(self.reason)


def missing_wa(answers: Iterable[DriveCounters]) -> list[MissingWa]:
    """Return the reasons of the drives without WA, the most frequent first."""
    by_reason: dict[str, list[DriveCounters]] = {}
    for answer in answers:
        if answer.wa is None:
            by_reason.setdefault(group_of(answer) or _key(answer), []).append(answer)
    reasons = [
        MissingWa(
            group_of(drives[0]),
            _shared_reason(drives),
            len(drives),
            tuple(dict.fromkeys(map(_example, drives)))[:_EXAMPLES],
        )
        for drives in by_reason.values()
    ]
    return sorted(reasons, key=lambda missing: (-missing.drives, missing.reason))


def _example(answer: DriveCounters) -> str:
    return answer.facts.model or short_file(answer.name)


def group_of(answer: DriveCounters) -> str | None:
    """Return a noun phrase for the drives whose WA is missing for this frequent reason, or None."""
    if answer.kind == _ESTIMATED:
        return "drives with bounds from erases only"
    if answer.kind == _LOWER_BOUND:
        return "drives with a lower bound only"
    if answer.reason.startswith(ROTATES):
        return "hard disks"
    if answer.reason.startswith(_OF_SMARTCTL):
        return "NVMe drives whose smartctl output has no flash counter"
    if answer.reason.startswith(NO_HOST_COUNTER):
        return "drives whose host counter is missing"
    return None


def _key(answer: DriveCounters) -> str:
    return kind_of(_clause(_masked(answer)))


def _shared_reason(drives: Sequence[DriveCounters]) -> str:
    """Return the reason of all these drives, or the common part of their reasons."""
    if len({drive.reason for drive in drives}) == 1:
        return drives[0].reason
    return _clause(_masked(drives[0]))


def _masked(answer: DriveCounters) -> str:
    """Return the reason without the names of the drive's model and family."""
    reason = answer.reason
    for name in (answer.facts.model, answer.facts.family):
        if name:
            reason = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "…", reason)
    return reason


def _clause(reason: str) -> str:
    return re.split(r"; |\. ", reason, maxsplit=1)[0].strip()
