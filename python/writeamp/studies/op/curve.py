"""Write amplification as a function of op: a simulation at each op (docs/required-op.md)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from writeamp.errors import Interrupted, WriteampError, placed
from writeamp.fields.domains import shown
from writeamp.files.output import AnyPath
from writeamp.runners import Progress, Runner, Shared, local_runner
from writeamp.runs.runner import drives_that_fit, run
from writeamp.runs.simulation_result import Result
from writeamp.settings.experiment import Experiment
from writeamp.studies.op.curve_result import CurvePoint, OpCurve
from writeamp.studies.op.drive_sizes import DriveCodec, DriveSizes, drive_sizes
from writeamp.studies.study import RunStore, keep_runs
from writeamp.theory.prediction import SweptParameter, parse_sweep
from writeamp.units.ratios import RATIOS, RatioLike, op_of

# Values of op: a list of numbers, a sweep, or its text such as "op=0.05:0.4:6".
SweepLike: TypeAlias = str | SweptParameter | Sequence[RatioLike]

_OPTION = "sweep"


def run_op_curve(
    experiment: Experiment,
    sweep: SweepLike,
    progress: Progress | None = None,
    runner: Runner | None = None,
    keep: AnyPath | None = None,
) -> OpCurve:
    """Simulate drives of one logical size at several op.

    Args:
        experiment: drive, load and policy, without a value of op, fill or spare_factor.
        sweep: text such as "op=0.05:0.4:6" (from, to, number of values) of op, fill or
            spare_factor; or a list of op.
        progress: called with the number of drives done and the total.
        runner: runner of the simulations; by default threads of this process.
        keep: folder that stores each finished run; stored runs are not repeated.

    Raises:
        WriteampError: a value is not a valid ratio, or the manager does not support a drive.
        Interrupted: Ctrl-C; it carries the curve of the finished points, or None.
    """
    return keep_runs(keep, lambda store: _op_curve(experiment, sweep, progress, runner, store))


def _op_curve(
    experiment: Experiment,
    sweep: SweepLike,
    progress: Progress | None,
    runner: Runner | None,
    store: RunStore,
) -> OpCurve:
    started = time.perf_counter()
    ratio, values = _ratio_and_values(sweep)
    sizes = drive_sizes(experiment, _OPTION)
    blocks_of = [sizes.blocks_for(_op(ratio, value)) for value in values]
    # Different op may round to the same number of blocks. That drive is run once.
    jobs = list(dict.fromkeys(blocks_of))
    if runner is None:
        runner = local_runner(len(jobs), drives_that_fit(sizes.drive(max(jobs))))

    def curve(results: Mapping[int, Result]) -> OpCurve:
        by_blocks = {
            jobs[index]: replace(result, plan=sizes.target_plan)
            for index, result in results.items()
        }
        points = [
            CurvePoint(value, by_blocks[blocks])
            for value, blocks in zip(values, blocks_of, strict=True)
            if blocks in by_blocks
        ]
        return OpCurve(
            ratio=ratio,
            points=tuple(points),
            elapsed_s=time.perf_counter() - started,
            unfinished=tuple(
                value
                for value, blocks in zip(values, blocks_of, strict=True)
                if blocks not in by_blocks
            ),
        )

    work = partial(_run_one, Shared(sizes, partial(drive_sizes, experiment, _OPTION)))
    try:
        results = store.gather(
            DriveCodec(sizes, is_restated=True),
            runner,
            work,
            jobs,
            files=experiment.input_files,
            progress=progress,
        )
    except Interrupted as stopped:
        partial_curve = curve(stopped.finished)
        raise Interrupted(partial_curve if partial_curve.points else None) from None
    return curve(dict(enumerate(results)))


def _ratio_and_values(sweep: SweepLike) -> tuple[str, tuple[float, ...]]:
    """Return the ratio that is varied ("op", "fill" or "spare_factor"), and its values."""
    if isinstance(sweep, str):
        sweep = parse_sweep(sweep, RATIOS)
    if isinstance(sweep, SweptParameter):
        if sweep.name not in RATIOS:
            raise WriteampError(
                f"sweep varies {sweep.name}; it must vary one of {', '.join(RATIOS)}"
            )
        return sweep.name, sweep.values
    try:
        values = tuple(op_of(op=value) for value in sweep)
    except TypeError:
        raise WriteampError(
            f"sweep is {shown(sweep)}; it must be text such as op=0.05:0.4:6, or a list of op"
        ) from None
    if not values:
        raise WriteampError("sweep is empty; give at least one op")
    if None in values:
        raise WriteampError(f"sweep is {shown(sweep)}; every op must be a number, not None")
    return "op", tuple(float(value) for value in values if value is not None)


def _op(ratio: str, value: float) -> float:
    # A positive op needs no check, because the ends of a sweep were checked when it was parsed.
    op = value if ratio == "op" and value > 0 else op_of(**{ratio: value})
    assert op is not None
    return op


def _run_one(shared: Shared[DriveSizes], blocks: int) -> Result:
    """Run one drive; return its result without the trace."""
    sizes = shared.value
    drive = sizes.drive(blocks)
    try:
        result = sizes.with_error(run(sizes.plan, drive))
    except WriteampError as error:
        raise placed(f"at op {drive.op:.4g}", error) from None
    return replace(result, plan=sizes.target_plan.without_requests())
