"""SLC cache, which takes writes before the other flash does: none."""

from __future__ import annotations

from dataclasses import replace

from writeamp.answers.case import Case
from writeamp.answers.cause import Cause
from writeamp.answers.question import Question
from writeamp.devices.times import canonical, tables_of


def _switch(question: Question, case: Case, kind: str) -> Case | None:
    if not case.programmed["slc"]:
        return None
    tables = tables_of(case.drive.times_json)
    del tables["slc"]
    return replace(case, drive=replace(case.drive, times_json=canonical(tables, "slc")))


CAUSE = Cause("SLC cache", ("timed",), _switch, at_way=True)
