"""Simulation without time, as long as its interval needs: the others are held against it."""

from __future__ import annotations

import time
from collections.abc import Iterator

from writeamp.answers.question import Question
from writeamp.answers.row import NOT_STEADY, WayRow
from writeamp.answers.way import Tell, Way
from writeamp.runs.runner import run

_ASSUMES = "pages written whole, one after another; no mapping table on flash, no padding"


def _rows(question: Question, tell: Tell) -> Iterator[WayRow]:
    began = time.perf_counter()
    found = run(
        question.plan, question.drive, lambda done, of: tell("simulate", done, max(done, of))
    )
    question.simulated = found
    question.notes.extend(found.notes)
    steady = "" if found.steady else f"{NOT_STEADY}: {found.steady_state.reason}"
    yield WayRow("simulate", found.wa, found.ci, time.perf_counter() - began, _ASSUMES, steady)


WAY = Way("simulate", _rows, _ASSUMES)
