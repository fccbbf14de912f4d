"""Pages that are written in part: WA by bytes, as drives count them, not by pages."""

from __future__ import annotations

from dataclasses import replace

from writeamp.answers.case import Case
from writeamp.answers.cause import Cause
from writeamp.answers.question import Question


def _switch(question: Question, case: Case, kind: str) -> Case | None:
    found = question.simulated
    if found is None or not found.has_partial_pages:
        return None
    return replace(case, per_byte=True)


CAUSE = Cause("unaligned pages: written in part, and counted whole", ("real",), _switch)
