"""Over-provisioning for a requested write amplification (docs/required-op.md)."""

from __future__ import annotations

import math
import time
from functools import partial

from writeamp.files.output import AnyPath
from writeamp.runners import Progress, Runner, Shared
from writeamp.runs.simulation_result import Result
from writeamp.settings.experiment import Experiment
from writeamp.studies.op.curve_result import point
from writeamp.studies.op.drive_sizes import DriveSizes, drive_sizes
from writeamp.studies.op.expected_op import expected_op
from writeamp.studies.op.interval import OpInterval, op_interval
from writeamp.studies.op.probes import Probe, ProbeRuns, Probes
from writeamp.studies.op.required_op_result import RequiredOp, Rise
from writeamp.studies.op.search import find_crossing
from writeamp.studies.op.settings import TARGET_WA
from writeamp.studies.study import RunStore, keep_runs

_OPTION = "target_wa"


def run_required_op(
    experiment: Experiment,
    target_wa: float,
    progress: Progress | None = None,
    runner: Runner | None = None,
    keep: AnyPath | None = None,
) -> RequiredOp:
    """Search for the op at which a drive has a write amplification.

    Args:
        experiment: drive, load and policy, without a value of op, fill or spare_factor.
        target_wa: target write amplification, at least 1.
        progress: called with the work done and the expected total, in thousandths of a run.
        runner: runner of the simulations; by default threads of this process.
        keep: folder that stores each finished run; stored runs are not repeated.

    Raises:
        WriteampError: no op has that WA, or the experiment states op or is timed.
    """
    return keep_runs(
        keep, lambda store: _required_op(experiment, target_wa, progress, runner, store)
    )


def _required_op(
    experiment: Experiment,
    target_wa: float,
    progress: Progress | None,
    runner: Runner | None,
    store: RunStore,
) -> RequiredOp:
    started = time.perf_counter()
    target_wa = TARGET_WA.check("target_wa", target_wa)
    shared = Shared(drive_sizes(experiment, _OPTION), partial(drive_sizes, experiment, _OPTION))
    sizes = shared.value
    runs = ProbeRuns(shared, store, runner, experiment.input_files)
    probes = Probes(runs, target_wa, progress)
    crossing = find_crossing(probes)
    answer = crossing.nearest(target_wa)
    result = runs.with_error(answer.result)
    probes.error = result.substitute.error_of_wa
    interval = op_interval(probes, answer)
    other = crossing.other(answer)
    return RequiredOp(
        target_wa=target_wa,
        result=result,
        next_result=None if other is None else other.result,
        ci=_ops(sizes, interval),
        is_open=interval.is_open,
        rise=_rise(sizes, interval),
        theory=expected_op(sizes, target_wa, result.theory, result.held_pages),
        step_op=sizes.step_op,
        points=tuple(_point(probe, result) for probe in probes.in_order()),
        elapsed_s=time.perf_counter() - started,
    )


def _ops(sizes: DriveSizes, interval: OpInterval) -> tuple[float, float]:
    low, high = (
        math.nan if end is None else sizes.op(end) for end in (interval.low, interval.high)
    )
    return low, high


def _rise(sizes: DriveSizes, interval: OpInterval) -> Rise | None:
    if interval.rise is None:
        return None
    smaller, larger = interval.rise
    return Rise(sizes.op(smaller.blocks), smaller.wa, sizes.op(larger.blocks), larger.wa)


def _point(probe: Probe, answer: Result) -> dict[str, object]:
    # The scaling error is measured once, on the drive found. The errors of the other drives are
    # similar, so this one is used for all.
    return point(probe.result.with_error_of(answer)) | {"coarse": probe.is_coarse}
