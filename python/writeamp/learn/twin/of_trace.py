"""Fit of a real drive by its WA under a recorded load: op under each family."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from writeamp import traces
from writeamp.errors import RefusedError, WriteampError
from writeamp.learn.twin.chain import Chain, Phase
from writeamp.learn.twin.families import USUAL, Variant
from writeamp.learn.twin.fitting import Fit
from writeamp.learn.twin.likelihood import Floats, weigh
from writeamp.learn.twin.one_number import NOISE, windows_of_one
from writeamp.learn.twin.table import Grid, Table
from writeamp.runners import Runner, gather_whole, local_runner
from writeamp.runs.simulation_result import Result
from writeamp.settings.experiment import Experiment
from writeamp.studies.simulation import simulate_untimed
from writeamp.units.ratios import physical_of

# A trace is simulated once for each drive; its passes need not agree better than families do.
_PRECISION = 0.01
# A trace is long, and families differ by more than what lies between these.
GRID = Grid(unit_pages=(64, 256), op=tuple(0.05 * 1.9**at for at in range(5)))


def fit_trace(
    wa: float,
    trace: traces.Trace,
    *,
    noise: float = NOISE,
    runner: Runner | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """Return the drives that have this WA under a trace, each as large as what the trace writes.

    Args:
        wa: that the drive's counters tell of the time of the trace.
        trace: what the host wrote meanwhile.
        noise: relative standard deviation of that WA.
        runner: who simulates the candidates.
        progress: called with what is done of them.

    Raises:
        WriteampError: no candidate can serve it.
    """
    variants = tuple(family[len(family) // 2] for family in USUAL)
    jobs = [(variant, unit) for variant in variants for unit in GRID.unit_pages]
    work = partial(_simulated, trace, GRID.op)
    runner = runner or local_runner(len(jobs))
    of_all = gather_whole(runner, work, jobs, progress=progress)
    capacity_bytes = next((one[2] for one in of_all if one[2]), 0)
    if not capacity_bytes:
        raise WriteampError(
            f"what {trace.path} writes fills too few blocks of any candidate; give a longer trace"
        )
    shape = (len(variants), len(GRID.unit_pages), len(GRID.op))
    table = Table(
        variants,
        tuple(range(len(variants))),
        np.array(GRID.unit_pages, float),
        np.array([one[0] for one in of_all]).reshape(shape),
        np.array([one[1] for one in of_all]).reshape(*shape, 1),
    )
    windows = windows_of_one(
        Chain((Phase(f"trace {Path(trace.path).name}", (1.0,)),), capacity_bytes), wa
    )
    return Fit(windows, weigh(table, windows.wa, noise), variants)


def _simulated(
    trace: traces.Trace, ops: Sequence[float], job: tuple[Variant, int]
) -> tuple[Floats, Floats, int]:
    """Return spare space and WA of one variant and erase unit at every op, and the capacity."""
    variant, unit = job
    log_op, wa = np.full(len(ops), math.nan), np.full((len(ops), 1), math.nan)
    capacity_bytes = 0
    for at, op in enumerate(ops):
        found = _one(trace, variant, unit, op)
        if found is None:
            continue
        drive = found.device
        free = drive.physical_pages - variant.tied_blocks * unit
        if free <= drive.logical_pages:
            continue
        log_op[at] = math.log(free / drive.logical_pages - 1)
        wa[at] = found.wa
        capacity_bytes = drive.capacity_bytes
    return log_op, wa, capacity_bytes


def _one(trace: traces.Trace, variant: Variant, unit: int, op: float) -> Result | None:
    """Return the run of one drive; None if there can be no such drive."""
    asked = Experiment.of(
        "simulate",
        trace=trace,
        op=op,
        pages_per_block=unit,
        manager=variant.manager,
        replicas=1,
        spread=False,
        precision=_PRECISION,
    )
    try:
        blocks = physical_of(_pages_of(asked), op) / unit
        return simulate_untimed(asked.with_settings(victims=variant.victims_on(blocks)))
    except RefusedError:
        return None


def _pages_of(asked: Experiment) -> int:
    """Return the logical pages of the drive that the trace just fills."""
    from writeamp.runs.inputs import prepare  # noqa: PLC0415 (slow)

    return prepare(asked).drive.logical_pages
