"""Phases as candidates serve them, and WA in the windows between rows of the counters."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from writeamp._engine import EarlierHost, Load, Simulation
from writeamp.devices.candidates import Candidate
from writeamp.learn.twin.chain import PAGE_BYTES
from writeamp.learn.twin.families import Variant
from writeamp.learn.twin.phases.counted import CountedPhase, CountedWindow
from writeamp.learn.twin.serving import (
    DriveOf,
    Floats,
    Grid,
    programmed_pages,
    simulated_windows,
    simulation_of,
    sized,
)
from writeamp.registry.specs import Spec


class _Grid(Grid):
    """Candidates for phases: at most two runs each, because a phase is several drive writes."""

    def runs(self, unit_pages: int) -> int:
        """Return the number of runs per candidate."""
        return min(2, super().runs(unit_pages))


# Loads of 4 KiB hardly depend on the erase unit, so two erase units suffice. op reaches far above
# that of a full drive, because trimmed space is spare.
GRID = _Grid(
    unit_pages=(64, 256), op=tuple(0.05 * 1.25**at for at in range(13)), logical_pages=2**16
)
# Seed of the order of a shuffled fill minus that of the writes after it.
_SHUFFLE_SEED = 1 << 20

# Sizes in bytes in the spec of zones.
_BYTES = re.compile(r"\b(zone|bs)=(\d+)")

# Function that returns the windows of a phase in which WA is compared.
WindowsOf = Callable[[CountedPhase], Iterable[CountedWindow | None]]


@dataclass(frozen=True)
class ServedPhase:
    """A phase with a known load, and its windows in which WA is compared."""

    phase: CountedPhase
    windows: tuple[CountedWindow, ...]


@dataclass(frozen=True)
class PhaseGroup:
    """A fill or a sanitized drive, and the phases after it up to the next fill.

    Each phase with zones is a group of its own, on a full drive: SSD-iq's script fills the drive
    before each, without readings.

    Attributes:
        span: written part of the drive, as a share of its size; all else is trimmed.
        fill: the fill among the phases; None without one.
        filled_by: workload that filled the span before the phases; None for a sanitized drive.
        members: the phases in order.
    """

    span: float
    fill: CountedPhase | None
    filled_by: str | None
    members: tuple[ServedPhase, ...]

    @property
    def has_zones(self) -> bool:
        """True if the host writes in order inside zones."""
        return any(member.phase.load.zones is not None for member in self.members)

    @property
    def windows(self) -> int:
        """Number of windows of all phases."""
        return sum(len(member.windows) for member in self.members)


def groups_of(
    phases: Iterable[CountedPhase], capacity_bytes: float, windows_of: WindowsOf
) -> tuple[PhaseGroup, ...]:
    """Return the groups of a drive's phases that have windows to compare.

    The phases after one with an unknown load are left out up to the next fill, because the state
    of the drive is unknown.
    """
    groups: list[PhaseGroup] = []
    run, is_known = None, True
    for phase in phases:
        begins_run = phase.run != run
        if begins_run or phase.load.is_fill or phase.load.zones is not None:
            last = None if begins_run else groups[-1]
            groups.append(_begun(phase, last, phase.span_bytes / capacity_bytes))
            run, is_known = phase.run, True
        if phase.load.is_fill:
            continue
        is_known = is_known and phase.load.workload is not None
        if is_known:
            windows = tuple(window for window in windows_of(phase) if window is not None)
            members = (*groups[-1].members, ServedPhase(phase, windows))
            groups[-1] = replace(groups[-1], members=members)
        is_known = is_known and phase.load.zones is None
    return tuple(group for group in groups if group.windows)


def _begun(phase: CountedPhase, last: PhaseGroup | None, span: float) -> PhaseGroup:
    """Return a group that begins with a phase; `last` is the one before it in the run, if any."""
    if phase.load.is_fill:
        return PhaseGroup(span, phase, phase.load.workload, ())
    if phase.load.zones is None:
        return PhaseGroup(span, None, None, ())
    fill = None if last is None or last.members else last.fill
    return PhaseGroup(span, fill, "sequential" if fill is None else fill.load.workload, ())


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
        """Loads and windows of all groups."""
        return [
            [
                group.span,
                group.filled_by,
                [
                    [
                        member.phase.load.workload,
                        self._drive_writes(float(member.phase.host_bytes[-1])),
                        *(
                            self._drive_writes(end)
                            for window in member.windows
                            for end in (window.begin_bytes, window.end_bytes)
                        ),
                    ]
                    for member in group.members
                ],
            ]
            for group in self.groups
        ]

    def _drive_writes(self, host_bytes: float) -> float:
        return host_bytes / self.capacity_bytes

    def window_was(self, drive_of: DriveOf, logical_pages: int, *, seed: int) -> Floats:
        """Serve each group on a drive of its own; see `Served`."""
        parts = [self._of_group(group, drive_of, logical_pages, seed) for group in self.groups]
        return np.concatenate([np.zeros(0), *parts])

    def _of_group(
        self, group: PhaseGroup, drive_of: DriveOf, logical_pages: int, seed: int
    ) -> Floats:
        pages = round(logical_pages * group.span)
        scale = logical_pages / self.capacity_bytes
        load = _load(group, pages, scale)
        simulation = simulation_of(drive_of(pages), load, seed)
        if group.filled_by == "sequential":
            simulation.fill(0, pages)
        elif group.filled_by is not None:
            shuffle = Load.spec(group.filled_by, pages, PAGE_BYTES)
            simulation.precondition(EarlierHost(shuffle, seed=seed + _SHUFFLE_SEED), pages)
        begin = 0
        cuts: list[tuple[int, int]] = []
        for member in group.members:
            for window in member.windows:
                first, last = window.begin_bytes * scale, window.end_bytes * scale
                cuts.append((begin + round(first), begin + round(last)))
            begin += round(float(member.phase.host_bytes[-1]) * scale)
        return _was(simulation, cuts)


def _load(group: PhaseGroup, pages: int, pages_per_byte: float) -> Load:
    """Return the loads of the group's phases, one after the other, on a drive of few pages."""
    phases = [member.phase for member in group.members]
    lengths = [str(round(float(phase.host_bytes[-1]) * pages_per_byte)) for phase in phases]
    # Each page of the candidate represents this number of pages of the drive.
    ranks = max(1, round(1 / (pages_per_byte * PAGE_BYTES)))
    workloads = [_scaled(str(phase.load.workload), ranks) for phase in phases]
    if phases[0].load.zones is not None:
        return Load.spec(workloads[0], pages, PAGE_BYTES)
    of = "/".join(Spec.of("workloads", workload).nested for workload in workloads)
    return Load.spec(f"phases(writes={'/'.join(lengths)},of={of},turns=1)", pages, PAGE_BYTES)


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


def _scaled(workload: str, ranks: int) -> str:
    """Return a workload for a drive whose pages each represent `ranks` pages."""
    if workload.startswith("zones-sequential("):
        return _BYTES.sub(lambda size: f"{size[1]}={max(512, int(size[2]) // ranks)}", workload)
    return workload.replace("zipf(", f"zipf(ranks_per_page={ranks},")


def _was(simulation: Simulation, cuts: list[tuple[int, int]]) -> Floats:
    """Run a drive to all cuts, in page writes, and return WA between each pair of them."""
    programmed: dict[int, int] = {}
    written = 0
    for cut in sorted({cut for pair in cuts for cut in pair}):
        simulation.run(cut - written)
        written = cut
        programmed[cut] = programmed_pages(simulation)
    return np.array(
        [(programmed[end] - programmed[begin]) / max(1, end - begin) for begin, end in cuts]
    )
