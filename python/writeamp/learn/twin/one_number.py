"""Fit of a twin to a single WA under a workload or a trace: the drives that it allows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from writeamp import traces
from writeamp.errors import RefusedError, WriteampError
from writeamp.fields.domains import Number
from writeamp.learn.twin.chain import PAGE_BYTES, Chain, Phase
from writeamp.learn.twin.families import USUAL, Variant
from writeamp.learn.twin.fitting import Fit
from writeamp.learn.twin.likelihood import Floats, weigh
from writeamp.learn.twin.serving import LOGICAL_PAGES, Grid
from writeamp.learn.twin.settings import STEADY_WA
from writeamp.learn.twin.table import CandidateTable, table_of
from writeamp.learn.twin.windows import Windows
from writeamp.runners import Progress, Runner, gather_whole, local_runner
from writeamp.runs.simulation_result import Result
from writeamp.settings.experiment import Experiment
from writeamp.studies.simulation import simulate_untimed
from writeamp.units.ratios import physical_of

# Lengths of the warm-up and of the whole run, in drive writes.
_WARMUP_DRIVE_WRITES, _DRIVE_WRITES = 4.0, 7.0
# Candidates for the fit of a single WA. One WA cannot determine the erase unit, so two erase units
# suffice. It determines op only for a given family (pair of placement and victim policy).
GRID = Grid(unit_pages=(64, 256), op=tuple(0.03 * 1.55**at for at in range(8)))
# Assumed relative noise of a WA that the user gives, which usually is an average over some days
# with three digits.
NOISE = 0.01


def fit_one(
    wa: float,
    workload: str = "uniform",
    *,
    capacity_bytes: int | None = None,
    runner: Runner | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Return the drives that have this steady WA under a workload, each family with its own op.

    Args:
        wa: steady write amplification.
        workload: the workload, by its spec.
        capacity_bytes: capacity of the drive; by default 512 MiB, since the result does not depend
            on it.
        runner: simulates the candidates.
        progress: called with the number of finished simulations, and of all.

    Returns:
        `Fit`; see `fit`.
    """
    wa = STEADY_WA.check("wa", wa)
    chain = Chain(
        (Phase(workload, (_WARMUP_DRIVE_WRITES, _DRIVE_WRITES)),),
        capacity_bytes or LOGICAL_PAGES * PAGE_BYTES,
    )
    families = [family[len(family) // 2 :][:1] for family in USUAL]
    table = table_of(chain, grid=GRID, families=families, runner=runner, progress=progress)
    windows = windows_of_one(chain, wa)
    return Fit(windows, weigh(table, windows.wa, NOISE), table.variants)


def windows_of_one(chain: Chain, wa: float) -> Windows:
    """Return windows of a chain in which only the last window is measured, with a given WA."""
    return Windows(
        chain,
        np.zeros(1, int),
        np.array([chain.windows - 1]),
        np.array([chain.capacity_bytes], float),
        np.array([chain.capacity_bytes * wa]),
    )


# Counters with coarse units can give a WA just below 1, so any WA above 0 is valid.
_ANY_WA = Number("be above 0", lambda value: value > 0)
# Setting `precision` of the runs. A trace is simulated once per drive, so it adds no runs.
_TRACE_PRECISION = 0.01
# The grid for traces is coarser, because a trace takes long to simulate, and families differ by
# more than the steps of this grid.
TRACE_GRID = Grid(unit_pages=(64, 256), op=tuple(0.05 * 1.9**at for at in range(5)))


def fit_trace(
    wa: float,
    trace: traces.Trace,
    *,
    noise: float = NOISE,
    runner: Runner | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Return the drives that have this WA under a trace; the trace sets their capacity.

    Args:
        wa: WA from the drive's counters during the trace.
        trace: the host's requests between the two readings of the counters.
        noise: relative standard deviation of `wa`.
        runner: simulates the candidates.
        progress: called with the number of finished simulations, and of all.

    Returns:
        `Fit`; see `fit`.

    Raises:
        WriteampError: `wa` is not above 0, or no candidate can serve the trace.
    """
    wa = _ANY_WA.check("wa", wa)
    variants = tuple(family[len(family) // 2] for family in USUAL)
    jobs = [(variant, unit) for variant in variants for unit in TRACE_GRID.unit_pages]
    work = partial(_simulated_under, trace, TRACE_GRID.op)
    runner = runner or local_runner(len(jobs))
    of_all = gather_whole(runner, work, jobs, progress=progress)
    capacity_bytes = next((curve[2] for curve in of_all if curve[2]), 0)
    if not capacity_bytes:
        raise WriteampError(
            f"the pages that {trace.path} writes fill too few blocks of each candidate drive; "
            "give a trace that writes more distinct pages"
        )
    shape = (len(variants), len(TRACE_GRID.unit_pages), len(TRACE_GRID.op))
    table = CandidateTable(
        variants,
        tuple(range(len(variants))),
        np.array(TRACE_GRID.unit_pages, float),
        np.array([curve[0] for curve in of_all]).reshape(shape),
        np.array([curve[1] for curve in of_all]).reshape(*shape, 1),
    )
    windows = windows_of_one(
        Chain((Phase(f"trace {Path(trace.path).name}", (1.0,)),), capacity_bytes), wa
    )
    return Fit(windows, weigh(table, windows.wa, noise), variants)


def _simulated_under(
    trace: traces.Trace, ops: Sequence[float], job: tuple[Variant, int]
) -> tuple[Floats, Floats, int]:
    """Return ln of spare space, WA, and the capacity in bytes, for one variant and erase unit.

    The first two have a value for each op, NaN where the drive has too few spare blocks to run. The
    capacity is 0 if no drive can run.
    """
    variant, unit = job
    log_op, wa = np.full(len(ops), math.nan), np.full((len(ops), 1), math.nan)
    capacity_bytes = 0
    for at, op in enumerate(ops):
        run = _run_of(trace, variant, unit, op)
        if run is None:
            continue
        drive = run.device
        free = drive.physical_pages - variant.tied_blocks * unit
        if free <= drive.logical_pages:
            continue
        log_op[at] = math.log(free / drive.logical_pages - 1)
        wa[at] = run.wa
        capacity_bytes = drive.capacity_bytes
    return log_op, wa, capacity_bytes


def _run_of(trace: traces.Trace, variant: Variant, unit: int, op: float) -> Result | None:
    """Return the run of one drive; None if the drive has too few spare blocks to run."""
    experiment = Experiment.of(
        "simulate",
        trace=trace,
        op=op,
        pages_per_block=unit,
        manager=variant.manager,
        replicas=1,
        spread=False,
        precision=_TRACE_PRECISION,
    )
    try:
        blocks = physical_of(_pages_of(experiment), op) / unit
        return simulate_untimed(experiment.with_settings(victims=variant.victims_on(blocks)))
    except RefusedError:
        return None


def _pages_of(experiment: Experiment) -> int:
    """Return the number of logical pages of a drive that the trace's data exactly fills."""
    from writeamp.runs.inputs import prepare  # noqa: PLC0415 (slow)

    return prepare(experiment).drive.logical_pages
