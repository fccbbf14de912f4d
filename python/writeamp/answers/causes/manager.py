"""Block manager: one frontier for all data, as theory has it."""

from __future__ import annotations

from writeamp.answers.case import Case
from writeamp.answers.cause import THEORY, Cause
from writeamp.answers.question import Question
from writeamp.devices.policy import Policy
from writeamp.registry.specs import Spec


def _switch(question: Question, case: Case, kind: str) -> Case | None:
    policy = case.plan.policy
    if Spec.of("managers", policy.manager).name == "single":
        return None
    return case.with_plan(policy=Policy.of("single", policy.victims, None))


CAUSE = Cause("block manager", THEORY, _switch)
