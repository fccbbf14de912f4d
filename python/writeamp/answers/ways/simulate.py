"""Simulation without time, as long as its interval needs: the others are held against it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

from writeamp.answers.case import Found
from writeamp.answers.question import Question
from writeamp.answers.row import NOT_STEADY, WayRow
from writeamp.answers.way import Tell, Way
from writeamp.errors import RefusedError
from writeamp.runners import gather_whole, local_runner
from writeamp.runs.runner import drives_that_fit, run
from writeamp.runs.simulation_result import Result

_ASSUMES = "pages written whole, one after another; no mapping table on flash, no padding"


def _rows(question: Question, tell: Tell) -> Iterator[WayRow]:
    began = time.perf_counter()
    found = run(
        question.plan, question.drive, lambda done, of: tell("simulate", done, max(done, of))
    )
    question.simulated = found
    question.notes.extend(found.notes)
    if question.others:
        yield _of_candidates(question, found, began, tell)
        return
    steady = "" if found.steady else f"{NOT_STEADY}: {found.steady_state.reason}"
    yield WayRow("simulate", found.wa, found.ci, time.perf_counter() - began, _ASSUMES, steady)


def _of_candidates(question: Question, first: Result, began: float, tell: Tell) -> WayRow:
    """Return the row of all drives that the profile may be."""
    of_all = [(0, Found(first.wa, first.ci), first.steady)]
    runner = local_runner(len(question.others), drives_that_fit(question.drive))
    results = gather_whole(
        runner, _simulated, question.others, progress=partial(tell, "simulate other candidates")
    )
    for at, found in enumerate(results):
        if found is not None:
            question.others[at].simulated = found
            of_all.append((at + 1, Found(found.wa, found.ci), found.steady))
    question.mixture = mixture = question.mixed(of_all)
    question.notes.append(
        f"{question.experiment.device.profile} was learnt from a drive: the simulation, and what "
        f"would make it less, are of its {len(of_all)} most probable candidates, other ways of the "
        "first"
    )
    steady = f"{NOT_STEADY}: {mixture.warnings[0]}" if mixture.warnings else ""
    seconds = time.perf_counter() - began
    return WayRow("simulate", mixture.wa, mixture.ci, seconds, _ASSUMES, steady)


def _simulated(question: Question) -> Result | None:
    try:
        return run(question.plan, question.drive)
    except RefusedError:  # no drive of this size
        return None


WAY = Way("simulate", _rows, _ASSUMES)
