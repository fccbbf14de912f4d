"""Writes of a fit, and the WA of simulated candidates under them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from writeamp._engine import DEFAULT_BATCH_PAGES, Drive, Geometry, Load, Simulation
from writeamp.errors import WriteampError
from writeamp.learn.twin.families import Variant
from writeamp.runs.series import flash_pages
from writeamp.units.ratios import logical_of, physical_of

Floats = npt.NDArray[np.float64]
# Function that returns a candidate drive with a number of logical pages.
DriveOf = Callable[[int], Drive]

# Drives with fewer pages than this are compared with candidates of this number of pages.
_LEAST_PAGES = 2**12
# Logical pages of the usual simulated drives: 128 of the largest erase units.
LOGICAL_PAGES = 2**17


@dataclass(frozen=True)
class Grid:
    """Values of the candidates' erase unit and spare space."""

    unit_pages: tuple[int, ...] = tuple(round(32 * 2 ** (at / 2)) for at in range(11))
    op: tuple[float, ...] = tuple(0.03 * 1.33**at for at in range(11))
    logical_pages: int = LOGICAL_PAGES
    most_runs: int = field(default=4, repr=False)

    def runs(self, unit_pages: int) -> int:
        """Return the number of runs per candidate; drives of few large blocks need more of them."""
        blocks = self.logical_pages / unit_pages
        return min(self.most_runs, 1 + (blocks <= 1024) + 2 * (blocks <= 256))


def grid_for(logical_pages: int) -> Grid:
    """Return the grid for a drive of this size; a small drive is compared with small candidates.

    On drives of few blocks, WA differs for more reasons than the share of blocks without data, so
    large candidates would not match. Drive sizes within half an octave share a table.
    """
    if logical_pages >= LOGICAL_PAGES:
        return Grid()
    octaves = round(2 * math.log2(max(logical_pages, _LEAST_PAGES))) / 2
    return Grid(logical_pages=min(LOGICAL_PAGES, round(2**octaves)))


# Valid WA of a fill in order. Parity and metadata raise it above 1; a greater WA comes from moving
# data out of an SLC cache, which no candidate has.
LEAST_SEQUENTIAL, MOST_SEQUENTIAL = 0.97, 1.5
# Windows with a WA below this were written by a compressing drive.
_LEAST_WA = 0.9


def check_not_compressed(wa: Floats, name_of: Callable[[int], str]) -> None:
    """Reject windows in which the flash wrote less than the host.

    Raises:
        WriteampError: the lowest WA is too low; `name_of` returns the name of its window.
    """
    low = int(np.argmin(wa))
    if wa[low] < _LEAST_WA:
        raise WriteampError(
            f"{name_of(low)} has a write amplification of {wa[low]:.3f}: the flash wrote less "
            "than the host, as on a compressing drive, which a twin cannot model"
        )


class Served(Protocol):
    """Writes that all candidates of a fit serve, with windows in which their WA is compared."""

    @property
    def page_bytes(self) -> int:
        """Page size of the candidates, in bytes."""

    @property
    def windows(self) -> int:
        """Number of windows."""

    @property
    def grid(self) -> Grid:
        """Erase units, spare spaces and size of the candidates."""

    @property
    def usual(self) -> Served:
        """These writes in pages of the usual candidates."""

    @property
    def meaning(self) -> Any:
        """All that decides the WA of a candidate, as JSON types."""

    def window_was(self, drive_of: DriveOf, logical_pages: int, *, seed: int) -> Floats:
        """Serve the writes on a candidate with this number of logical pages.

        Returns:
            WA of each window, of shape (windows,).

        Raises:
            WriteampError: the candidate has too few spare blocks.
        """


