"""Measured windows of phases with known loads, from which a twin is fitted."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from writeamp.errors import WriteampError
from writeamp.learn.twin.chain import PAGE_BYTES
from writeamp.learn.twin.families import FAMILIES
from writeamp.learn.twin.phases.counted import GIB, CountedPhase
from writeamp.learn.twin.phases.erase_unit import erase_unit_interval, zone_curve
from writeamp.learn.twin.phases.groups import Grouped, PhaseGroup
from writeamp.learn.twin.phases.served import GRID, ServedPhases, grouped_on
from writeamp.learn.twin.phases.table import CountedDrive
from writeamp.learn.twin.serving import (
    LEAST_SEQUENTIAL,
    MOST_SEQUENTIAL,
    Floats,
    Grid,
    check_not_compressed,
)

# Relative standard deviation of a window's WA: that of the model, as counters are more precise.
_NOISE = 0.01
_ONLY_UNIFORM = (
    "uniform writes do not show whether hot and cold pages are separated: the probabilities of the "
    "policies are mostly assumptions; choose a phase of zipf or zones, too"
)
# Media bytes over host bytes above this mean that one of them has another unit.
_MOST_WA = 1000.0
# Least span of zones, as a share of the drive, that shows the erase unit.
_WHOLE_DRIVE = 0.98
# Relative error of predictions: judged by leaving phases out (docs/real-drive-scoreboard.md).
_MODEL_ERROR = 0.02


# If the step of the counter makes the steady WA of a fill less certain than this (relative standard
# error), that of the whole fill is used.
_UNCERTAIN = 0.002


def factor_of(fill: CountedPhase) -> tuple[float, float]:
    """Return the WA of a fill and its relative error.

    Parity and metadata raise it above 1.
    """
    window = fill.steady
    if window is None or window.error > _UNCERTAIN * window.wa:
        window = fill.whole
    return (1.0, 0.0) if window is None else (max(1.0, window.wa), window.error / window.wa)


@dataclass(frozen=True, eq=False)
class PhaseWindows:
    """Steady WA of chosen phases of a drive, divided by the WA of the fill before each.

    `grid` has the sizes of the candidates.
    """

    drive: CountedDrive
    learnt: tuple[CountedPhase, ...]
    grid: Grid = GRID

    @cached_property
    def _grouped(self) -> Grouped:
        return grouped_on(
            self.drive.phases,
            self.drive.capacity_bytes,
            lambda phase: (phase.steady,) if phase in self.learnt else (),
            self.grid,
        )

    @cached_property
    def served(self) -> ServedPhases:
        """The chosen phases without zones, each group from its fill or from a sanitized drive."""
        return self._part(has_zones=False)

    @cached_property
    def zoned(self) -> ServedPhases:
        """The chosen phases with zones."""
        return self._part(has_zones=True)

    def _part(self, *, has_zones: bool) -> ServedPhases:
        groups = (group for group in self._grouped.groups if group.has_zones is has_zones)
        return ServedPhases(tuple(groups), self.drive.capacity_bytes, self.grid)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on phases that were read otherwise than stated, and on those left out."""
        left_out = Counter(self._reason(phase) for phase in self.learnt if phase not in self.used)
        return (
            *self.drive.notes,
            *(f"{count} chosen phases are not used: {why}" for why, count in left_out.items()),
            *([_ONLY_UNIFORM] if self._are_uniform else []),
        )

    @property
    def _are_uniform(self) -> bool:
        loads = {phase.load.workload for phase in self.used if not phase.load.is_fill}
        return loads == {"uniform"}

    def _reason(self, phase: CountedPhase) -> str:
        """Return why a chosen load has no window."""
        return self._grouped.reasons.get(phase.name) or phase.reason or ""

    @cached_property
    def used(self) -> tuple[CountedPhase, ...]:
        """The chosen phases from which the twin is learnt, with the fills."""
        loads = {phase.name for _, phase, _ in (*self.served.places, *self.zoned.places)}
        return tuple(
            phase
            for phase in self.drive.phases
            if phase in self.fills or (phase in self.learnt and phase.name in loads)
        )

    @property
    def logical_pages(self) -> int:
        """Number of pages of 4 KiB that the host sees."""
        return round(self.drive.capacity_bytes / PAGE_BYTES)

    @cached_property
    def fills(self) -> tuple[CountedPhase, ...]:
        """The chosen fills, and those before chosen loads."""
        groups = (*self.served.groups, *self.zoned.groups)
        preceding = {id(group.fill) for group in groups}
        return tuple(
            phase
            for phase in self.drive.phases
            if phase.load.is_fill and (phase in self.learnt or id(phase) in preceding)
        )

    @property
    def sequential_factor(self) -> float:
        """Mean WA of the chosen fills; 1 without any."""
        return float(np.mean([factor_of(fill)[0] for fill in self.fills])) if self.fills else 1.0

    def factor(self, group: PhaseGroup) -> float:
        """Return the WA of the fill of a group, or else the mean of all fills."""
        return self.sequential_factor if group.fill is None else factor_of(group.fill)[0]

    @cached_property
    def wa(self) -> Floats:
        """WA of each window over the WA of its fill."""
        return np.array([window.wa / self.factor(group) for group, _, window in self.served.places])

    noise = _NOISE
    is_repeated = False
    model_error = _MODEL_ERROR
    # Runs on real drives were made without host hints.
    families = tuple(family for family in FAMILIES if not family[0].requires_hints)

    def erase_unit(
        self, fitted: tuple[float, float, float], op: float
    ) -> tuple[float, float, float] | str:
        """Return the erase unit from phases with one active zone; see `Measured`."""
        del fitted
        single = [
            (zones.zone_bytes, window.wa)
            for group, phase, window in self.zoned.places
            if (zones := phase.load.zones) is not None
            and zones.active == 1
            and group.span > _WHOLE_DRIVE
        ]
        if not single:
            return (
                "only phases with one active zone, of several sizes, on the whole drive show it; "
                "random writes hardly depend on it"
            )
        sizes, was = zip(*single, strict=True)
        interval = erase_unit_interval(sizes, was, self.sequential_factor, zone_curve(op))
        if isinstance(interval, str):
            return interval
        low, high = (end / PAGE_BYTES for end in interval)
        return math.sqrt(low * high), low, high

    def records(self) -> list[dict[str, Any]]:
        """Return phase, workload, span and WA of each window."""
        return [
            {
                "window": at + 1,
                "phase": phase.name,
                "workload": phase.load.workload,
                "drive_writes": window.end_bytes / self.drive.capacity_bytes,
                "wa": float(self.wa[at]),
            }
            for at, (_, phase, window) in enumerate(self.served.places)
        ]

    def facts(self) -> dict[str, Any]:
        """Return drive, chosen phases and fills."""
        return {
            "drive": self.drive.name,
            "capacity_bytes": round(self.drive.capacity_bytes),
            "learnt_from": [phase.name for phase in self.used],
            "fills": [
                {
                    "phase": fill.name,
                    "span_gib": fill.span_bytes / GIB,
                    "factor": factor_of(fill)[0],
                }
                for fill in self.fills
            ],
        }

    def check(self) -> None:
        """Reject phases from which nothing can be learnt.

        Raises:
            WriteampError: no chosen phase has a known load and enough rows, or its WA is below 1.
        """
        for fill in self.fills:
            if fill.whole is None:
                raise WriteampError(f"the counter of media bytes does not move in {fill.name}")
            wa = fill.whole.wa
            if not LEAST_SEQUENTIAL <= wa <= MOST_SEQUENTIAL:
                raise WriteampError(
                    f"the fill {fill.name} has a WA of {wa:.3f}; a twin needs "
                    f"{LEAST_SEQUENTIAL:g} to {MOST_SEQUENTIAL:g} (below: wrong counters; "
                    "above: a cache that is folded)"
                )
        if not self.served.windows:
            loads = [phase for phase in self.learnt if not phase.load.is_fill]
            reasons = {
                "zones alone do not show the space"
                if phase in self.used
                else f"{phase.name}: {self._reason(phase)}"
                for phase in loads
            }
            raise WriteampError(
                "no chosen phase can be learnt from: "
                + ("; ".join(sorted(reasons)) or "choose a load, too, and not only fills")
            )
        high = int(np.argmax(self.wa))
        if self.wa[high] > _MOST_WA:
            raise WriteampError(
                f"{self.served.places[high][1].name} has a WA of {self.wa[high]:.0f}: are both "
                "host_bytes and media_bytes in bytes?"
            )
        check_not_compressed(self.wa, lambda window: self.served.places[window][1].name)
