"""Collection in the background, which begins before a block is needed: only when one is."""

from __future__ import annotations

from writeamp.answers.case import Case
from writeamp.answers.cause import Cause
from writeamp.answers.question import Question


def collects_early(case: Case) -> bool:
    """Return whether idle dies collect."""
    return bool(case.times.get("collection", {}).get("background", False))


def _switch(question: Question, case: Case, kind: str) -> Case | None:
    return case.with_times(collection__background=False) if collects_early(case) else None


CAUSE = Cause("collection in the background, before it is needed", ("timed",), _switch, at_way=True)
