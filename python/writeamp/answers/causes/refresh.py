"""Refresh of data that was read often or is old: none."""

from __future__ import annotations

from dataclasses import replace

from writeamp.answers.case import Case
from writeamp.answers.cause import Cause
from writeamp.answers.question import Question
from writeamp.devices.times import canonical, tables_of


def _switch(question: Question, case: Case, kind: str) -> Case | None:
    if not case.programmed["refresh"]:
        return None
    tables = tables_of(case.drive.times_json)
    del tables["refresh"]
    return replace(case, drive=replace(case.drive, times_json=canonical(tables, "refresh")))


CAUSE = Cause("refresh", ("timed",), _switch, at_way=True)