class Measured(Protocol):
    """Measured windows of a drive, from which a twin is fitted."""

    @property
    def served(self) -> Served:
        """The writes of the drive."""

    @property
    def logical_pages(self) -> int:
        """Number of pages that the host sees."""

    @property
    def wa(self) -> Floats:
        """WA of each window, of shape (windows,); NaN if not measured."""

    @property
    def noise(self) -> float | None:
        """Relative standard deviation of a window's WA; None if unknown."""

    @property
    def is_repeated(self) -> bool:
        """True if the noise comes from repeats."""

    @property
    def sequential_factor(self) -> float:
        """WA of a fill in order; the WA of all windows is divided by it."""

    @property
    def model_error(self) -> float:
        """Relative error of predictions if the windows fit, for drives of no known family."""

    @property
    def notes(self) -> Sequence[str]:
        """Notes on the measurement."""

    @property
    def families(self) -> Sequence[Sequence[Variant]]:
        """Families of policies that the drive may have."""

    def erase_unit(
        self, fitted: tuple[float, float, float], op: float
    ) -> tuple[float, float, float] | str:
        """Return the erase unit in pages and the ends of its 90% interval.

        Args:
            fitted: the erase unit of the candidates that fit the windows.
            op: the fitted op.

        Returns:
            The erase unit, or the reason why it is unknown.
        """

    def records(self) -> list[dict[str, Any]]:
        """Return load and WA of each measured window, as JSON types."""

    def facts(self) -> dict[str, Any]:
        """Return further tables for the twin's profile, as TOML types."""

    def check(self) -> None:
        """Reject windows that no candidate can produce.

        Raises:
            WriteampError: WA is too low or too high.
        """


def simulation_of(drive: Drive, load: Load, seed: int) -> Simulation:
    """Return a simulation of an empty candidate under a load."""
    return Simulation(drive, load, seed=seed, batch_pages=DEFAULT_BATCH_PAGES)


def serve(simulation: Simulation, cuts: Sequence[tuple[int, int]]) -> Floats:
    """Run a drive, and return WA between each pair of cuts, in page writes from now on."""
    written = 0
    programmed: dict[int, int] = {}
    for cut in sorted({cut for pair in cuts for cut in pair}):
        simulation.run(cut - written)
        written = cut
        programmed[cut] = programmed_pages(simulation)
    return np.array(
        [(programmed[end] - programmed[begin]) / max(1, end - begin) for begin, end in cuts]
    )


def programmed_pages(simulation: Simulation) -> int:
    """Return the flash pages that a simulation has programmed."""
    return flash_pages(simulation.counters())


def sized(variant: Variant, unit_pages: int, op: float, logical_pages: int) -> tuple[int, int]:
    """Return blocks and logical pages of a small candidate with this op, without tied blocks.

    Rounding to whole blocks would change op, so the number of logical pages is adapted.
    """
    blocks = round(physical_of(logical_pages, op) / unit_pages + variant.tied_blocks)
    return blocks, round(logical_of((blocks - variant.tied_blocks) * unit_pages, op))


def small_drive(
    variant: Variant, unit_pages: int, blocks: int, logical_pages: int, page_bytes: int
) -> Drive:
    """Return a drive with these policies in one plane, whose blocks are its erase units."""
    geometry = Geometry(
        channels=1,
        chips_per_channel=1,
        dies_per_chip=1,
        planes_per_die=1,
        blocks_per_plane=blocks,
        pages_per_block=unit_pages,
        page_bytes=page_bytes,
    )
    return Drive(
        geometry=geometry,
        logical_pages=logical_pages,
        layout="flat",
        manager=variant.manager,
        victims=variant.victims_on(blocks),
    )


def simulated_windows(
    served: Served, variant: Variant, unit_pages: int, blocks: int, logical_pages: int, *, seed: int
) -> Floats | None:
    """Return a candidate's WA in each window; None if it cannot serve the writes."""

    def drive_of(pages: int) -> Drive:
        return small_drive(variant, unit_pages, blocks, pages, served.page_bytes)

    try:
        return served.window_was(drive_of, logical_pages, seed=seed)
    except WriteampError:  # too few spare blocks for the open blocks of the placement
        return None
