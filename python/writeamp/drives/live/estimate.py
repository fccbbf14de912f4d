"""WA of a real drive, from a simulated drive that gets a sample of its writes.

A large drive is simulated at a scale of 1/k: of each k neighbouring pages of the address space, one
is in the sample, chosen at random. The simulated drive has 1/k of the pages at the same
over-provisioning (op), and the writes to all other pages are left out. So shares of the address
space and their write frequencies stay the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.devices.device import Device, DeviceLike, device
from writeamp.results.numbers import plural
from writeamp.studies.functions import simulate
from writeamp.units.ratios import MOST_PLAIN_OP, physical_of

# Most logical pages of the simulated drive, and its host writes as a multiple of its pages.
_MOST_PAGES, _DRIVE_WRITES = 1 << 18, 2.0
# Over-provisioning of client and data centre drives, between which that of a drive usually is.
_USUAL_OP = (0.07, 0.28)
# Multiplier of the hash that chooses the page of a group (Knuth's multiplicative hashing).
_HASH = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)
# Sampled writes below which a note states that they are few; and length of a repeated sample.
_FEWEST_WRITES, _FEWEST_REPEATED = 1_000, 1 << 16

Integers = npt.NDArray[np.int64]
Addresses: TypeAlias = Literal["as recorded", "everywhere"]


@dataclass(frozen=True)
class Assumption:
    """A possible state of the drive, and WA in this state.

    Attributes:
        addresses: "as recorded" if the recorded addresses are written again and again, "everywhere"
            if each page is written equally often.
        op: over-provisioning ratio.
        fill: share of the logical pages that hold data; the others are trimmed.
        wa, wa_low, wa_high: WA with its 95% interval.
    """

    addresses: Addresses
    op: float
    fill: float
    wa: float
    wa_low: float
    wa_high: float

    def to_dict(self) -> dict[str, Any]:
        """Return the assumption as JSON types."""
        return asdict(self)


@dataclass(frozen=True)
class WearEstimate:
    """WA of a drive under recorded writes.

    Attributes:
        profile: name of the profile.
        scale: pages of the drive per page of the simulated one.
        sampled_writes: page writes in the sample.
        assumptions: WA in possible states of the drive; the first is the estimate.
        notes: sentences on limits of the estimate.
    """

    profile: str
    scale: int
    sampled_writes: int
    assumptions: tuple[Assumption, ...]
    notes: tuple[str, ...]

    @property
    def wa(self) -> float:
        """WA in the first state."""
        return self.assumptions[0].wa

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and greatest WA over all states and their intervals."""
        lows = [each.wa_low for each in self.assumptions]
        return min(lows), max(each.wa_high for each in self.assumptions)

    def to_dict(self) -> dict[str, Any]:
        """Return the assumptions as JSON types."""
        return {
            "profile": self.profile,
            "scale": self.scale,
            "sampled_writes": self.sampled_writes,
            "states": [each.to_dict() for each in self.assumptions],
        }


def estimate(
    frames: Iterable[pl.DataFrame],
    device_bytes: int,
    *,
    profile: DeviceLike,
    op: float | None = None,
    used_share: float | None = None,
) -> WearEstimate | None:
    """Return WA of a drive under recorded requests; None if they write nothing.

    Args:
        frames: rows with `op`, `offset` and `length` in bytes, in order.
        device_bytes: capacity of the device.
        profile: profile of the drive.
        op: over-provisioning ratio; default: that of the profile, and the usual ones as further
            states.
        used_share: share of the file system that holds data, if it is known; then the state with
            trimmed free space is added.

    Raises:
        WriteampError: the profile is invalid, or cannot have this op.
    """
    model = device(profile)
    pages = max(device_bytes // model.page_bytes, 1)
    scale = -(-pages // _MOST_PAGES)
    parts = [sampled(*_writes(frame, model.page_bytes), scale) for frame in frames]
    sample = np.concatenate(parts) if parts else np.empty(0, np.int64)
    logical_bytes = pages // scale * model.page_bytes
    sample = sample[sample < pages // scale]
    if not sample.size:
        return None
    own_op = op or model.op
    states: list[tuple[Addresses, float, float]] = [("as recorded", own_op, 1.0)]
    usual = [] if op is not None else [each for each in _USUAL_OP if abs(each - own_op) > 0.01]
    ops = [own_op, *usual]
    states += [("as recorded", other, 1.0) for other in ops[1:]]
    # A short recording repeats fewer addresses than a day does.
    states += [("everywhere", other, 1.0) for other in ops]
    if used_share is not None and 0 < used_share < 1:
        states.append(("as recorded", own_op, used_share))
    few = (
        [f"only {plural(sample.size, 'page write')} in the sample; record for longer"]
        if sample.size < _FEWEST_WRITES
        else []
    )
    return WearEstimate(
        model.name,
        scale,
        int(sample.size),
        tuple(_state(sample, _scaled(model, logical_bytes, *state), *state) for state in states),
        tuple(few),
    )


def sampled(first: Integers, end: Integers, scale: int) -> Integers:
    """Return the pages of the simulated drive that ranges of pages write, in order.

    Args:
        first: first page of each range; shape (ranges,).
        end: page after each range; shape (ranges,).
        scale: neighbouring pages of which one is in the sample.
    """
    group = first // scale
    counts = (end - 1) // scale - group + 1
    begins = np.repeat(np.cumsum(counts) - counts, counts)
    groups = np.repeat(group, counts) + np.arange(counts.sum()) - begins
    hashed = (groups.astype(np.uint64) * _HASH) >> _SHIFT
    chosen = groups * scale + (hashed % np.uint64(scale)).astype(np.int64)
    is_written = (chosen >= np.repeat(first, counts)) & (chosen < np.repeat(end, counts))
    written: Integers = groups[is_written]
    return written


def _writes(frame: pl.DataFrame, page_bytes: int) -> tuple[Integers, Integers]:
    """Return the first page, and the page after the last, of each write of a frame."""
    is_write = (pl.col("op").cast(pl.String) == "write") & (pl.col("length") > 0)
    writes = frame.filter(is_write)
    first = writes["offset"].cast(pl.Int64).to_numpy()
    end = first + writes["length"].cast(pl.Int64).to_numpy()
    return first // page_bytes, -(-end // page_bytes)


def _scaled(model: Device, logical_bytes: int, _: Addresses, op: float, fill: float) -> Device:
    """Return the simulated drive; free space that is trimmed is further over-provisioning."""
    whole_op = min(physical_of(1 / fill, op) - 1, MOST_PLAIN_OP)  # WA is 1 far below this limit
    scaled = device(model, size=logical_bytes, op=whole_op)
    return replace(scaled, is_timed_by_default=False)


def _state(
    sample: Integers, drive: Device, addresses: Addresses, op: float, fill: float
) -> Assumption:
    writes = round(_DRIVE_WRITES * drive.physical_pages)
    load: dict[str, Any] = {"workload": "uniform"}
    if addresses == "as recorded":
        # Each repetition of a trace has a cost of its own, so a short sample is made longer.
        pages = np.tile(sample % drive.logical_pages, -(-_FEWEST_REPEATED // sample.size))
        load = {"trace": pages, "mapping": "as-is", "repeat": -(-writes // pages.size)}
    result = simulate(drive, **load, writes=writes, replicas=1)
    low, high = result.ci or (math.nan, math.nan)
    return Assumption(
        addresses=addresses,
        op=op,
        fill=fill,
        wa=result.wa,
        wa_low=result.wa if math.isnan(low) else max(low, 1.0),
        wa_high=result.wa if math.isnan(high) else high,
    )
