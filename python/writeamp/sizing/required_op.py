"""How much over-provisioning a host needs for a write amplification (docs/required-op.md)."""

from __future__ import annotations

import math
import time

import numpy as np

from writeamp.domains import Number
from writeamp.experiments.experiment import Experiment
from writeamp.experiments.one_run import Progress
from writeamp.sizing.drive_sizes import DriveSizes, drive_sizes
from writeamp.sizing.expected_op import expected_op
from writeamp.sizing.interval import OpInterval, op_interval
from writeamp.sizing.points import point
from writeamp.sizing.probes import Probe, Probes
from writeamp.sizing.required_op_result import RequiredOp, Rise
from writeamp.sizing.search import find_crossing

_TARGET = Number("be a finite number, at least 1", lambda value: value >= 1)


def run_required_op(
    experiment: Experiment, target_wa: float, progress: Progress | None = None
) -> RequiredOp:
    """Search for the op at which a drive has a write amplification.

    Args:
        experiment: what to simulate, without a ratio of over-provisioning.
        target_wa: the write amplification, at least 1.
        progress: called with what is done and expected, in thousandths of a run.

    Raises:
        WriteampError: no op has that WA, or the experiment says the op or is timed.
    """
    started = time.perf_counter()
    target_wa = _TARGET.check("target_wa", target_wa)
    sizes = drive_sizes(experiment, "target_wa")
    probes = Probes(sizes, target_wa, progress)
    crossing = find_crossing(probes)
    answer = crossing.nearest(target_wa)
    interval = op_interval(probes, answer)
    other = crossing.other(answer)
    result = sizes.with_scaling(answer.result)
    error = result.scaling.error if result.scaling else 0.0
    low, high = _with_error(probes, _ops(sizes, interval), error)
    return RequiredOp(
        target_wa=target_wa,
        result=result,
        next_result=None if other is None else other.result,
        op_low=low,
        op_high=high,
        is_open=interval.is_open,
        rise=_rise(sizes, interval),
        theory=expected_op(sizes, target_wa, result.theory, result.held_pages),
        step_op=sizes.step_op,
        points=tuple(_point(one) for one in probes.in_order()),
        elapsed_s=time.perf_counter() - started,
    )


def _ops(sizes: DriveSizes, interval: OpInterval) -> tuple[float, float]:
    low, high = (
        math.nan if end is None else sizes.op(end) for end in (interval.low, interval.high)
    )
    return low, high


def _with_error(probes: Probes, interval: tuple[float, float], error: float) -> tuple[float, float]:
    """Return an interval of op that has room for an error of WA on either side."""
    low, high = interval
    if math.isnan(low) or not error > 0:
        return interval
    tried = probes.in_order()[::-1]  # so that WA mostly rises
    ops = [probes.sizes.op(one.blocks) for one in tried]
    levels = np.maximum.accumulate([one.level for one in tried])
    ends = np.interp([probes.target_wa + error, probes.target_wa - error], levels, ops)
    return min(low, float(ends[0])), max(high, float(ends[1]))


def _rise(sizes: DriveSizes, interval: OpInterval) -> Rise | None:
    if interval.rise is None:
        return None
    smaller, larger = interval.rise
    return Rise(sizes.op(smaller.blocks), smaller.wa, sizes.op(larger.blocks), larger.wa)


def _point(probe: Probe) -> dict[str, object]:
    return point(probe.result) | {"coarse": probe.is_coarse}
