"""Other victim policies."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.answers.change import Change, Kind
from writeamp.answers.question import Question
from writeamp.devices.policy import Policy
from writeamp.errors import WriteampError
from writeamp.registry.specs import Spec

_VICTIMS = ("greedy", "cost-benefit")


def _changes(question: Question) -> Iterator[Change]:
    case, now = question.windowed, question.policy
    for name in _VICTIMS:
        if Spec.of("victims", now.victims).name == name:
            continue
        try:
            policy = Policy.of(now.manager, name, now.wear_leveling)
            policy.drive(case.drive)
        except WriteampError:  # the manager chooses victims by a rule of its own
            continue
        yield Change(
            f"victims by {name} instead of {now.victims}",
            "firmware",
            case.with_plan(policy=policy),
            name,
        )


KIND = Kind("victims", _changes)
