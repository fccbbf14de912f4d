"""Writes of the mapping table: all of it in memory."""

from __future__ import annotations

from writeamp.answers.case import Case
from writeamp.answers.cause import Cause
from writeamp.answers.question import Question


def writes_table(case: Case) -> bool:
    """Return whether the mapping table is on the flash."""
    return bool(case.times.get("map_cache", {}).get("bytes", 0))


def _switch(question: Question, case: Case, kind: str) -> Case | None:
    return case.with_times(map_cache__bytes=0) if writes_table(case) else None


CAUSE = Cause("mapping-table writes", ("timed",), _switch, at_way=True)
