"""Runner of plans: determines the length of a run and its replicas, and judges the result."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import partial

import psutil

from writeamp.devices.device import Device
from writeamp.errors import WriteampError
from writeamp.registry.specs import Spec
from writeamp.runners import Progress, gather_whole, local_runner, report_wa
from writeamp.runs.loads import writes_in_all
from writeamp.runs.plan import FIRST_DRIVE_WRITES, MEMORY_TIMES, Plan, is_as_needed, most_passes
from writeamp.runs.refusals import check_memory
from writeamp.runs.simulation_result import Result
from writeamp.runs.spread import Spread
from writeamp.runs.steadiness_checks import (
    check_loop,
    check_passes,
    check_turnovers,
    loop_effect,
)
from writeamp.runs.team import Scout, Team
from writeamp.settings.settings import Warmup
from writeamp.statistics.judging import FEWEST_CYCLES, Schedule
from writeamp.statistics.passes import FEWEST_PASSES, analyse_passes
from writeamp.statistics.steady import SteadyState
from writeamp.traces.pages import PageTrace

# An automatic run grows by half its length until it is steady and precise enough, or until it
# reaches a limit of host pages. The limit is this multiple of the drive's physical pages, but at
# least `_MOST_PAGES_AT_ONCE` pages, which take a second or two.
_MOST_DRIVE_WRITES = 200
_MOST_PAGES_AT_ONCE = 50_000_000
_GROWTH = 1.5
_SAMPLES_PER_DRIVE_WRITE = 25
_SAMPLES_OF_A_FIXED_RUN = 400
_MOST_SAMPLES = 20_000
# A trace is repeated until the half width of WA's interval is at most this share of WA. The first
# check needs a minimum number of passes, because the interval of fewer passes is so wide that later
# passes can hardly contradict it.
_PRECISION_OF_PASSES = 0.005
_FIRST_PASSES = 2 * FEWEST_PASSES

# One of the replicas runs longer by this factor, since a drive may stay in a temporary state for
# some drive writes. Replicas end after `_MOST_OF_REPLICAS` drive writes, but not before
# `_MOST_PAGES_OF_REPLICAS` host pages.
_LOOK_AHEAD = 3
_MOST_OF_REPLICAS = 64
_MOST_PAGES_OF_REPLICAS = 10_000_000


def run(plan: Plan, drive: Device, progress: Progress | None = None) -> Result:
    """Run the plan on a drive, with replicas if requested; return the requested run's result."""
    started = time.perf_counter()
    check_memory("the drive needs", drive.geometry.bytes_needed(drive.logical_pages))
    # A trace has no random draws, so replicas would be equal, and a single run is enough.
    replicas = plan.run.replicas if isinstance(plan.load, Spec) else 1
    fitting_runs = drives_that_fit(drive)
    if fitting_runs < replicas:
        note = (
            f"WA is judged by {fitting_runs} of {replicas} runs, because memory is too small for "
            "more drives"
        )
        plan = replace(plan, notes=(*plan.notes, note))
    team = Team(plan, drive, min(replicas, fitting_runs), progress)
    if not isinstance(plan.load, Spec):
        steady = _replay(team, plan.load)
    elif plan.run.writes is None:
        steady = _run_until_steady(team)
    else:
        steady = _run_exactly(team, plan.run.writes)
    return team.first.result(steady, elapsed_s=time.perf_counter() - started)


def spread_over_sizes(plan: Plan, drive: Device, result: Result) -> Spread:
    """Rerun a plan on drives with one block less and one block more in each plane.

    A trace is repeated as often as in `result`. A looped trace or a sequential stream can lock in
    phase with garbage collection. WA then jumps with the size of the drive, which the confidence
    interval of one run does not show. For a trace, the three drives have the same logical size. For
    a synthetic workload they have the same op, since the phase of a sequential stream depends on
    the stream's length.
    """
    is_synthetic = isinstance(plan.load, Spec)
    if is_synthetic:
        plan = replace(plan, run=replace(plan.run, replicas=1))
    elif is_as_needed(plan):
        plan = replace(plan, host=replace(plan.host, repeat=result.passes.height))
    neighbours = [drive.with_extra_blocks(extra, keeps_op=is_synthetic) for extra in (-1, 1)]
    runner = local_runner(len(neighbours), most=drives_that_fit(drive))
    smaller, larger = gather_whole(runner, partial(_wa_on, plan), neighbours)
    smallest_op, largest_op = (neighbour.op for neighbour in neighbours)
    return Spread(smaller, result.wa, larger, smallest_op, largest_op)


