"""Layout: one pool of blocks, not one for each LUN."""

from __future__ import annotations

from dataclasses import replace

from writeamp.answers.case import Case
from writeamp.answers.cause import THEORY, Cause
from writeamp.answers.question import Question


def _switch(question: Question, case: Case, kind: str) -> Case | None:
    if case.drive.layout == "flat" or case.drive.geometry.luns == 1:
        return None
    return replace(case, drive=replace(case.drive, layout="flat"))


CAUSE = Cause("layout: each LUN has blocks of its own", THEORY, _switch, of_drive=True)
