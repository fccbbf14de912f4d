"""Causes of difference between the simulation and theory, in the order of switching."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import numpy as np
import numpy.typing as npt

from writeamp._engine import Load as EngineLoad
from writeamp.answers.case import Case
from writeamp.answers.cause import THEORY, WINDOWED, Cause
from writeamp.answers.question import Question
from writeamp.answers.theories import theory_of
from writeamp.answers.window import (
    AGEING_PASSES,
    as_trace,
    drawn,
    joined,
    page_trace,
    page_writes,
    repeated,
)
from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.registry.specs import Spec
from writeamp.settings.settings import LoadSettings
from writeamp.traces.pages import PageTrace
from writeamp.traces.touching import OPS

_UNIFORM = "uniform"
# Workloads whose pages are drawn independently as they are.
_INDEPENDENT = (_UNIFORM, "zipf", "hot-cold")
_MOST_KNOWN = 1 << 23
_DRIVE_WRITES, _AGEING_DRIVE_WRITES, _MOST_PAGES = 6, 16, 1 << 22
# If the load writes this share of the pages that hold data, the rest is too small to be cold data.
_ALL = 0.995
# With so many blocks, those that are open or held free are no visible part of the spare ones.
_MANY_BLOCKS, _MOST_PAGES_OF_MANY_BLOCKS = 4096, 1 << 21


def _first_candidate(question: Question, case: Case, kind: str) -> Case | None:
    """Take the most probable of the drives that a learnt profile may be."""
    return question.simulation if question.others else None


def _aged(question: Question, case: Case, kind: str) -> Case | None:
    """Run the same trace on a drive that earlier passes over it have aged."""
    load, found = question.plan.load, question.simulated
    if isinstance(load, Spec) or found is None or found.steady:
        return None
    earlier = joined(question.plan.before, repeated(load, AGEING_PASSES))
    return replace(case, plan=as_trace(question.plan, load, earlier), is_pass=True)


def _without_trim(question: Question, case: Case, kind: str) -> Case | None:
    """Send the same writes without TRIM, to a drive with the spare space that TRIM freed."""
    window = question.window
    if not (window.requests.op == OPS["trim"]).any():
        return None
    used = window.requests.logical_pages
    drive = _with_room(case.drive, case.held_pages, used)
    earlier = window.plan.earlier and _writes(window.plan.earlier)
    plan = as_trace(question.plan, _writes(window.requests), earlier)
    return Case(plan, drive, drive.logical_pages, is_pass=question.is_trace)


def _with_room(drive: Device, held_pages: int, used_pages: int) -> Device:
    """Return a drive that all used pages fit, with as much spare space for each that holds data."""
    share = drive.physical_pages / held_pages
    blocks = ceil(used_pages * share / (drive.planes * drive.pages_per_block))
    larger = replace(drive, blocks_per_plane=blocks, logical_pages=used_pages)
    return replace(larger, logical_pages=max(used_pages, round(larger.physical_pages / share)))


def _writes(requests: PageTrace) -> PageTrace:
    is_write = requests.op == OPS["write"]
    return page_trace(
        requests.op[is_write],
        requests.start[is_write],
        requests.count[is_write],
        requests.logical_pages,
        requests.page_bytes,
    )


def _random_order(question: Question, case: Case, kind: str) -> Case | None:
    """Draw pages at random, each as often as the load writes it."""
    load = question.plan.load
    if isinstance(load, Spec) and load.name in _INDEPENDENT:
        return None
    random = np.random.default_rng(question.plan.seed)
    requests = question.window.requests
    known = _written(requests, random)
    earlier, later = (
        page_writes(
            random.choice(known, min(times * case.drive.logical_pages, _MOST_PAGES)),
            requests.logical_pages,
            requests.page_bytes,
        )
        for times in (_AGEING_DRIVE_WRITES, _DRIVE_WRITES)
    )
    return replace(case, plan=as_trace(question.plan, later, earlier), is_pass=False)


def _written(requests: PageTrace, random: np.random.Generator) -> npt.NDArray[np.uint32]:
    """Return the pages that are written, each as often as it is, or of many a sample."""
    is_write = requests.op == OPS["write"]
    start, count = requests.start[is_write], requests.count[is_write]
    if requests.host_pages > _MOST_KNOWN:
        few = random.random(start.size) < _MOST_KNOWN / requests.host_pages
        start, count = start[few], count[few]
    ends = np.cumsum(count, dtype=np.int64)
    within = np.arange(ends[-1]) - np.repeat(ends - count, count)
    return np.asarray(np.repeat(start, count) + within, np.uint32)


def _uniform(question: Question, case: Case, kind: str) -> Case | None:
    """Write uniformly at random to the pages that the load writes."""
    load = case.plan.load
    if isinstance(load, Spec):
        if load == Spec.of("workloads", _UNIFORM):
            return None
        return _uniform_on_all(case)
    written = question.written_pages
    if written >= _ALL * case.held_pages:
        return _uniform_on_all(case)
    engine = EngineLoad.spec(_UNIFORM, written, case.drive.page_bytes)
    later, earlier = (
        drawn(
            engine,
            seed=question.plan.seed + times,
            pages=min(times * case.drive.logical_pages, _MOST_PAGES),
            used=written,
            page_bytes=case.drive.page_bytes,
        )
        for times in (_DRIVE_WRITES, _AGEING_DRIVE_WRITES)
    )
    return replace(case, plan=as_trace(question.plan, later, earlier), is_pass=False)


def _uniform_on_all(case: Case) -> Case:
    """Return the case of uniform writes to all pages that hold data, until their WA is known."""
    plan = case.plan
    load = Spec.of("workloads", _UNIFORM)
    host = LoadSettings(workload=load, utilization=case.held_pages / case.drive.logical_pages)
    run = replace(plan.run, writes=None, warmup="auto", replicas=1, precision=0.001)
    uniform = replace(
        plan, load=load, load_name=_UNIFORM, host=host, run=run, earlier=None, before=None
    )
    return replace(case, plan=uniform, is_pass=False)


def _with_cold_data(question: Question, case: Case, kind: str) -> Case | None:
    """Write uniformly to all pages that hold data, not only to those that the load writes."""
    return None if isinstance(case.plan.load, Spec) else _uniform_on_all(case)


def _without_leveling(question: Question, case: Case, kind: str) -> Case | None:
    """Level no wear."""
    policy = case.plan.policy
    if policy.wear_leveling is None:
        return None
    return case.with_plan(policy=replace(policy, wear_leveling=None))


def _one_frontier(question: Question, case: Case, kind: str) -> Case | None:
    """Use one frontier for all data, as theory does."""
    policy = case.plan.policy
    if Spec.of("managers", policy.manager).name == "single":
        return None
    return case.with_plan(policy=Policy.of("single", policy.victims, None))


def _victims_of_theory(question: Question, case: Case, kind: str) -> Case | None:
    """Use the victim policy of the theory."""
    theory, policy = theory_of(question, kind), case.plan.policy
    if theory is None or Spec.of("victims", policy.victims) == Spec.of("victims", theory.victims):
        return None
    return case.with_plan(policy=Policy.of(policy.manager, theory.victims, policy.wear_leveling))


def _one_pool(question: Question, case: Case, kind: str) -> Case | None:
    """Use one pool of blocks instead of one for each LUN."""
    if case.drive.layout == "flat" or case.drive.geometry.luns == 1:
        return None
    return replace(case, drive=replace(case.drive, layout="flat"))


def _many_blocks(question: Question, case: Case, kind: str) -> Case | None:
    """Use many more blocks at the same op, so that few of them are open or held free."""
    drive = case.drive
    times = min(
        ceil(_MANY_BLOCKS / drive.geometry.blocks),
        _MOST_PAGES_OF_MANY_BLOCKS // drive.physical_pages,
    )
    if times < 2:
        return None
    larger = replace(
        drive,
        blocks_per_plane=drive.blocks_per_plane * times,
        logical_pages=drive.logical_pages * times,
    )
    # A larger drive is steady after so many more writes, where the user says how many there are.
    run = case.plan.run
    longer = replace(
        run,
        writes=run.writes and run.writes * times,
        warmup=run.warmup * times if isinstance(run.warmup, int) else run.warmup,
    )
    return replace(case.with_plan(run=longer), drive=larger, held_pages=case.held_pages * times)


CAUSES: tuple[Cause, ...] = (
    Cause(
        "the most probable of the drives that the profile may be, alone",
        (*THEORY, *WINDOWED, "real"),
        _first_candidate,
        of_drive=True,
    ),
    Cause("no steady state: the run ends while WA still changes", THEORY, _aged),
    Cause("TRIM, beyond the space that it frees", THEORY, _without_trim),
    Cause("order of the writes (runs, phases, loops)", THEORY, _random_order),
    Cause("skew: some pages are written more often than others", THEORY, _uniform),
    Cause("cold data that is never written", THEORY, _with_cold_data),
    Cause("wear levelling", THEORY, _without_leveling),
    Cause("block manager", THEORY, _one_frontier),
    Cause("victim policy", THEORY, _victims_of_theory),
    Cause("layout: each LUN has blocks of its own", THEORY, _one_pool, of_drive=True),
    Cause("finite drive: blocks that are open or held free", THEORY, _many_blocks, of_drive=True),
)
