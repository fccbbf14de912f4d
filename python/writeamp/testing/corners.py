"""Four corners of a data sheet, measured on the profile that is held against it.

The drive keeps its dies, its blocks and its op, but its blocks have fewer pages and take the less
time to erase, so that a fill takes seconds. Random writes depend on the length of a collection,
too, and are measured once more with fewer blocks of full length.
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

# Pages of flash that are simulated at most, but for blocks that cannot be shorter.
MOST_PAGES = 40_000_000
# The same where blocks have their full length.
MOST_PAGES_OF_WHOLE_BLOCKS = 150_000_000

# Virtual time of each measurement.
_SECONDS = 0.2
# Of sustained random writes it is the time in which each die fills so many erase units with
# sequential ones: all dies begin at once, so that their collections come in waves at first.
_ROUNDS = 100
# Random writes are measured on a drive that was overwritten so often.
_AGEING = "random:2"


@dataclass(frozen=True)
class Corner:
    """One figure of a data sheet beside the one measured."""

    name: str
    promised: float
    measured: float

    @property
    def ratio(self) -> float:
        """Measured over promised."""
        return self.measured / self.promised


def measured_corners(
    name: str, *, changes: Mapping[str, Any] | None = None, most_pages: int = MOST_PAGES
) -> tuple[Corner, ...]:
    """Measure the four corners of a profile's data sheet, in the order of `CORNERS`.

    Args:
        name: a profile with a table [data_sheet].
        changes: values of its tables to replace, as `device` takes them by `set`.
        most_pages: pages of flash that are simulated at most.

    Raises:
        WriteampError: the profile is held against no data sheet.
    """
    sheet = _sheet(name)
    given = dict(changes or {})
    written = shortened(name, _of_writes(name, sheet) | given, most_pages)
    read = shortened(name, _of_reads(name, sheet) | given, most_pages)
    found = {
        "sequential_read_mb_s": _run(read, sheet, "sequential_read").bandwidth_mb_s["read"],
        "sequential_write_mb_s": _run(written, sheet, "sequential_write").bandwidth_mb_s["write"],
        "random_read_iops": _run(read, sheet, "random_read").iops["read"],
        "random_write_iops": _run(written, sheet, "random_write").iops["write"],
    }
    return tuple(Corner(corner, sheet.corners[corner], found[corner]) for corner in CORNERS)


def random_writes_of_whole_blocks(
    name: str,
    *,
    changes: Mapping[str, Any] | None = None,
    most_pages: int = MOST_PAGES_OF_WHOLE_BLOCKS,
) -> Corner:
    """Measure random writes with blocks of full length, of which the drive has fewer.

    Arguments and errors are those of `measured_corners`.
    """
    sheet = _sheet(name)
    shape = profile(name).shape
    most = most_pages // (shape.planes * shape.pages_per_block)
    changed = _of_writes(name, sheet) | dict(changes or {})
    drive = _of_blocks(name, min(max(most, 1), shape.blocks_per_plane), changed)
    found = _run(drive, sheet, "random_write").iops["write"]
    return Corner("random_write_iops", sheet.random_write_iops, found)


def shortened(name: str, changes: Mapping[str, Any], most_pages: int) -> Device:
    """Return the full drive with blocks of fewer pages, at least a program unit each."""
    shape = profile(name).shape
    grain = shape.flash_page_bytes // shape.page_bytes * shape.pages_per_word_line
    of_planes = shape.planes * shape.blocks_per_plane
    programs = shape.pages_per_block // grain
    factor = min(
        (one for one in range(1, programs + 1) if programs % one == 0),
        key=lambda one: (of_planes * shape.pages_per_block // one > most_pages, one),
    )
    if of_planes * shape.pages_per_block // factor > most_pages:
        factor = programs
    shorter = {
        "geometry.pages_per_block": shape.pages_per_block // factor,
        "timing.erase_us": tables_of(shape.times_json)["timing"]["erase_us"] / factor,
    }
    return _of_blocks(name, shape.blocks_per_plane, shorter | dict(changes))


def _sheet(name: str) -> DataSheet:
    found = profile(name).data_sheet
    if found is None:
        raise RefusedError(f"{name} has no [data_sheet] to be held against")
    return found


def _of_blocks(name: str, blocks_per_plane: int, changes: Mapping[str, Any]) -> Device:
    """Return a profile's drive with so many blocks in each plane and values replaced."""
    shape = profile(name).shape
    dies = shape.planes // shape.planes_per_die
    units = {"block": shape.planes, "multi-plane": dies, "superblock": 1}[shape.erase_unit]
    return device(name, blocks=blocks_per_plane * units, set=dict(changes))


def _of_writes(name: str, sheet: DataSheet) -> dict[str, Any]:
    """Return what the state that a sheet means makes of writes."""
    # Sustained writes find the SLC cache full, and pass it by.
    has_cache = profile(name).shape.has_slc_cache
    empty = {"slc.static_bytes": 0, "slc.dynamic_share": 0.0}
    return empty if has_cache and sheet.state == "sustained" else {}


def _of_reads(name: str, sheet: DataSheet) -> dict[str, Any]:
    """Return what the state that a sheet means makes of reads."""
    slc = tables_of(profile(name).shape.times_json).get("slc", {})
    # A fill leaves the cache empty, so what would be read from it is given its time to be read.
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