def _wa_on(plan: Plan, drive: Device) -> float:
    try:
        return run(plan, drive).wa
    except WriteampError:  # with one block less, the drive can be too small for its manager
        return math.nan


def drives_that_fit(drive: Device) -> int:
    """Return how many drives like this fit in memory, at least one."""
    needed_bytes = drive.geometry.bytes_needed(drive.logical_pages)
    return max(1, int(psutil.virtual_memory().available // needed_bytes))


def _run_exactly(team: Team, writes: int, *, unless_given: Warmup = "auto") -> SteadyState:
    """Run `writes` host pages; a sample ends exactly at the end of a given warm-up."""
    warmup = team.plan.run.warmup
    warmup = unless_given if warmup == "auto" else warmup
    interval = _interval_pages(team.drive, writes)
    if warmup != "auto" and warmup >= writes:
        raise WriteampError(
            f"warmup is {warmup}, but there are only {writes} writes; use a smaller warmup"
        )
    if warmup != "auto" and warmup:
        team.start_series(interval)
        team.advance_to(warmup, writes, warmup, warmup)
    team.start_series(interval)
    _advance_to(team, writes)
    return check_turnovers(team.judge(warmup), team.first.times_programmed())


def _run_until_steady(team: Team) -> SteadyState:
    """Run until the result is steady and as precise as requested, or the limit is reached."""
    if team.plan.run.warmup != "auto":
        raise WriteampError("a given warmup needs writes too; give writes, or use warmup auto")
    logical_pages, physical_pages = team.drive.logical_pages, team.drive.physical_pages
    most = max(_MOST_DRIVE_WRITES * physical_pages, _MOST_PAGES_AT_ONCE)
    interval = max(logical_pages // _SAMPLES_PER_DRIVE_WRITE, _MOST_PAGES_AT_ONCE // _MOST_SAMPLES)
    team.start_series(interval)
    first_samples = FIRST_DRIVE_WRITES * _SAMPLES_PER_DRIVE_WRITE
    target = max(FIRST_DRIVE_WRITES * physical_pages, first_samples * interval)
    target = min(max(target, _pages_of_changes(team.first.schedule())), most)
    while True:
        _advance_to(team, target)
        steady = check_turnovers(team.judge(), team.first.times_programmed())
        report_wa(steady.wa, steady.own_half_width)
        is_precise = steady.own_half_width <= team.plan.run.precision * steady.wa
        if (steady.steady and is_precise) or target >= most:
            return steady
        target = min(math.ceil(_GROWTH * target), most)


def _advance_to(team: Team, pages: int) -> None:
    """Advance the run to `pages` host pages, and its replicas as far or to their limit.

    The last replica advances `_LOOK_AHEAD` times as far, or to the same limit.
    """
    most = max(
        _MOST_OF_REPLICAS * team.drive.logical_pages,
        _MOST_PAGES_OF_REPLICAS,
        # Replicas must reach beyond the last change of the workload and beyond a requested warm-up,
        # because earlier writes do not count in the verdict.
        _pages_of_changes(team.first.schedule()),
        0 if team.plan.run.warmup == "auto" else 2 * team.plan.run.warmup,
    )
    end = writes_in_all(team.plan.load, team.plan.used_pages(team.drive), team.drive)
    most = min(most, end or most)
    team.advance_to(pages, pages, min(pages, most), min(_LOOK_AHEAD * pages, most))


def _pages_of_changes(schedule: Schedule) -> int:
    """Return the minimum length in host pages of a run over a workload with scheduled changes.

    It is twice the pages up to the last change that does not repeat, plus enough cycles of repeated
    changes. The factor 2 allows for a warm-up of half the run.
    """
    return math.ceil(2 * (schedule.last_change + FEWEST_CYCLES * schedule.cycle))


def _replay(team: Team, trace: PageTrace) -> SteadyState:
    """Replay a trace; mark the run as not steady if the loop over the trace determines WA."""
    if is_as_needed(team.plan):
        return _repeat_until_alike(team, trace)
    steady = _judged_by_passes(team, trace.host_pages)
    if team.plan.expected_writes(team.drive) <= trace.host_pages:
        return _with_loop_effect(steady, team, trace)
    return check_loop(steady, trace, team.drive, team.first.simulation.mapped_pages())


def _with_loop_effect(steady: SteadyState, team: Team, trace: PageTrace) -> SteadyState:
    """Return the verdict on one pass, with whether more passes would show the WA of the loop."""
    if steady.steady or team.plan.run.writes is not None:
        return steady
    effect = loop_effect(trace, team.drive, team.first.simulation.mapped_pages())
    return replace(steady, loop_decides=effect is not None)


def _repeat_until_alike(team: Team, trace: PageTrace) -> SteadyState:
    """Repeat a trace until its passes agree, or the limit of passes is reached.

    The trace is replayed only once if it is long enough, or if the loop would determine WA.
    """
    first, pass_pages = team.first, trace.host_pages
    most = most_passes(team.plan, team.drive)
    # The first pass is judged by its sampling intervals, since it may be the only pass.
    steady = _judged_by_passes(team, pass_pages)
    if first.times_programmed() >= MEMORY_TIMES or most == 1:
        return steady
    decided = loop_effect(trace, team.drive, first.simulation.mapped_pages())
    if decided is not None:
        reason = (
            f"{steady.reason}; more passes would show the WA of the loop, not of the workload: "
            f"{decided}"
        )
        return replace(steady, steady=False, reason=reason, loop_decides=True)
    scout = _scout(team)
    target, is_known = min(_FIRST_PASSES, most), False
    while not is_known and len(first.passes.flash_pages) < most:
        while len(first.passes.flash_pages) < target:
            _play_pass(team, pass_pages, target * pass_pages)
        previous, steady = steady, _judged_as_looped(team, pass_pages)
        report_wa(steady.wa, (steady.ci_high - steady.ci_low) / 2)
        # Test whether the WA of all passes is in the interval predicted by half as many passes. If
        # not, the drive still changes.
        is_broken = previous.steady and not previous.ci_low <= steady.wa <= previous.ci_high
        is_precise = steady.ci_high - steady.ci_low <= 2 * _PRECISION_OF_PASSES * steady.wa
        if is_broken and steady.steady:
            expected = f"{previous.ci_low:.4g} to {previous.ci_high:.4g}"
            reason = (
                f"half as many passes predicted a WA of {expected}, but all passes give "
                f"{steady.wa:.4g}"
            )
            steady = replace(steady, steady=False, reason=reason)
        is_known = previous.steady and steady.steady and is_precise
        is_known &= first.times_programmed() >= MEMORY_TIMES
        if scout and (is_known or target == most):
            steady = scout.confirmed(steady, pass_pages, target)
            is_known &= steady.steady
        target = min(2 * target, most)
    return check_loop(steady, trace, team.drive, first.simulation.mapped_pages())


def _scout(team: Team) -> Scout | None:
    """Return a look-ahead run if the block manager stores page histories and memory suffices."""
    needed_bytes = team.drive.geometry.bytes_needed(team.drive.logical_pages)
    has_room = psutil.virtual_memory().available >= needed_bytes
    remembers = team.first.simulation.scheme_bytes() > 0
    return Scout(team.first) if remembers and has_room else None


def _judged_by_passes(team: Team, pass_pages: int) -> SteadyState:
    """Replay a trace, and judge the run by its passes if there are enough complete passes."""
    total = team.plan.expected_writes(team.drive)
    passes, rest = divmod(total, pass_pages)
    if team.plan.run.warmup == "auto" and not rest and passes >= FEWEST_PASSES:
        for _ in range(passes):
            _play_pass(team, pass_pages, total)
        return _judged_as_looped(team, pass_pages)
    # An aged drive needs no warm-up, so the whole trace counts.
    steady = _run_exactly(team, total, unless_given=0 if team.first.ageing else "auto")
    whole_passes = team.first.passes.flash_pages[:passes]
    times = (
        whole_passes[0] / team.drive.physical_pages
        if whole_passes
        else team.first.times_programmed()
    )
    return check_passes(steady, pass_pages, whole_passes, times)


def _play_pass(team: Team, pass_pages: int, total: int) -> None:
    """Replay one pass with a series of samples that ends exactly with the pass."""
    team.start_series(_interval_pages(team.drive, total))
    end = team.first.done_pages + pass_pages
    team.advance_to(end, max(end, total), end, end)


def _judged_as_looped(team: Team, pass_pages: int) -> SteadyState:
    steady = analyse_passes(pass_pages, team.first.passes.flash_pages)
    return check_turnovers(steady, team.first.times_programmed())


def _interval_pages(drive: Device, writes: int) -> int:
    by_drive = drive.logical_pages // _SAMPLES_PER_DRIVE_WRITE
    fine = min(by_drive, writes // _SAMPLES_OF_A_FIXED_RUN)
    return max(1, fine, writes // _MOST_SAMPLES)
