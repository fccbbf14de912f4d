"""Other block managers, of those that need no hints."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.answers.change import Change, Kind
from writeamp.answers.question import Question
from writeamp.devices.policy import Policy
from writeamp.errors import WriteampError
from writeamp.registry.specs import Spec

_MANAGERS = ("sepgc", "dac", "sepbit")


def _changes(question: Question) -> Iterator[Change]:
    case, now = question.windowed, question.policy
    for name in _MANAGERS:
        if Spec.of("managers", now.manager).name == name:
            continue
        try:
            policy = Policy.of(name, now.victims, now.wear_leveling)
            policy.drive(case.drive)
        except WriteampError:  # it does not go with such victims, or not on such a drive
            continue
        yield Change(
            f"block manager {name} instead of {now.manager}",
            "firmware with several open blocks, or streams that the host names",
            case.with_plan(policy=policy),
            name,
        )


KIND = Kind("manager", _changes)
