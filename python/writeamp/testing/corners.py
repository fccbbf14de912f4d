"""The four performance figures of a data sheet, measured on the profile of the product.

The measured drive has the profile's dies, blocks and op, but blocks with fewer pages and shorter
erase times, so that a fill takes seconds. Random writes also depend on the duration of garbage
collection, so they are measured again with fewer blocks of full length.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from writeamp.devices.data_sheet import CORNERS, DataSheet
from writeamp.devices.device import Device, device
from writeamp.devices.profile import profile
from writeamp.devices.times import tables_of
from writeamp.errors import RefusedError
from writeamp.runs.timed.result import TimedResult
from writeamp.settings.experiment import Experiment
from writeamp.studies.simulation import simulate_timed

# Limit of simulated flash pages, exceeded only if blocks cannot have fewer pages.
MOST_PAGES = 40_000_000
# Limit of simulated flash pages with blocks of full length.
MOST_PAGES_OF_WHOLE_BLOCKS = 150_000_000

# Virtual time of each measurement, in seconds.
_SECONDS = 0.2
# Sustained random writes are measured for at least the time in which sequential writes fill this
# many erase units of each die, because all dies start in phase and their collections come in waves.
_ROUNDS = 100
# Precondition (initial state) of the drive for sustained random writes: two random drive writes.
_AGEING = "random:2"


@dataclass(frozen=True)
class Corner:
    """A performance figure of a data sheet, with the value measured on the profile."""

    name: str
    promised: float
    measured: float

    @property
    def ratio(self) -> float:
        """Measured value divided by the value of the data sheet."""
        return self.measured / self.promised


def measured_corners(
    name: str, *, changes: Mapping[str, Any] | None = None, most_pages: int = MOST_PAGES
) -> tuple[Corner, ...]:
    """Measure the four corners of a profile's data sheet, in the order of `CORNERS`.

    Args:
        name: a profile with a table [data_sheet].
        changes: values that replace those of the profile's tables, as in the argument `set` of
            `device`.
        most_pages: limit of simulated flash pages.

    Raises:
        WriteampError: the profile has no data sheet.
    """
    sheet = _sheet(name)
    replaced = dict(changes or {})
    written = shortened(name, _of_writes(name, sheet) | replaced, most_pages)
    read = shortened(name, _of_reads(name, sheet) | replaced, most_pages)
    measured = {
        "sequential_read_mb_s": _run(read, sheet, "sequential_read").bandwidth_mb_s["read"],
        "sequential_write_mb_s": _run(written, sheet, "sequential_write").bandwidth_mb_s["write"],
        "random_read_iops": _run(read, sheet, "random_read").iops["read"],
        "random_write_iops": _run(written, sheet, "random_write").iops["write"],
    }
    return tuple(Corner(corner, sheet.corners[corner], measured[corner]) for corner in CORNERS)


def random_writes_of_whole_blocks(
    name: str,
    *,
    changes: Mapping[str, Any] | None = None,
    most_pages: int = MOST_PAGES_OF_WHOLE_BLOCKS,
) -> Corner:
    """Measure random writes with fewer blocks of full length.

    Arguments and errors are those of `measured_corners`.
    """
    sheet = _sheet(name)
    shape = profile(name).shape
    most = most_pages // (shape.planes * shape.pages_per_block)
    changed = _of_writes(name, sheet) | dict(changes or {})
    drive = _of_blocks(name, min(max(most, 1), shape.blocks_per_plane), changed)
    iops = _run(drive, sheet, "random_write").iops["write"]
    return Corner("random_write_iops", sheet.random_write_iops, iops)


def shortened(name: str, changes: Mapping[str, Any], most_pages: int) -> Device:
    """Return the drive with all its blocks, but fewer pages per block and shorter erase times.

    A block has at least the pages of one program unit.
    """
    shape = profile(name).shape
    grain = shape.flash_page_bytes // shape.page_bytes * shape.pages_per_word_line
    of_planes = shape.planes * shape.blocks_per_plane
    programs = shape.pages_per_block // grain
    factor = min(
        (divisor for divisor in range(1, programs + 1) if programs % divisor == 0),
        key=lambda divisor: (of_planes * shape.pages_per_block // divisor > most_pages, divisor),
    )
    if of_planes * shape.pages_per_block // factor > most_pages:
        factor = programs
    shorter = {
        "geometry.pages_per_block": shape.pages_per_block // factor,
        "timing.erase_us": tables_of(shape.times_json)["timing"]["erase_us"] / factor,
    }
    return _of_blocks(name, shape.blocks_per_plane, shorter | dict(changes))


def _sheet(name: str) -> DataSheet:
    sheet = profile(name).data_sheet
    if sheet is None:
        raise RefusedError(f"{name} has no table [data_sheet]; give a profile that has one")
    return sheet


def _of_blocks(name: str, blocks_per_plane: int, changes: Mapping[str, Any]) -> Device:
    """Return a profile's drive with a number of blocks per plane and replaced values."""
    shape = profile(name).shape
    dies = shape.planes // shape.planes_per_die
    units = {"block": shape.planes, "multi-plane": dies, "superblock": 1}[shape.erase_unit]
    return device(name, blocks=blocks_per_plane * units, set=dict(changes))


def _of_writes(name: str, sheet: DataSheet) -> dict[str, Any]:
    """Return changes of the profile for measuring writes in the data sheet's drive state."""
    # Sustained writes find the SLC cache full and bypass it.
    has_cache = profile(name).shape.has_slc_cache
    empty = {"slc.static_bytes": 0, "slc.dynamic_share": 0.0}
    return empty if has_cache and sheet.state == "sustained" else {}


def _of_reads(name: str, sheet: DataSheet) -> dict[str, Any]:
    """Return changes of the profile for measuring reads in the data sheet's drive state."""
    slc = tables_of(profile(name).shape.times_json).get("slc", {})
    # After a fill, the SLC cache is empty, so the SLC read time is set for all pages.
    return {"timing.read_us": slc["read_us"]} if slc and sheet.state == "cached" else {}


def _run(drive: Device, sheet: DataSheet, corner: str) -> TimedResult:
    pattern, direction = corner.split("_")
    is_random, writes = pattern == "random", int(direction == "write")
    size = getattr(sheet, f"{corner}_bytes") if is_random else sheet.sequential_bytes
    depth = getattr(sheet, f"{corner}_depth")
    ages = is_random and writes and sheet.state == "sustained"
    span_bytes = (is_random and sheet.span_bytes) or drive.capacity_bytes
    experiment = Experiment.of(
        "simulate",
        device=drive,
        workload=f"{pattern}:bs={size},write={writes},qd={depth}",
        time=_seconds_of_rounds(drive, sheet) if ages else _SECONDS,
        precondition=_AGEING if ages else "full",
        utilization=span_bytes / drive.capacity_bytes,
    )
    return simulate_timed(experiment)


def _seconds_of_rounds(drive: Device, sheet: DataSheet) -> float:
    round_bytes = drive.pages_per_block * drive.planes * drive.page_bytes
    return max(_SECONDS, _ROUNDS * round_bytes / (sheet.sequential_write_mb_s * 1e6))
