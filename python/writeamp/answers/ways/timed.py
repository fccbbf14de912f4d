"""Simulation in virtual time, where mapping table, padding, caches and idle time count."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

from writeamp.answers.case import Case
from writeamp.answers.question import Question
from writeamp.answers.row import NOT_STEADY, WayRow
from writeamp.answers.way import Tell, Way
from writeamp.errors import WriteampError
from writeamp.runs.timed.run import run_timed

_WAY = "timed"
_ASSUMES = "the times, caches, mapping table and program units of the device profile"
# Flash pages that a core programs in virtual time in a second, under collection.
_PAGES_A_SECOND = 1_000_000


def _rows(question: Question, tell: Tell) -> Iterator[WayRow]:
    if question.drive.times is None:
        reason = f"{question.drive.name} has no times; --device names one that has, such as ssd-v"
        yield WayRow.without(_WAY, _ASSUMES, reason)
        return
    began = time.perf_counter()
    plan = question.window.plan
    try:
        found = run_timed(plan, question.drive, lambda done, of: tell(_WAY, done, of))
    except WriteampError as error:
        yield WayRow.without(_WAY, _ASSUMES, str(error), time.perf_counter() - began)
        return
    case = Case(plan, question.drive, question.held_pages, is_timed=True, programmed=found.causes)
    question.timed = (case, found)
    assumes = f"{_ASSUMES}; {question.window.words}"
    interval = question.interval(found.ci)
    reason = (
        ""
        if found.steady or math.isnan(interval[0])
        else f"{NOT_STEADY}: {found.steady_state.reason}"
    )
    yield WayRow(_WAY, found.wa, interval, time.perf_counter() - began, assumes, reason)


def _expected_s(question: Question) -> float:
    requests = question.window.requests
    return requests.host_pages * question.found.wa / _PAGES_A_SECOND


WAY = Way(_WAY, _rows, _ASSUMES, _expected_s)
