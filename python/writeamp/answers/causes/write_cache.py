"""Write cache, in which writes to one page merge: none."""

from __future__ import annotations

from writeamp.answers.case import Case
from writeamp.answers.cause import Cause
from writeamp.answers.causes.program_units import has_large_units
from writeamp.answers.question import Question


def has_cache(case: Case) -> bool:
    """Return whether writes are answered from memory."""
    return bool(case.times.get("write_cache", {}).get("bytes", 0))


def _switch(question: Question, case: Case, kind: str) -> Case | None:
    # Without a cache to gather them, every write would pad a unit of several pages.
    if has_large_units(case) or not has_cache(case):
        return None
    return case.with_times(write_cache__bytes=0)


CAUSE = Cause("write cache, in which writes merge", ("timed",), _switch, at_way=True)
