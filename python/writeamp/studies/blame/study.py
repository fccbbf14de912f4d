"""Study of `blame`: a run with tags, and two changed runs for each tag."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp import traces
from writeamp.devices.device import Device
from writeamp.devices.device import device as build_device
from writeamp.errors import WriteampError
from writeamp.results.numbers import plural
from writeamp.runners import Progress, gather_whole, local_runner
from writeamp.runs.drive_result import DriveResult
from writeamp.runs.inputs import prepare
from writeamp.runs.plan import Plan, policy_of
from writeamp.runs.runner import drives_that_fit, run, spread_over_sizes
from writeamp.runs.series import flash_pages
from writeamp.runs.simulation_result import Result
from writeamp.runs.timed.result import TimedResult
from writeamp.runs.timed.run import run_timed
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import HeldTrace, PolicySettings, SimulationSettings, Warmup
from writeamp.statistics.passes import FEWEST_PASSES
from writeamp.statistics.steady import analyse
from writeamp.studies.blame.changes import length_without, owners, without_tag, without_tags
from writeamp.studies.blame.result import Blame, Effect, TagRow
from writeamp.studies.simulation import in_pages, plan_of
from writeamp.traces.tagging import LEAST_SHARE, Tagging, tagged

# A job is a kind of changed run and the number of a tag.
_WITHOUT, _OWN = "without", "own"
_Job = tuple[str, int]

_Result: TypeAlias = Result | TimedResult


@dataclass(frozen=True)
class BlameStudy:
    """Runs of one tagged trace on one drive.

    Attributes:
        by: division of the requests, as in `BlameSettings`.
        tagging: the tags, with their shares of the trace's written bytes.
        plan: plan of the run of the whole trace.
        drive: the drive of all runs.
        is_timed: whether the runs are in virtual time.
        is_fitted: whether the size of the drive is that of the trace, because none was given.
    """

    by: str
    tagging: Tagging
    plan: Plan
    drive: Device
    is_timed: bool
    is_fitted: bool

    @staticmethod
    def of(experiment: Experiment, by: str) -> BlameStudy:
        """Read the trace, and prepare the runs.

        Raises:
            WriteampError: the trace has no such tags, or an input is invalid.
        """
        settings, policy = experiment.run, experiment.policy
        assert isinstance(settings, SimulationSettings)
        assert isinstance(policy, PolicySettings)
        trace = _read(experiment)
        tagging = tagged(trace, by, experiment.load.trace_device)
        with_tags = replace(trace, tags=tagging.codes, tag_names=tagging.names)
        load = {"trace": with_tags, "trace_device": experiment.load.trace_device}
        experiment = experiment.with_settings(**load)
        prepared = prepare(experiment)
        prepared.drive.check_flash()
        if not experiment.is_timed:
            settings = in_pages(settings, prepared)
        plan = plan_of(prepared, experiment, policy_of(policy), settings)
        return BlameStudy(
            by=by,
            tagging=tagging,
            plan=plan,
            drive=prepared.drive,
            is_timed=experiment.is_timed,
            is_fitted=not experiment.device.is_sized,
        )

    @property
    def pages(self) -> traces.PageTrace:
        """The tagged trace in pages."""
        assert isinstance(self.plan.load, traces.PageTrace)
        return self.plan.load

    @cached_property
    def jobs(self) -> list[_Job]:
        """Jobs after the run of the whole trace: two changed runs for each large tag.

        Without the only tag, nothing remains to run.
        """
        large = [tag for tag, share in enumerate(self.tagging.shares) if share >= LEAST_SHARE]
        kinds = (_OWN,) if self._has_one_tag else (_WITHOUT, _OWN)
        return [(kind, tag) for tag in large for kind in kinds]

    @property
    def _has_one_tag(self) -> bool:
        return len(self.tagging.names) == 1

    @property
    def run_count(self) -> int:
        """Number of runs, with those on drives one block smaller and larger."""
        return len(self.jobs) + (1 if self.is_timed else 3)

    @property
    def in_words(self) -> str:
        """Number of the runs, as a sentence."""
        tags = plural(len({tag for _, tag in self.jobs}), "tag")
        without = "" if self._has_one_tag else "without it and "
        sizes = "" if self.is_timed else " (also on drives one block smaller and larger)"
        return (
            f"{plural(self.run_count, 'run')}: the whole trace{sizes}, and for {tags} the trace "
            f"{without}with a stream of its own for it"
        )

    @cached_property
    def owners(self) -> npt.NDArray[np.uint8]:
        """Tag that owns each logical page."""
        return owners(self.pages, len(self.tagging.names))

    def run(self, progress: Progress | None = None) -> Blame:
        """Run the whole trace, then the changed runs in parallel; return the flash writes of tags.

        If the trace is too short to be steady, all runs are counted from its start. The warm-up
        would leave out up to half of the trace, and with it the writes of some tags.

        Raises:
            WriteampError: the run of the whole trace is impossible.
            KeyboardInterrupt: Ctrl-C.
        """
        started = time.perf_counter()
        whole = _run_whole(self)
        if _is_short(whole):
            plan = _with_warmup(self.plan, 0)
            whole = _counted_after(whole, plan, 0)
        else:
            plan = _with_warmup(self.plan, self._common_warmup(whole))
        return replace(self, plan=plan)._changed(whole, started, progress)

    def _common_warmup(self, whole: DriveResult) -> Warmup:
        """Return the warm-up of all runs, so that all count the same part of the trace.

        Runs of several passes have warm-ups of their own, which are whole passes.
        """
        warmup = self.plan.run.warmup
        passes, rest = divmod(whole.writes, self.pages.host_pages)
        is_of_passes = not self.is_timed and not rest and passes >= FEWEST_PASSES
        return warmup if warmup != "auto" or is_of_passes else whole.warmup_pages

    def _changed(self, whole: DriveResult, started: float, progress: Progress | None) -> Blame:
        """Run the changed runs in parallel, after the run of the whole trace."""

        def report(done: int, _: int) -> None:
            if progress:
                progress(done + self.run_count - len(self.jobs), self.run_count)

        report(0, 0)
        _ = self.owners  # computed before the threads start
        runner = local_runner(len(self.jobs), drives_that_fit(self.drive))
        outcomes = gather_whole(runner, partial(_run, self), self.jobs, progress=report)
        return Blame(
            by=self.by,
            whole=whole,
            tags=tuple(_rows(self, whole, dict(zip(self.jobs, outcomes, strict=True)))),
            runs=self.run_count,
            is_fitted=self.is_fitted,
            elapsed_s=time.perf_counter() - started,
        )


def _read(experiment: Experiment) -> traces.Trace:
    load = experiment.load
    if load.trace is None:
        raise WriteampError("blame needs a trace; give one")
    if not isinstance(load.trace, HeldTrace):
        return traces.read(load.trace, load.trace_format, action=load.action, origins=True)
    if isinstance(load.trace.trace, traces.PageTrace):
        raise WriteampError(
            "blame needs a trace of bytes, whose requests have origins; give the traces.Trace"
        )
    device = experiment.device
    page_bytes = device.page_bytes or build_device(device.base).page_bytes
    return traces.of(load.trace.trace, page_bytes=page_bytes)


def _run_whole(study: BlameStudy) -> _Result:
    """Run the whole trace; untimed also on drives one block smaller and larger."""
    if study.is_timed:
        return run_timed(study.plan, study.drive)
    result = run(study.plan, study.drive)
    plan = replace(study.plan, load=without_tags(study.pages))
    return replace(result, spread=spread_over_sizes(plan, study.drive, result))


def _run(study: BlameStudy, job: _Job) -> _Result | WriteampError:
    """Return the result of a job, or the reason why it is impossible."""
    plan = _plan(study, job)
    if isinstance(plan, WriteampError):
        return plan
    try:
        result = _run_timed(plan, study.drive) if study.is_timed else run(plan, study.drive)
    except WriteampError as error:
        return error
    return _counted_after(result, plan, 0) if _is_short(result) else result


def _run_timed(plan: Plan, drive: Device) -> _Result:
    """Run a plan in virtual time; a number of pages as warm-up is cut from its counts."""
    warmup = plan.run.warmup
    if warmup in ("auto", 0):
        return run_timed(plan, drive)
    assert isinstance(warmup, int)
    return _counted_after(run_timed(_with_warmup(plan, "auto"), drive), plan, warmup)


def _with_warmup(plan: Plan, warmup: Warmup) -> Plan:
    return replace(plan, run=replace(plan.run, warmup=warmup))


def _is_short(result: DriveResult) -> bool:
    """Return whether a run with an automatic warm-up has too few passes to be steady."""
    load = result.load
    assert isinstance(load, traces.PageTrace)
    is_short = 0 < result.writes < FEWEST_PASSES * load.host_pages
    return is_short and not result.steady and result.plan.run.warmup == "auto"


def _counted_after(result: _Result, plan: Plan, warmup: int) -> _Result:
    """Return a run with its counts, WA and interval after a number of host pages.

    `plan` is the plan of the same run with this warm-up.
    """
    host, flash = result.samples["host_pages"], flash_pages(result.samples)
    if warmup >= host[-1]:
        return result
    # Warm-ups end at the next sample.
    warmup = int(host[np.searchsorted(host, warmup)])
    rest = analyse(np.diff(host), np.diff(flash), warmup=warmup)
    state = replace(result.steady_state, warmup_pages=warmup, wa=rest.wa)
    if not math.isnan(state.ci_low):
        state = replace(state, ci_low=rest.ci_low, ci_high=rest.ci_high)
    return replace(result, plan=plan, steady_state=state)


def _plan(study: BlameStudy, job: _Job) -> Plan | WriteampError:
    kind, tag = job
    if kind == _WITHOUT:
        return _plan_without(study, tag)
    own = np.zeros(study.drive.logical_pages, np.bool_)
    own[: study.owners.size] = study.owners == tag
    if not own.any():
        return WriteampError("another tag writes each of its pages more often")
    policy = replace(study.plan.policy, own_pages=own)
    return replace(study.plan, load=without_tags(study.pages), policy=policy)


def _plan_without(study: BlameStudy, tag: int) -> Plan | WriteampError:
    """Return the plan of a run without a tag, over the same part of the trace."""
    pages, run = study.pages, study.plan.run
    others = without_tag(pages, tag)
    if others is None:
        return WriteampError("no other tag writes")
    # In a timed run, `writes` limits bytes.
    unit_bytes = pages.page_bytes if study.is_timed else 1
    changes: dict[str, Any] = {}
    if isinstance(run.host_bytes, int):
        changes["host_bytes"] = length_without(pages, tag, run.host_bytes, in_bytes=True)
    if run.writes is not None:
        limit = run.writes * unit_bytes
        length = length_without(pages, tag, limit, in_bytes=study.is_timed)
        changes["writes"] = -(-length // unit_bytes)
    end = min(changes.values(), default=others.host_pages * study.plan.repeat)
    if isinstance(run.warmup, int):
        changes["warmup"] = length_without(pages, tag, run.warmup)
    if changes.get("warmup", 0) >= end:
        return WriteampError("no other tag writes in the counted part of the trace")
    return replace(study.plan, load=others, run=replace(run, **changes))


def _rows(
    study: BlameStudy, whole: DriveResult, of_job: Mapping[_Job, DriveResult | WriteampError]
) -> list[TagRow]:
    assert whole.by_tag is not None
    names = study.tagging.names
    if len(names) == 1:
        of_job = {(_WITHOUT, 0): WriteampError("no other tag writes"), **of_job}
    rows = []
    for at, counts in enumerate(whole.by_tag.iter_rows(named=True)):
        effects = [
            _effect(whole, of_job.get((kind, at)), is_tag=at < len(names))
            for kind in (_WITHOUT, _OWN)
        ]
        rows.append(TagRow.of(counts, whole, *effects))
    return rows


def _effect(
    whole: DriveResult, result: DriveResult | WriteampError | None, *, is_tag: bool
) -> Effect:
    """Return the WA of a changed run, or why it has none."""
    if result is None:
        less = f"the tag has less than {LEAST_SHARE:.1%} of the written bytes"
        elsewhere = "these pages are not of the trace"
        return Effect(reason=less if is_tag else elsewhere, was_run=False)
    if isinstance(result, WriteampError):
        return Effect(reason=str(result))
    if whole.steady and math.isnan(result.ci[0]):
        return Effect(reason=f"WA is not steady: {result.steady_state.reason}")
    reason = None if result.steady else result.steady_state.reason
    return Effect(result.wa, result.ci, is_steady=result.steady, reason=reason)
