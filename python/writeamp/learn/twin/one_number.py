"""Fit of one number: the drives that a single WA under a known load leaves possible."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from writeamp.learn.twin.chain import PAGE_BYTES, Chain, Phase
from writeamp.learn.twin.families import USUAL
from writeamp.learn.twin.fitting import Fit
from writeamp.learn.twin.likelihood import weigh
from writeamp.learn.twin.settings import STEADY_WA
from writeamp.learn.twin.table import LOGICAL_PAGES, Grid, table_of
from writeamp.learn.twin.windows import Windows
from writeamp.runners import Runner

# The load is served until WA has settled, and then for as long as is counted.
_WARMUP_DRIVE_WRITES, _DRIVE_WRITES = 4.0, 7.0
# One number tells no erase unit, and op only for a family that is taken for the drive's.
GRID = Grid(unit_pages=(64, 256), op=tuple(0.03 * 1.55**at for at in range(8)))
# A WA that is told is one of some days, in three digits.
NOISE = 0.01


def fit_one(
    wa: float,
    workload: str = "uniform",
    *,
    capacity_bytes: int | None = None,
    runner: Runner | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """Return the drives that have this steady WA under a load: op under each family.

    Args:
        wa: steady write amplification.
        workload: the load, by its spec.
        capacity_bytes: what the host sees; by default 512 MiB, which says nothing of the drive.
        runner: who simulates the candidates.
        progress: called with what is done of them.
    """
    wa = STEADY_WA.check("wa", wa)
    asked = Chain(
        (Phase(workload, (_WARMUP_DRIVE_WRITES, _DRIVE_WRITES)),),
        capacity_bytes or LOGICAL_PAGES * PAGE_BYTES,
    )
    families = [family[len(family) // 2 :][:1] for family in USUAL]
    table = table_of(asked, grid=GRID, families=families, runner=runner, progress=progress)
    windows = windows_of_one(asked, wa)
    return Fit(windows, weigh(table, windows.wa, NOISE), table.variants)


def windows_of_one(chain: Chain, wa: float) -> Windows:
    """Return the last window of a chain alone, with a WA."""
    return Windows(
        chain,
        np.zeros(1, int),
        np.array([chain.windows - 1]),
        np.array([chain.capacity_bytes], float),
        np.array([chain.capacity_bytes * wa]),
    )
