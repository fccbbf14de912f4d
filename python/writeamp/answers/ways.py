"""Sources of `answer`, each a `Way`; `WAYS` lists them in the order of running.

Sources of other packages, such as counters of real drives, are entry points of `writeamp.ways`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace

from writeamp.answers.case import Case, MeasuredCase
from writeamp.answers.question import Question, SimulatedQuestion
from writeamp.answers.theories import by_theory, described_policies, theories
from writeamp.answers.way import Findings, Way, WayRow
from writeamp.errors import RefusedError, WriteampError
from writeamp.extensions import extensions, loaded
from writeamp.registry.declarations import needed_hints
from writeamp.runners import Progress, gather_whole, local_runner
from writeamp.runs.plan import Plan
from writeamp.runs.runner import drives_that_fit, run
from writeamp.runs.simulation_result import Result
from writeamp.runs.substitute import NO_SUBSTITUTE, Substitute
from writeamp.runs.timed.device import merging_in_words, notes_on_merging
from writeamp.runs.timed.run import run_timed
from writeamp.settings.precondition import Precondition
from writeamp.vssd.session import replay
from writeamp.vssd.settings import DriveSettings
from writeamp.vssd.specification import Specification

# Theory: closed forms, and fixed points in the limit of many blocks.

_FORMULA_ASSUMES = "uniform random writes, many blocks"
_MEAN_FIELD_ASSUMES = "many blocks; uniform writes, or hot and cold ones under hcwf"


def _theory_rows(question: Question, kind: str, assumes: str) -> Iterator[WayRow]:
    began = time.perf_counter()  # `theories` solves models, so its time counts
    chosen = theories(question, kind)
    if not chosen:
        plan, policies = question.plan, ", ".join(described_policies(question, kind))
        reason = f"no {kind} model for {plan.load_name} under {plan.policy}; valid: {policies}"
        yield WayRow.without(kind, kind, assumes, reason)
    for theory in chosen:
        try:
            answer = by_theory(question, theory)
        except WriteampError as error:
            yield WayRow.without(theory.way, kind, assumes, str(error))
        else:
            seconds = time.perf_counter() - began
            yield WayRow(
                theory.way,
                kind,
                answer.wa,
                seconds,
                answer.assumes,
                answer.reason,
                wa_bytes=answer.wa * question.partial_page_factor,
                unit=question.drive.page_noun,
            )
        began = time.perf_counter()


def _formula(question: Question, findings: Findings, progress: Progress) -> Iterator[WayRow]:
    return _theory_rows(question, "formula", _FORMULA_ASSUMES)


def _mean_field(question: Question, findings: Findings, progress: Progress) -> Iterator[WayRow]:
    return _theory_rows(question, "mean-field", _MEAN_FIELD_ASSUMES)


FORMULA = Way("formula", _formula, _FORMULA_ASSUMES)
MEAN_FIELD = Way("mean-field", _mean_field, _MEAN_FIELD_ASSUMES)


# Untimed simulation, run until its interval is narrow; other sources are compared with it.

_SIMULATE_ASSUMES = "pages written whole, one after another; no mapping table on flash, no padding"
_IN_PART = (
    "one write after another; {}s written in part are programmed whole (read-modify-write); no "
    "mapping table on flash, no padding"
)


def _simulate(question: Question, findings: Findings, progress: Progress) -> Iterator[WayRow]:
    began = time.perf_counter()
    result = run(question.plan, question.drive, progress)
    scaling = _scaling(question, result)
    simulated = SimulatedQuestion(question, result, scaling=scaling)
    notes = tuple(result.notes)
    if scaling.error_of_wa > 0:  # False if it is not known, which is a warning
        notes += (
            f"intervals of the smaller drive include the scaling error, ±{scaling.error_of_wa:.4f}",
        )
    unsteady = "" if result.steady else result.steady_state.reason
    if question.others:
        simulated = _with_candidates(simulated, progress)
        assert simulated.mixture is not None
        unsteady = next(iter(simulated.mixture.warnings), "")
        notes += (
            f"{question.experiment.device.profile} was learnt from a drive: the simulation and the "
            f"advice use its {len(simulated.others) + 1} most probable candidates (possible "
            "drives), the other rows only the most probable one",
        )
    wa, unit = simulated.measured.wa, question.drive.page_noun
    by_cause = _wa_bytes_by_cause(wa, result)
    yield WayRow(
        "simulate",
        "simulate",
        wa,
        time.perf_counter() - began,
        _IN_PART.format(unit) if by_cause else _SIMULATE_ASSUMES,
        _not_steady(unsteady),
        is_steady=not unsteady,
        findings=Findings(simulated, notes=notes),
        wa_bytes=wa * result.partial_page_factor,
        wa_bytes_by_cause=by_cause,
        unit=unit,
        own_interval=_own(scaling, simulated.measured.error_bar),
        **simulated.measured.as_fields(scaling),
    )


def _wa_bytes_by_cause(wa: float, result: Result) -> dict[str, float] | None:
    """Return the parts of WA per host byte; None for whole pages without a given unit.

    `host` is the host's byte, and `read_modify_write` the rest of the pages that requests cover in
    part. The others are copies of pages. The parts add up to `wa` times `partial_page_factor`.
    """
    factor, of_host = result.partial_page_factor, ("host", "read_modify_write")
    if not (result.has_partial_pages or (result.device.host_page_bytes and factor >= 1)):
        return None
    copied = {cause: pages for cause, pages in result.causes.items() if cause not in of_host}
    # A mixture of candidate drives has another WA than this run, so its copies are scaled.
    per_page = factor * (wa - 1) / (sum(copied.values()) or 1)
    copies = {cause: per_page * pages for cause, pages in copied.items() if pages}
    return {"host": 1.0, "read_modify_write": factor - 1} | copies


def _scaling(question: Question, result: Result) -> Substitute:
    """Return the relation of the simulated drive to the requested one, with the scaling error."""
    if question.scaled is None:
        return NO_SUBSTITUTE
    smaller = question.smaller
    try:
        other = None if smaller is None else run(smaller.plan, smaller.drive)
    except WriteampError:  # the error is then not known
        other = None
    return question.scaled.error(result, other)


def _own(scaling: Substitute, interval: tuple[float, float]) -> tuple[float, float] | None:
    """Return the interval without the scaling error, if the drive has one."""
    return None if scaling is NO_SUBSTITUTE or math.isnan(interval[0]) else interval


def _not_steady(reason: str) -> str:
    """Return the reason of a row that is not steady, or ""."""
    return f"not steady, so a longer run gives another WA: {reason}" if reason else ""


def _with_candidates(first: SimulatedQuestion, progress: Progress) -> SimulatedQuestion:
    """Return the simulated question with all candidates of the profile simulated."""
    question = first.question
    runner = local_runner(len(question.others), drives_that_fit(question.drive))
    results = gather_whole(runner, _run_alone, question.others, progress=progress)
    others = {
        number: SimulatedQuestion(candidate, result)
        for number, (candidate, result) in enumerate(zip(question.others, results, strict=True), 1)
        if result is not None
    }
    of_all = [
        (number, MeasuredCase(simulated.result.wa, simulated.result.ci), simulated.result.steady)
        for number, simulated in {0: first, **others}.items()
    ]
    return replace(first, others=others, mixture=question.mixed(of_all))


def _run_alone(question: Question) -> Result | None:
    try:
        return run(question.plan, question.drive)
    except RefusedError:  # This candidate cannot have this size, so it is left out.
        return None


SIMULATE = Way("simulate", _simulate, _SIMULATE_ASSUMES)


# Virtual drive: receives the same requests through NBD, or a program's writes.

_VIRTUAL_ASSUMES = "a real block device over NBD, served by nbdkit; no times"
# Estimates for a slow computer: requests per second, bytes per second, and start-up time of the
# server in seconds.
_REQUESTS_A_SECOND = 40_000
_BYTES_A_SECOND = 5e8
_START_S = 0.5


def _virtual(question: Question, findings: Findings, progress: Progress) -> Iterator[WayRow]:
    way, served = "virtual", question.program
    if served is not None:
        assumes = f"{_VIRTUAL_ASSUMES}; writes of the command {served.run}"
        yield WayRow(
            way,
            way,
            served.wa,
            served.elapsed_s,
            assumes,
            findings=Findings(served=served),
            ci=served.ci,
            wa_bytes=served.wa_bytes,
            unit=question.drive.page_noun,
        )
        return
    began = time.perf_counter()
    hints = needed_hints(str(question.policy.manager))
    if hints is not None:
        reason = f"{question.policy.manager} needs hints on {hints}, which programs do not send"
        yield WayRow.without(way, way, _VIRTUAL_ASSUMES, reason)
        return
    assert findings.simulated is not None
    window = findings.simulated.window
    plan = replace(window.plan, notes=())
    settings = DriveSettings(precondition=_state(plan), seed=plan.seed)
    drive = Specification(question.drive, plan, settings, (), in_turn=True)
    try:
        served = replay(drive, window.requests, progress)
    except WriteampError as error:
        seconds = time.perf_counter() - began
        yield WayRow.without(way, way, _VIRTUAL_ASSUMES, str(error), seconds)
        return
    scaling, interval = findings.simulated.scaling, question.interval(served.ci)
    yield WayRow(
        way,
        way,
        served.wa,
        time.perf_counter() - began,
        f"{_VIRTUAL_ASSUMES}; {window.words}",
        findings=Findings(served=served),
        ci=scaling.widened(interval),
        wa_bytes=served.wa_bytes,
        unit=question.drive.page_noun,
        own_interval=_own(scaling, interval),
    )


def _state(plan: Plan) -> str:
    """Return the virtual drive's precondition (initial state) from that of the plan."""
    fill = Precondition.of(plan.host.precondition).fill
    is_new = fill == "none" and plan.earlier is None and plan.uncounted is None
    return "none" if is_new else "full"


