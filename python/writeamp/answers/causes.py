"""Causes of differences between the simulation and other sources, in the order of switching.

A row of `answer` is the WA by one source. Each kind of row has its own causes. They are switched
one after another, each in addition to the causes before it, so that their contributions add up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
import numpy.typing as npt

from writeamp._engine import Load as EngineLoad
from writeamp.answers.case import Case
from writeamp.answers.question import SimulatedQuestion
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
from writeamp.devices.times import canonical, tables_of
from writeamp.registry.specs import Spec
from writeamp.settings.settings import LoadSettings
from writeamp.traces.pages import PageTrace
from writeamp.traces.touching import OPS

# Kinds of rows: by theory; by runs of a window (part) of the load; by timed runs.
_THEORY = ("formula", "mean-field")
WINDOWED = ("timed", "virtual")
_TIMED = ("timed",)

_UNIFORM = "uniform"
# Workloads that already draw their pages independently, so random order changes nothing.
_INDEPENDENT = (_UNIFORM, "zipf", "hot-cold")
_MOST_KNOWN = 1 << 23
_DRIVE_WRITES, _AGEING_DRIVE_WRITES, _MOST_PAGES = 6, 16, 1 << 22
# If the load writes more than this share of the pages that hold data, cold data is negligible, and
# uniform writes go to all these pages.
_ALL = 0.995
# With at least this many blocks, open and reserved blocks are a negligible share of the spare
# blocks.
_MANY_BLOCKS, _MOST_PAGES_OF_MANY_BLOCKS = 4096, 1 << 21


@dataclass(frozen=True)
class Cause:
    """A cause of a difference between the simulation and another source.

    Attributes:
        name: name of the cause, in words.
        explains: kinds of rows whose difference from the simulation the cause may explain.
        switch: gets the simulated question, a case, and the kind of the row, and returns the case
            with one setting changed to that of the row, or None if the setting is the same.
        at_way: True if `switch` starts from the run of the row's source and approaches the
            simulation; False if it starts from the simulation.
        of_drive: True if the cause also applies to theories that describe exactly this load.
    """

    name: str
    explains: tuple[str, ...]
    switch: Callable[[SimulatedQuestion, Case, str], Case | None]
    at_way: bool = False
    of_drive: bool = False


def _first_candidate(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
    """Use only the most probable candidate (possible drive) of a learnt profile."""
    return simulated.question.simulation if simulated.question.others else None


def _aged(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
    """Run the same trace on a drive aged by earlier passes over it."""
    load = simulated.question.plan.load
    if isinstance(load, Spec) or simulated.result.steady:
        return None
    earlier = joined(simulated.question.plan.uncounted, repeated(load, AGEING_PASSES))
    return replace(case, plan=as_trace(simulated.question.plan, load, earlier), is_pass=True)


def _without_trim(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
    """Send the same writes without TRIM; the space that TRIM freed is spare space instead."""
    window = simulated.window
    if not (window.requests.op == OPS["trim"]).any():
        return None
    used = window.requests.logical_pages
    drive = _with_room(case.drive, case.held_pages, used)
    earlier = window.plan.earlier and _writes(window.plan.earlier)
    plan = as_trace(simulated.question.plan, _writes(window.requests), earlier)
    return Case(plan, drive, drive.logical_pages, is_pass=simulated.question.is_trace)


def _with_room(drive: Device, held_pages: int, used_pages: int) -> Device:
    """Return a drive that can hold all used pages, with the same flash per page of data."""
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


def _random_order(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
    """Draw pages at random, with the load's write frequency of each page."""
    load = simulated.question.plan.load
    if isinstance(load, Spec) and load.name in _INDEPENDENT:
        return None
    random = np.random.default_rng(simulated.question.plan.seed)
    requests = simulated.window.requests
    written = _written(requests, random)
    earlier, later = (
        page_writes(
            random.choice(written, min(times * case.drive.logical_pages, _MOST_PAGES)),
            requests.logical_pages,
            requests.page_bytes,
        )
        for times in (_AGEING_DRIVE_WRITES, _DRIVE_WRITES)
    )
    return replace(case, plan=as_trace(simulated.question.plan, later, earlier), is_pass=False)


