"""Wear levelling: none of it."""

from __future__ import annotations

from dataclasses import replace

from writeamp.answers.case import Case
from writeamp.answers.cause import THEORY, Cause
from writeamp.answers.question import Question


def _switch(question: Question, case: Case, kind: str) -> Case | None:
    policy = case.plan.policy
    if policy.wear_leveling is None:
        return None
    return case.with_plan(policy=replace(policy, wear_leveling=None))


CAUSE = Cause("wear levelling", THEORY, _switch)
