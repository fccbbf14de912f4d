"""Other candidates: all drives that a learnt profile may be, and the most probable of them."""

from __future__ import annotations

from writeamp.answers.case import Case
from writeamp.answers.cause import THEORY, WINDOWED, Cause
from writeamp.answers.question import Question


def _switch(question: Question, case: Case, kind: str) -> Case | None:
    return question.simulation if question.others else None


CAUSE = Cause(
    "the most probable of the drives that the profile may be, alone",
    (*THEORY, *WINDOWED, "real"),
    _switch,
    of_drive=True,
)
