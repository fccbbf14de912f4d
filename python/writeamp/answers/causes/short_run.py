"""Short run: the part of the load that slow ways are shown, from where it begins."""

from __future__ import annotations

from writeamp.answers.case import Case
from writeamp.answers.cause import WINDOWED, Cause
from writeamp.answers.question import Question


def _switch(question: Question, case: Case, kind: str) -> Case | None:
    return None if question.window.is_whole else question.windowed


CAUSE = Cause("a part of the load: few drive writes of it, or one pass", WINDOWED, _switch)
