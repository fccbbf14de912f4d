"""Simulated drive of paper 3 (Table 2), and the counts of a run on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from writeamp._engine import DEFAULT_BATCH_PAGES
from writeamp._engine import Load as EngineLoad
from writeamp._engine import Simulation as EngineSimulation
from writeamp.devices.device import Device, device
from writeamp.devices.policy import Policy
from writeamp.plots.spec import Line

FILL = 0.7

# Parameters of all experiments: h (interval), Q (ratio), and the minimum spare pages of a group per
# page of its data (floor).
FLOOR = 0.02
WOLF = f"wolf:interval=0.001,floor={FLOOR}"
FDP = f"fdp-frequency:interval=0.001,floor={FLOOR},ratio=2"

CHECKED = "checked value: independent simulation, not in the paper"

_BLOCKS = 8192

# Interval between recorded counts, in page writes on the paper's full-size drive.
_INTERVAL = 50_000


@dataclass(frozen=True)
class Size:
    """Size of a drive with the proportions of the paper's drive.

    Numbers of writes are scaled with the size, so runs have as many drive writes as the paper's.
    """

    blocks: int
    layout: str

    def device(self, *, layout: str | None = None, fill: float = FILL) -> Device:
        """Return a drive of this size, by default with the block layout of the size."""
        return device("eagletree", blocks=self.blocks, fill=fill, layout=layout or self.layout)

    def writes(self, of_the_paper: float) -> int:
        """Return the paper's number of writes scaled to this drive."""
        return round(of_the_paper * self.blocks / _BLOCKS)


# FULL is the paper's drive, with separate collection on each of its eight LUNs; SHORT is one LUN.
FULL = Size(_BLOCKS, "striped-per-lun")
SHORT = Size(_BLOCKS // 8, "flat")


@dataclass(frozen=True)
class Run:
    """Counts of a run since the fill, after every interval of host pages; arrays of shape (n,).

    `groups` is the number of page groups, 1 if the run logged no groups. `created` (shape (m,)) is
    the number of host pages written when each group was created.
    """

    device: Device
    host_pages: npt.NDArray[np.float64]
    migrations: npt.NDArray[np.float64]
    groups: npt.NDArray[np.float64]
    created: npt.NDArray[np.float64]

    def migrated(self, start: int, end: int) -> float:
        """Return the pages that collection moved between two counts of written host pages."""
        of_start, of_end = np.interp((start, end), self.host_pages, self.migrations)
        return float(of_end - of_start)

    def wa(self, start: int, end: int) -> float:
        """Return write amplification between two counts of written host pages."""
        return 1 + self.migrated(start, end) / (end - start)

    def percent_of_drive(self, pages: float) -> float:
        """Return a number of pages as a percentage of the flash's pages, PBA."""
        return 100 * pages / self.device.physical_pages

    def line(
        self, color: str, label: str, *, start: int, end: int, zero: int = 0, points: int = 1
    ) -> Line:
        """Return a line: WA over writes since `zero`, in millions of writes on the paper's drive.

        Each point of the line is the mean WA of `points` successive intervals.
        """
        ends = np.arange(start, end + 1, points * (self.host_pages[1] - self.host_pages[0]))
        wa = 1 + np.diff(np.interp(ends, self.host_pages, self.migrations)) / np.diff(ends)
        middles = (ends[1:] + ends[:-1]) / 2 - zero
        million = 1e6 * self.device.physical_pages / FULL.device().physical_pages
        return Line((middles / million).tolist(), wa.tolist(), color, 1.3, label=label)


def run(
    manager: str,
    victims: str | None,
    workload: str,
    drive: Device,
    writes: int,
    *,
    seed: int = 1,
) -> Run:
    """Fill a drive, then write to it under a workload, and record its counts.

    Args:
        manager: spec of the block manager.
        victims: spec of the victim policy, or None for the manager's default.
        workload: spec of the writes after the fill.
        drive: the drive.
        writes: number of writes after the fill.
        seed: seed of all random draws.
    """
    simulation = filled_drive(manager, victims, workload, drive, seed=seed)
    filled = simulation.counters()["host_pages"]
    simulation.start_series(max(1, round(_INTERVAL * drive.geometry.blocks / _BLOCKS)))
    simulation.run(writes)
    series = simulation.series()
    host_pages = series["host_pages"].astype(np.float64) - filled
    events = simulation.events()
    changed_at = events["host_pages"].astype(np.float64) - filled
    created = changed_at[np.array(events["kind"], dtype=object) == "created"]
    numbers = np.ones_like(host_pages)
    if len(changed_at):
        # The log has only changes, so the first entry also states the number of groups before it.
        of_events = np.concatenate((events["groups"][:1], events["groups"])).astype(np.float64)
        numbers = of_events[np.searchsorted(changed_at, host_pages, side="right")]
    return Run(drive, host_pages, series["gc"].astype(np.float64), numbers, created)


def filled_drive(
    manager: str, victims: str | None, workload: str, drive: Device, *, seed: int = 1
) -> EngineSimulation:
    """Return the simulation of a drive that has just been filled; arguments as those of `run`."""
    simulation = EngineSimulation(
        Policy(manager, victims, None).drive(drive),
        EngineLoad.spec(workload, drive.logical_pages),
        seed=seed,
        batch_pages=DEFAULT_BATCH_PAGES,
    )
    simulation.fill(0, drive.logical_pages)
    return simulation


def groups(frequencies: Sequence[float], sizes: Sequence[float] | None = None) -> str:
    """Return the spec of writes to nested groups of pages, by default of equal sizes."""
    relative = sizes or [1] * len(frequencies)
    return f"groups(sizes={_listed(relative)},freq={_listed(frequencies)})"


def _listed(numbers: Sequence[float]) -> str:
    return "/".join(f"{number:g}" for number in numbers)
