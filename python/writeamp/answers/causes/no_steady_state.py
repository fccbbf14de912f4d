"""No steady state: the same trace on a drive that earlier passes over it have aged."""

from __future__ import annotations

from dataclasses import replace

from writeamp.answers.case import Case
from writeamp.answers.cause import THEORY, Cause
from writeamp.answers.question import Question
from writeamp.answers.window import AGEING_PASSES, as_trace, joined, repeated
from writeamp.registry.specs import Spec


def _switch(question: Question, case: Case, kind: str) -> Case | None:
    load, found = question.plan.load, question.simulated
    if isinstance(load, Spec) or found is None or found.steady:
        return None
    earlier = joined(question.plan.before, repeated(load, AGEING_PASSES))
    return replace(case, plan=as_trace(question.plan, load, earlier), is_pass=True)


CAUSE = Cause("no steady state: the run ends while WA still changes", THEORY, _switch)
