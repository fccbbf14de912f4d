"""Formulas: closed forms of uniform random writes, at the op of the pages that hold data."""

from __future__ import annotations

import time
from collections.abc import Iterator

from writeamp.answers.question import Question
from writeamp.answers.row import WayRow
from writeamp.answers.theories import formulas, told
from writeamp.answers.way import Tell, Way
from writeamp.errors import WriteampError

_ASSUMES = "uniform random writes, many blocks"


def _rows(question: Question, tell: Tell) -> Iterator[WayRow]:
    for theory in formulas(question):
        began = time.perf_counter()
        try:
            found = told(question, theory)
        except WriteampError as error:
            yield WayRow.without(theory.way, _ASSUMES, str(error))
            continue
        seconds = time.perf_counter() - began
        interval = (float("nan"), float("nan"))
        yield WayRow(theory.way, found.wa, interval, seconds, found.assumes, found.reason)


WAY = Way("formula", _rows, _ASSUMES)