def _virtual_s(question: Question, findings: Findings) -> float:
    if question.program is not None:
        return 0.0
    assert findings.simulated is not None
    requests = findings.simulated.window.requests
    size = requests.host_pages * requests.page_bytes
    return _START_S + requests.op.size / _REQUESTS_A_SECOND + size / _BYTES_A_SECOND


VIRTUAL = Way("virtual", _virtual, _VIRTUAL_ASSUMES, _virtual_s, needs_simulation=True)


# Simulation in virtual time, with mapping table, padding, caches and idle time.

_TIMED_ASSUMES = "the times, caches, mapping table and program units of the device profile"
# Estimate: flash pages that one core simulates per second in a timed run with garbage collection.
_PAGES_A_SECOND = 1_000_000


def _timed(question: Question, findings: Findings, progress: Progress) -> Iterator[WayRow]:
    way = "timed"
    if question.drive.times is None:
        reason = (
            f"{question.drive.name} has no times; give a --device that has times, such as ssd-v"
        )
        yield WayRow.without(way, way, _TIMED_ASSUMES, reason)
        return
    assert findings.simulated is not None
    began = time.perf_counter()
    window = findings.simulated.window
    try:
        result = run_timed(window.plan, question.drive, progress)
    except WriteampError as error:
        seconds = time.perf_counter() - began
        yield WayRow.without(way, way, _TIMED_ASSUMES, str(error), seconds)
        return
    case = Case(
        window.plan,
        question.drive,
        question.held_pages,
        is_timed=True,
        programmed=result.causes,
    )
    scaling, interval = findings.simulated.scaling, question.interval(result.ci)
    is_steady = result.steady or math.isnan(interval[0])
    reason = _not_steady("" if is_steady else result.steady_state.reason)
    merging = (question.drive, result.causes, result.host_pages)
    merged = merging_in_words(*merging)
    yield WayRow(
        way,
        way,
        result.wa,
        time.perf_counter() - began,
        "; ".join(filter(None, (_TIMED_ASSUMES, window.words, merged))),
        "; ".join(filter(None, (reason, merged))) if reason else "",
        is_steady=is_steady,
        findings=Findings(timed=case, notes=tuple(notes_on_merging(*merging))),
        ci=scaling.widened(interval),
        wa_bytes=result.wa_bytes,
        unit=question.drive.page_noun,
        own_interval=_own(scaling, interval),
    )


def _timed_s(question: Question, findings: Findings) -> float:
    assert findings.simulated is not None
    pages = findings.simulated.window.requests.host_pages
    return pages * findings.simulated.measured.wa / _PAGES_A_SECOND


TIMED = Way("timed", _timed, _TIMED_ASSUMES, _timed_s, needs_simulation=True)


# Sources in the order of running: the quick ones first.
WAYS: tuple[Way, ...] = (
    *loaded(extensions("writeamp.ways").values(), Way).values(),
    FORMULA,
    MEAN_FIELD,
    SIMULATE,
    VIRTUAL,
    TIMED,
)
