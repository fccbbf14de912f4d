"""Cold data: uniform writes to all pages that hold data, not only to those that are written."""

from __future__ import annotations

from writeamp.answers.case import Case
from writeamp.answers.cause import THEORY, Cause
from writeamp.answers.causes.skew import uniform_on
from writeamp.answers.question import Question
from writeamp.registry.specs import Spec


def _switch(question: Question, case: Case, kind: str) -> Case | None:
    if isinstance(case.plan.load, Spec):
        return None
    return uniform_on(case)


CAUSE = Cause("cold data that is never written", THEORY, _switch)
