"""Mean fields: fixed points in the limit of many blocks."""

from __future__ import annotations

import time
from collections.abc import Iterator

from writeamp.answers.question import Question
from writeamp.answers.row import WayRow
from writeamp.answers.theories import mean_fields, told
from writeamp.answers.way import Tell, Way
from writeamp.errors import WriteampError

_ASSUMES = "many blocks; uniform writes, or hot and cold ones under hcwf"
_NAN = (float("nan"), float("nan"))


def _rows(question: Question, tell: Tell) -> Iterator[WayRow]:
    began = time.perf_counter()
    own = question.mean_field
    if own is not None:
        seconds = time.perf_counter() - began
        yield WayRow("mean-field hot-cold", own.wa, _NAN, seconds, own.model)
        return
    theories = mean_fields(question)
    if not theories:
        reason = (
            f"none is known of {question.plan.load_name} under {question.policy}: those of "
            "d-choices and greedy victims, and of hcwf under hot and cold data, are"
        )
        yield WayRow.without("mean-field", _ASSUMES, reason)
    for theory in theories:
        began = time.perf_counter()
        try:
            found = told(question, theory)
        except WriteampError as error:
            yield WayRow.without(theory.way, _ASSUMES, str(error))
            continue
        seconds = time.perf_counter() - began
        yield WayRow(theory.way, found.wa, _NAN, seconds, found.assumes, found.reason)


WAY = Way("mean-field", _rows, _ASSUMES)
