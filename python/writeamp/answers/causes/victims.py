"""Victim policy: that of the theory."""

from __future__ import annotations

from writeamp.answers.case import Case
from writeamp.answers.cause import THEORY, Cause
from writeamp.answers.question import Question
from writeamp.answers.theories import theory_of
from writeamp.devices.policy import Policy
from writeamp.registry.specs import Spec


def _switch(question: Question, case: Case, kind: str) -> Case | None:
    theory, policy = theory_of(question, kind), case.plan.policy
    if theory is None or Spec.of("victims", policy.victims) == Spec.of("victims", theory.victims):
        return None
    return case.with_plan(policy=Policy.of(policy.manager, theory.victims, policy.wear_leveling))


CAUSE = Cause("victim policy", THEORY, _switch)
