"""Phases as candidates serve them, and WA in the windows between rows of the counters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from writeamp._engine import EarlierHost, Load, scaled_workload
from writeamp.devices.candidates import Candidate
from writeamp.errors import WriteampError
from writeamp.learn.twin.chain import PAGE_BYTES
from writeamp.learn.twin.families import Variant
from writeamp.learn.twin.phases.counted import CountedPhase, CountedWindow
from writeamp.learn.twin.phases.groups import Grouped, PhaseGroup, WindowsOf, grouped
from writeamp.learn.twin.serving import (
    DriveOf,
    Floats,
    Grid,
    serve,
    simulated_windows,
    simulation_of,
    sized,
)
from writeamp.registry.specs import Spec

# Loads of 4 KiB hardly depend on the erase unit, so two erase units suffice. op reaches far above
# that of a full drive, because trimmed space is spare. A phase is several drive writes, so two runs
# of a candidate suffice.
GRID = Grid(
    unit_pages=(64, 256),
    op=tuple(0.05 * 1.25**at for at in range(13)),
    logical_pages=2**16,
    most_runs=2,
)
# Seed of the order of a shuffled fill minus that of the writes after it.
_SHUFFLE_SEED = 1 << 20


@dataclass(frozen=True)
class ServedPhases:
    """Groups of phases that candidates serve, each group on a drive of its own."""

    groups: tuple[PhaseGroup, ...]
    capacity_bytes: float
    grid: Grid = GRID

    page_bytes = PAGE_BYTES

    @property
    def usual(self) -> ServedPhases:
        """These phases, which already have pages of the usual size."""
        return self

    @cached_property
    def places(self) -> tuple[tuple[PhaseGroup, CountedPhase, CountedWindow], ...]:
        """Group, phase and window of each compared window, in the order of `window_was`."""
        return tuple(
            (group, member.phase, window)
            for group in self.groups
            for member in group.members
            for window in member.windows
        )

    @property
    def windows(self) -> int:
        """Number of windows."""
        return len(self.places)

    @property
    def meaning(self) -> Any:
        """Fill, load and windows of all groups on a candidate."""
        scale = self.grid.logical_pages / self.capacity_bytes
        return [
            [group.span, group.filled_by, spec_of(group, scale), _cuts(group, scale)]
            for group in self.groups
        ]

    def window_was(self, drive_of: DriveOf, logical_pages: int, *, seed: int) -> Floats:
        """Serve each group on a drive of its own; see `Served`."""
        parts = [self._of_group(group, drive_of, logical_pages, seed) for group in self.groups]
        return np.concatenate([np.zeros(0), *parts])

    def _of_group(
        self, group: PhaseGroup, drive_of: DriveOf, logical_pages: int, seed: int
    ) -> Floats:
        pages = round(logical_pages * group.span)
        scale = logical_pages / self.capacity_bytes
        load = Load.spec(spec_of(group, scale), pages, PAGE_BYTES)
        simulation = simulation_of(drive_of(pages), load, seed)
        if group.filled_by == "sequential":
            simulation.fill(0, pages)
        elif group.filled_by is not None:
            shuffle = Load.spec(group.filled_by, pages, PAGE_BYTES)
            simulation.precondition(EarlierHost(shuffle, seed=seed + _SHUFFLE_SEED), pages)
        return serve(simulation, _cuts(group, scale))


def grouped_on(
    phases: tuple[CountedPhase, ...], capacity_bytes: float, windows_of: WindowsOf, grid: Grid
) -> Grouped:
    """Divide phases into groups that candidates of a grid can serve; see `grouped`."""
    scale = grid.logical_pages / capacity_bytes

    def fault_of(group: PhaseGroup) -> str | None:
        if not all(round(length) for length in _lengths(group, scale)):
            return "the host wrote less than a page of the simulated drives"
        try:
            Load.spec(spec_of(group, scale), round(grid.logical_pages * group.span), PAGE_BYTES)
        except WriteampError as error:
            return f"simulated drives are too small for it: {error}"
        return None

    return grouped(phases, capacity_bytes, windows_of, fault_of)


def _lengths(group: PhaseGroup, pages_per_byte: float) -> list[float]:
    return [float(member.phase.host_bytes[-1]) * pages_per_byte for member in group.members]


def _cuts(group: PhaseGroup, pages_per_byte: float) -> list[tuple[int, int]]:
    """Return begin and end of each window, in page writes since the state before the phases."""
    begin = 0
    cuts = []
    for member, length in zip(group.members, _lengths(group, pages_per_byte), strict=True):
        for window in member.windows:
            first, last = window.begin_bytes * pages_per_byte, window.end_bytes * pages_per_byte
            cuts.append((begin + round(first), begin + round(last)))
        begin += round(length)
    return cuts


def spec_of(group: PhaseGroup, pages_per_byte: float) -> str:
    """Return the loads of the group's phases, one after the other, on a drive of few pages."""
    # Each page of the candidate represents this number of pages of the drive.
    factor = 1 / (pages_per_byte * PAGE_BYTES)
    workloads = [
        scaled_workload(str(member.phase.load.workload), factor, factor) for member in group.members
    ]
    if group.has_zones:
        return workloads[0]
    of = "/".join(Spec.of("workloads", workload).nested for workload in workloads)
    writes = "/".join(str(round(length)) for length in _lengths(group, pages_per_byte))
    return f"phases(writes={writes},of={of},turns=1)"


def small_unit(erase_unit_pages: float, logical_pages: int) -> int:
    """Return the erase unit of small candidates that has the drive's ratio to its size."""
    return max(8, round(erase_unit_pages * GRID.logical_pages / logical_pages))


def candidate_windows(served: ServedPhases, member: Candidate, unit: int, seed: int) -> Floats:
    """Return WA of a small candidate with this erase unit, in pages, in each window.

    All values are NaN if the candidate has too few spare blocks.
    """
    variant = Variant(member.manager, member.victims)
    # Blocks without data are a negligible share of the drive, but not of a small candidate.
    blocks, pages = sized(variant, unit, member.op, GRID.logical_pages)
    was = simulated_windows(served, variant, unit, blocks, pages, seed=seed)
    return np.full(served.windows, math.nan) if was is None else was
