"""A small chain, a table of few candidates, and drives that are hidden among them."""

from __future__ import annotations

from functools import cache

import numpy as np

import writeamp as wa
from writeamp.devices.policy import Policy
from writeamp.learn.twin.chain import Chain, chain_of
from writeamp.learn.twin.families import Variant
from writeamp.learn.twin.fitting import Fit, fit
from writeamp.learn.twin.measuring import measure
from writeamp.learn.twin.serving import Grid
from writeamp.learn.twin.table import CandidateTable, _simulated
from writeamp.learn.twin.windows import Windows

PAGES = 2**12
CHAIN = Chain(chain_of(3, chunks=False, capacity_bytes=PAGES * 4096).phases, PAGES * 4096)
GRID = Grid(
    unit_pages=(8, 16, 32), op=tuple(0.08 * 1.2**at for at in range(9)), logical_pages=PAGES
)
SOME = (
    (Variant("single", "greedy"),),
    (Variant("single", "d-choices:d=2"),),
    (Variant("sepgc", "greedy"),),
)


@cache
def table() -> CandidateTable:
    """Return the windows of every candidate in `SOME`, at each place of `GRID`."""
    rows = [
        _simulated(CHAIN, GRID, (variant, unit))
        for family in SOME
        for variant in family
        for unit in GRID.unit_pages
    ]
    shape = (len(SOME), len(GRID.unit_pages), len(GRID.op))
    return CandidateTable(
        tuple(family[0] for family in SOME),
        tuple(range(len(SOME))),
        np.array(GRID.unit_pages, float),
        np.array([row[0] for row in rows]).reshape(shape),
        np.array([row[1] for row in rows]).reshape(*shape, CHAIN.windows),
    )


@cache
def windows(manager: str = "sepgc", victims: str = "greedy", op: float = 0.2) -> Windows:
    """Return the windows of a hidden drive."""
    drive = wa.device(logical_pages=PAGES, pages_per_block=16, op=op)
    return measure(drive, Policy.of(manager, victims, None), CHAIN, seed=5)


@cache
def fitted(manager: str = "sepgc", victims: str = "greedy", op: float = 0.2) -> Fit:
    """Return the fit of a hidden drive by the table."""
    return fit(windows(manager, victims, op), table=table())
