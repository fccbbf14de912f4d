"""Causes of difference between the simulation and counters of drives."""

from __future__ import annotations

from dataclasses import replace

from writeamp.answers.case import Case
from writeamp.answers.cause import Cause
from writeamp.answers.question import Question


def _per_byte(question: Question, case: Case, kind: str) -> Case | None:
    """Count WA by bytes, as drives do, instead of pages that are written in part."""
    found = question.simulated
    if found is None or not found.has_partial_pages:
        return None
    return replace(case, per_byte=True)


CAUSES: tuple[Cause, ...] = (
    Cause("unaligned pages: written in part, and counted whole", ("real",), _per_byte),
)
