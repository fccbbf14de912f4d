"""Time itself: requests under way on several dies, where nothing else of time is left."""

from __future__ import annotations

from dataclasses import replace

from writeamp.answers.case import Case
from writeamp.answers.cause import Cause
from writeamp.answers.causes.background_collection import collects_early
from writeamp.answers.causes.mapping_table import writes_table
from writeamp.answers.causes.write_cache import has_cache
from writeamp.answers.question import Question


def _switch(question: Question, case: Case, kind: str) -> Case | None:
    # What was not switched off by a cause of its own must not be explained by this one.
    if has_cache(case) or writes_table(case) or collects_early(case):
        return None
    return replace(case, is_timed=False)


CAUSE = Cause(
    "time: requests under way together, and times of the flash", ("timed",), _switch, at_way=True
)
