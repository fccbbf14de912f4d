"""Virtual drive: the same requests sent through NBD, or a program that writes to it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from writeamp.answers.question import Question
from writeamp.answers.row import WayRow
from writeamp.answers.way import Tell, Way
from writeamp.errors import WriteampError
from writeamp.registry.hints import needed_hints
from writeamp.runs.plan import Plan
from writeamp.settings.precondition import Precondition
from writeamp.vssd.replay import replay
from writeamp.vssd.settings import DriveSettings
from writeamp.vssd.specification import Specification

_ASSUMES = "a real block device over NBD, served by nbdkit; no times"
# What a slow computer sends, and the start of the server.
_REQUESTS_A_SECOND = 40_000
_BYTES_A_SECOND = 5e8
_START_S = 0.5


def _rows(question: Question, tell: Tell) -> Iterator[WayRow]:
    if question.served is not None:
        served = question.served
        assumes = f"{_ASSUMES}; the command itself: {served.run}"
        yield WayRow("virtual", served.wa, served.ci, served.elapsed_s, assumes)
        return
    began = time.perf_counter()
    hints = needed_hints(str(question.policy.manager))
    if hints is not None:
        reason = f"{question.policy.manager} needs hints on {hints}, which no program gives a drive"
        yield WayRow.without("virtual", _ASSUMES, reason)
        return
    window = question.window
    plan = replace(window.plan, notes=())
    settings = DriveSettings(precondition=_state(plan), seed=plan.seed)
    found = Specification(question.drive, plan, settings, (), in_turn=True)
    try:
        served = replay(found, window.requests, lambda done, of: tell("virtual", done, of))
    except WriteampError as error:
        yield WayRow.without("virtual", _ASSUMES, str(error), time.perf_counter() - began)
        return
    question.served = served
    assumes = f"{_ASSUMES}; {window.words}"
    yield WayRow(
        "virtual", served.wa, question.interval(served.ci), time.perf_counter() - began, assumes
    )


def _state(plan: Plan) -> str:
    """Return what the drive is told of the state that it begins in, which the plan says."""
    fill = Precondition.of(plan.host.precondition).fill
    is_new = fill == "none" and plan.earlier is None and plan.before is None
    return "none" if is_new else "full"


def _expected_s(question: Question) -> float:
    if question.served is not None:
        return 0.0
    requests = question.window.requests
    size = requests.host_pages * requests.page_bytes
    return _START_S + requests.op.size / _REQUESTS_A_SECOND + size / _BYTES_A_SECOND


WAY = Way("virtual", _rows, _ASSUMES, _expected_s)