def _written(requests: PageTrace, random: np.random.Generator) -> npt.NDArray[np.uint32]:
    """Return all written pages, each as often as it is written; a sample of a long load."""
    is_write = requests.op == OPS["write"]
    start, count = requests.start[is_write], requests.count[is_write]
    if requests.host_pages > _MOST_KNOWN:
        few = random.random(start.size) < _MOST_KNOWN / requests.host_pages
        start, count = start[few], count[few]
    ends = np.cumsum(count, dtype=np.int64)
    within = np.arange(ends[-1]) - np.repeat(ends - count, count)
    return np.asarray(np.repeat(start, count) + within, np.uint32)


def _uniform(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
    """Write uniformly at random to the pages that the load writes.

    For a workload, or if almost all data is written, writes go to all pages that hold data.
    """
    load = case.plan.load
    if isinstance(load, Spec):
        if load == Spec.of("workloads", _UNIFORM):
            return None
        return _uniform_on_all(case)
    written = simulated.question.written_pages
    if written >= _ALL * case.held_pages:
        return _uniform_on_all(case)
    engine = EngineLoad.spec(_UNIFORM, written, case.drive.page_bytes)
    later, earlier = (
        drawn(
            engine,
            seed=simulated.question.plan.seed + times,
            pages=min(times * case.drive.logical_pages, _MOST_PAGES),
            used=written,
            page_bytes=case.drive.page_bytes,
        )
        for times in (_DRIVE_WRITES, _AGEING_DRIVE_WRITES)
    )
    return replace(case, plan=as_trace(simulated.question.plan, later, earlier), is_pass=False)


def _uniform_on_all(case: Case) -> Case:
    """Return the case with uniform writes to all pages that hold data, at precision 0.1%."""
    plan = case.plan
    load = Spec.of("workloads", _UNIFORM)
    host = LoadSettings(workload=load, utilization=case.held_pages / case.drive.logical_pages)
    run = replace(plan.run, writes=None, warmup="auto", replicas=1, precision=0.001)
    uniform = replace(
        plan, load=load, load_name=_UNIFORM, host=host, run=run, earlier=None, uncounted=None
    )
    return replace(case, plan=uniform, is_pass=False)


def _with_cold_data(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
    """Write uniformly to all pages that hold data, including those that the load never writes."""
    return None if isinstance(case.plan.load, Spec) else _uniform_on_all(case)


def _without_leveling(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
    """Turn wear levelling off."""
    policy = case.plan.policy
    if policy.wear_leveling is None:
        return None
    return case.with_plan(policy=replace(policy, wear_leveling=None))


def _one_frontier(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
    """Use one open block for all data, as theory does."""
    policy = case.plan.policy
    if Spec.of("managers", policy.manager).name == "single":
        return None
    return case.with_plan(policy=Policy.of("single", policy.victims, None))


def _victims_of_theory(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
    """Use the victim policy of the theory."""
    theory, policy = theory_of(simulated.question, kind), case.plan.policy
    if theory is None or Spec.of("victims", policy.victims) == Spec.of("victims", theory.victims):
        return None
    return case.with_plan(policy=Policy.of(policy.manager, theory.victims, policy.wear_leveling))


def _one_pool(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
    """Use one pool of blocks instead of one for each LUN."""
    if case.drive.layout == "flat" or case.drive.geometry.luns == 1:
        return None
    return replace(case, drive=replace(case.drive, layout="flat"))


def _many_blocks(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
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
    # A larger drive needs more writes to be steady, so a number of writes given by the user is
    # scaled.
    run = case.plan.run
    longer = replace(
        run,
        writes=run.writes and run.writes * times,
        warmup=run.warmup * times if isinstance(run.warmup, int) else run.warmup,
    )
    return replace(case.with_plan(run=longer), drive=larger, held_pages=case.held_pages * times)


def _without_slc(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
    """Remove the SLC cache, which absorbs writes before the main flash."""
    return _without_table(case, "slc")


def _without_table(case: Case, name: str) -> Case | None:
    """Return the case without a table of the drive's times, such as "slc".

    Returns None if no pages were programmed for the feature of this table.
    """
    if not case.programmed[name]:
        return None
    tables = tables_of(case.drive.times_json)
    del tables[name]
    return replace(case, drive=replace(case.drive, times_json=canonical(tables, name)))


def _has_large_units(case: Case) -> bool:
    """Return whether a program operation writes several pages."""
    program = case.times.get("program", {})
    page_bytes = program.get("flash_page_bytes", case.drive.page_bytes)
    pages = program.get("planes", 1) * program.get("pages_per_word_line", 1)
    return bool(pages * page_bytes > case.drive.page_bytes)


def _units_of_a_page(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
    """Program single pages instead of program units of several pages, which a flush pads."""
    if not _has_large_units(case):
        return None
    return case.with_times(
        program__planes=1,
        program__pages_per_word_line=1,
        program__flash_page_bytes=case.drive.page_bytes,
    )


def _has_cache(case: Case) -> bool:
    """Return whether writes complete in a memory cache."""
    return bool(case.times.get("write_cache", {}).get("bytes", 0))


def _without_write_cache(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
    """Remove the write cache, which merges writes to the same page."""
    # Without a cache, every write would pad a program unit, so units are reduced to one page, too.
    if _has_large_units(case) or not _has_cache(case):
        return None
    return case.with_times(write_cache__bytes=0)


def _writes_table(case: Case) -> bool:
    """Return whether the mapping table is stored on flash."""
    return bool(case.times.get("map_cache", {}).get("bytes", 0))


def _table_in_memory(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
    """Hold the whole mapping table in memory."""
    return case.with_times(map_cache__bytes=0) if _writes_table(case) else None


def _collects_early(case: Case) -> bool:
    """Return whether idle dies collect garbage."""
    return bool(case.times.get("collection", {}).get("background", False))


def _collected_when_needed(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
    """Collect garbage only when a block is needed, not in the background."""
    return case.with_times(collection__background=False) if _collects_early(case) else None


def _without_refresh(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
    """Do not refresh data that was read often or is old."""
    return _without_table(case, "refresh")


def _untimed(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
    """Run without virtual time, after all other effects of time are switched off."""
    # The causes of cache, table and background collection are switched before this one. If a drive
    # still has one of these features, this cause would include its share, so it is left out.
    if _has_cache(case) or _writes_table(case) or _collects_early(case):
        return None
    return replace(case, is_timed=False)


def _window(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
    """Run only the window, the part of the load that slow sources run."""
    return None if simulated.window.is_whole else simulated.windowed


def _per_byte(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
    """Divide flash bytes by host bytes, as drives do, instead of flash pages by touched pages."""
    is_partial = simulated.result.has_partial_pages and not case.drive.host_page_bytes
    return replace(case, per_byte=True) if is_partial else None


def _mapping_unit(simulated: SimulatedQuestion, case: Case, kind: str) -> Case | None:
    """Count the rest of each given mapping unit that a request covers in part, as drives do."""
    is_partial = simulated.result.has_partial_pages and case.drive.host_page_bytes > 0
    return replace(case, per_byte=True) if is_partial else None


CAUSES: tuple[Cause, ...] = (
    Cause(
        "only the most probable of the profile's candidate drives",
        (*_THEORY, *WINDOWED, "real"),
        _first_candidate,
        of_drive=True,
    ),
    Cause("no steady state: the run ends while WA still changes", _THEORY, _aged),
    Cause("TRIM: effects other than the space that it frees", _THEORY, _without_trim),
    Cause("order of the writes (runs, phases, loops)", _THEORY, _random_order),
    Cause("skew: some pages are written more often than others", _THEORY, _uniform),
    Cause("cold data that is never written", _THEORY, _with_cold_data),
    Cause("wear levelling", _THEORY, _without_leveling),
    Cause("block manager", _THEORY, _one_frontier),
    Cause("victim policy", _THEORY, _victims_of_theory),
    Cause("layout: each LUN has its own blocks", _THEORY, _one_pool, of_drive=True),
    Cause("finite drive: open and reserved blocks", _THEORY, _many_blocks, of_drive=True),
    Cause("SLC cache", _TIMED, _without_slc, at_way=True),
    Cause(
        "program units of several pages, and their padding",
        _TIMED,
        _units_of_a_page,
        at_way=True,
    ),
    Cause("write cache, in which writes merge", _TIMED, _without_write_cache, at_way=True),
    Cause("mapping-table writes", _TIMED, _table_in_memory, at_way=True),
    Cause(
        "background collection, before a block is needed",
        _TIMED,
        _collected_when_needed,
        at_way=True,
    ),
    Cause("refresh", _TIMED, _without_refresh, at_way=True),
    Cause(
        "time: concurrent requests and latencies of the flash",
        _TIMED,
        _untimed,
        at_way=True,
    ),
    Cause(
        "short run: at most two drive writes, or one pass over the trace, instead of the whole "
        "load",
        WINDOWED,
        _window,
    ),
    Cause("unaligned writes: partly written pages count as whole pages", ("real",), _per_byte),
    Cause("mapping unit: read-modify-write of partly written units", ("real",), _mapping_unit),
)
