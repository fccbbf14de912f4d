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
from writeamp.runs.runner import drives_that_fit, run
from writeamp.runs.series import flash_pages
from writeamp.runs.simulation_result import Result
from writeamp.runs.timed.result import TimedResult
from writeamp.runs.timed.run import run_timed
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import HeldTrace, PolicySettings, SimulationSettings
from writeamp.statistics.passes import FEWEST_PASSES
from writeamp.statistics.steady import analyse
from writeamp.studies.blame.changes import owners, without_tag, without_tags
from writeamp.studies.blame.result import Blame, Effect, TagRow
from writeamp.studies.blame.tagging import LEAST_SHARE, Tagging, tagged
from writeamp.studies.simulation import in_pages, plan_of

# A job is a kind of run and the number of a tag. The first job is the run of the whole trace.
_WHOLE, _WITHOUT, _OWN = "whole", "without", "own"
_Job = tuple[str, int]
_BASE: _Job = (_WHOLE, 0)

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
    """

    by: str
    tagging: Tagging
    plan: Plan
    drive: Device
    is_timed: bool

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
            settings = in_pages(settings, prepared.drive)
        plan = plan_of(prepared, experiment, policy_of(policy), settings)
        return BlameStudy(by, tagging, plan, prepared.drive, experiment.is_timed)

    @property
    def pages(self) -> traces.PageTrace:
        """The tagged trace in pages."""
        assert isinstance(self.plan.load, traces.PageTrace)
        return self.plan.load

    @cached_property
    def jobs(self) -> list[_Job]:
        """Jobs of the study: the run of the whole trace, and two runs for each large tag."""
        large = [tag for tag, share in enumerate(self.tagging.shares) if share >= LEAST_SHARE]
        return [_BASE, *((kind, tag) for tag in large for kind in (_WITHOUT, _OWN))]

    @property
    def in_words(self) -> str:
        """Number of the runs, as a sentence."""
        tags = (len(self.jobs) - 1) // 2
        return (
            f"{plural(len(self.jobs), 'run')}: the whole trace, and for {plural(tags, 'tag')} the "
            "trace without it and with a stream of its own for it"
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
        whole = _run(self, _BASE)
        if isinstance(whole, WriteampError):
            raise whole
        if not self._is_short(whole):
            return self._changed(whole, started, progress)
        plan = replace(self.plan, run=replace(self.plan.run, warmup=0))
        return replace(self, plan=plan)._changed(_from_start(whole, plan), started, progress)

    def _is_short(self, whole: DriveResult) -> bool:
        """Return whether a run with an automatic warm-up has too few passes to be steady."""
        is_short = 0 < whole.writes < FEWEST_PASSES * self.pages.host_pages
        return is_short and not whole.steady and self.plan.run.warmup == "auto"

    def _changed(self, whole: DriveResult, started: float, progress: Progress | None) -> Blame:
        """Run the changed runs in parallel, after the run of the whole trace."""

        def report(done: int, _: int) -> None:
            if progress:
                progress(done + 1, len(self.jobs))

        report(0, 0)
        _ = self.owners  # computed before the threads start
        changed = self.jobs[1:]
        runner = local_runner(len(changed), drives_that_fit(self.drive))
        outcomes = gather_whole(runner, partial(_run, self), changed, progress=report)
        return Blame(
            by=self.by,
            whole=whole,
            tags=tuple(_rows(self, whole, dict(zip(changed, outcomes, strict=True)))),
            runs=len(self.jobs),
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


def _run(study: BlameStudy, job: _Job) -> _Result | WriteampError:
    """Return the result of a job, or the reason why it is impossible."""
    plan = _plan(study, job)
    if isinstance(plan, WriteampError):
        return plan
    try:
        return run_timed(plan, study.drive) if study.is_timed else run(plan, study.drive)
    except WriteampError as error:
        return error


def _from_start(whole: _Result, plan: Plan) -> _Result:
    """Return a run that is not steady with its counts, WA and interval from the start on.

    `plan` is the plan of the same run without a warm-up.
    """
    host, flash = whole.samples["host_pages"], flash_pages(whole.samples)
    all_of_it = analyse(np.diff(host), np.diff(flash), warmup=0)
    state = replace(whole.steady_state, warmup_pages=0, wa=all_of_it.wa)
    if not math.isnan(state.ci_low):
        state = replace(state, ci_low=all_of_it.ci_low, ci_high=all_of_it.ci_high)
    return replace(whole, plan=plan, steady_state=state)


def _plan(study: BlameStudy, job: _Job) -> Plan | WriteampError:
    kind, tag = job
    if kind == _WITHOUT:
        others = without_tag(study.pages, tag)
        if others is None:
            return WriteampError("no other tag writes")
        share = others.host_pages / study.pages.host_pages
        return replace(study.plan, load=others, run=_shortened(study.plan.run, share))
    if kind == _OWN:
        own = np.zeros(study.drive.logical_pages, np.bool_)
        own[: study.owners.size] = study.owners == tag
        if not own.any():
            return WriteampError("another tag writes each of its pages more often")
        policy = replace(study.plan.policy, own_pages=own)
        return replace(study.plan, load=without_tags(study.pages), policy=policy)
    return study.plan


def _shortened(run: SimulationSettings, share: float) -> SimulationSettings:
    """Return the settings of a run over the same part of a trace that has a share of the writes."""
    lengths = {"writes": run.writes, "warmup": run.warmup, "host_bytes": run.host_bytes}
    changes: dict[str, Any] = {
        name: int(share * length) if name == "warmup" else max(1, int(share * length))
        for name, length in lengths.items()
        if isinstance(length, int)
    }
    return replace(run, **changes)


def _rows(
    study: BlameStudy, whole: DriveResult, of_job: Mapping[_Job, DriveResult | WriteampError]
) -> list[TagRow]:
    assert whole.by_tag is not None
    names = study.tagging.names
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
