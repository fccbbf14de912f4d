"""Functions `required_op` (op for a target WA) and `wa_over_op` (WA at several op)."""

from __future__ import annotations

from typing import Unpack

from writeamp.devices.device import DeviceLike
from writeamp.fields.shown_settings import with_settings_of
from writeamp.files.output import AnyPath
from writeamp.registry.specs import SpecLike
from writeamp.runners import Progress, Runner, check_callbacks
from writeamp.settings.experiment import Experiment, untimed_places
from writeamp.studies.arguments import SimulateArguments
from writeamp.studies.op.curve import SweepLike, run_op_curve
from writeamp.studies.op.curve_result import OpCurve
from writeamp.studies.op.required_op import run_required_op
from writeamp.studies.op.required_op_result import RequiredOp

_VARIED = ("op", "fill", "spare_factor", "blocks")
_PLACES = {name: place for name, place in untimed_places().items() if name not in _VARIED}


@with_settings_of(_PLACES)
def required_op(
    target_wa: float,
    device: DeviceLike | None = None,
    workload: SpecLike | None = None,
    *,
    progress: Progress | None = None,
    runner: Runner | None = None,
    keep: AnyPath | None = None,
    **settings: Unpack[SimulateArguments],
) -> RequiredOp:
    """Find the over-provisioning at which a drive has a write amplification, by simulation.

    All drives have the same logical size. Drives with more and fewer whole blocks are run with the
    same random draws, until the target WA lies between the WA of two neighbours
    (docs/required-op.md). `writeamp.models.required_op` uses theory only.

    Args:
        target_wa: target write amplification, at least 1.
        device: `device` and `workload` are as for `simulate`. The op of the device is not used; its
            logical size is the size of all drives. Without a device, a trace's written pages are
            the logical size.
        workload: see `device`.
        progress: called with the work done and the expected total, in thousandths of a run.
        runner: runner of the simulations, as for `wa_over_op`.
        keep: folder that stores each finished run; stored runs are not repeated.
        settings: settings of untimed runs of `simulate`, except those of op; listed below.

    Returns:
        `RequiredOp`: `op` with `ci`, `wa` there, `result` (its simulation), `points` and `tried`
        (all drives).

    Raises:
        WriteampError: no op has that WA, or an input is invalid.

    >>> import writeamp as wa
    >>> result = wa.required_op(2.0, logical_pages=4096, pages_per_block=16, precision=0.005)
    >>> bool(result.ci[0] <= result.op <= result.ci[1]), round(result.op, 1)
    (True, 0.3)
    """
    check_callbacks(progress, runner)
    experiment = Experiment.of("simulate", device=device, workload=workload, **settings)
    return run_required_op(experiment, target_wa, progress, runner, keep)


@with_settings_of(_PLACES)
def wa_over_op(
    sweep: SweepLike,
    device: DeviceLike | None = None,
    workload: SpecLike | None = None,
    *,
    progress: Progress | None = None,
    runner: Runner | None = None,
    keep: AnyPath | None = None,
    **settings: Unpack[SimulateArguments],
) -> OpCurve:
    """Simulate drives of one logical size at several over-provisionings.

    Args:
        sweep: values of op, or text such as "op=0.05:0.4:6" of op, fill or spare_factor. Each drive
            has the fewest whole blocks with at least that op.
        device: `device` and `workload` are as for `required_op`.
        workload: see `device`.
        progress: called with the number of drives done and the total.
        runner: runner of the simulations, a `writeamp.runners.Runner`; by default this process,
            several drives at a time.
        keep: folder that stores each finished run; stored runs are not repeated.
        settings: as for `required_op`; listed below.

    Returns:
        `OpCurve`: `points` (each with its `result`), `results`, `to_frame()`, `plot()`.

    Raises:
        WriteampError: an input is invalid; the message names it and the valid values.

    >>> import writeamp as wa
    >>> curve = wa.wa_over_op([0.25, 0.5], logical_pages=4096, pages_per_block=16, writes=200_000)
    >>> curve.to_frame()["op"].to_list()
    [0.25, 0.5]
    """
    check_callbacks(progress, runner)
    experiment = Experiment.of("simulate", device=device, workload=workload, **settings)
    return run_op_curve(experiment, sweep, progress, runner, keep)
