"""Decoded captures of Ready/Busy pins: durations of busy pulses, and busy share over time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp._engine import read_capture
from writeamp.errors import WriteampError
from writeamp.files import inputs
from writeamp.runners import Progress

if TYPE_CHECKING:
    from writeamp._engine import BinnedDurations, CapturedPin, FoldedCapture

Floats: TypeAlias = npt.NDArray[np.float64]
Counts: TypeAlias = npt.NDArray[np.uint64]

_PS_A_US = 1e6
_PS_A_S = 1e12
# Pulses outside this range are not counted as operations. Flash is never busy for less, except for
# the dummy busy time of multi-plane commands (0.5 to 1 µs). It is never busy for longer, except
# after a reset or without power.
_SHORTEST_US, _LONGEST_US = 2.0, 100_000.0

_MOST_BUSY = 0.999
_SHORTEST_OPERATION_US = 10.0
_FEW = 0.01
_ENOUGH_PINS = 4


@dataclass(frozen=True)
class Durations:
    """Counts of durations in ascending bins `low_us` to `high_us` in µs, shape (n,) each."""

    low_us: Floats
    high_us: Floats
    count: Counts

    @property
    def middle_us(self) -> Floats:
        """Middle of each bin, in µs."""
        return (self.low_us + self.high_us) / 2

    @property
    def total(self) -> int:
        """Number of all durations."""
        return int(self.count.sum())

    def where(self, chosen: npt.NDArray[np.bool_]) -> Durations:
        """Return the selected bins."""
        return Durations(self.low_us[chosen], self.high_us[chosen], self.count[chosen])


@dataclass(frozen=True)
class Pin:
    """One Ready/Busy pin.

    Attributes:
        name: name in the capture.
        durations: durations of its operations.
        gaps: durations of the ready times between two pulses.
        busy_share: share of the capture's time in which the pin was busy.
        repairs: counts of left-out pulses and repairs of this pin by kind, without zeros.
    """

    name: str
    durations: Durations
    gaps: Durations
    busy_share: float
    repairs: dict[str, int]

    @property
    def cut(self) -> int:
        """Number of operations with an unknown duration, as they are cut off in the capture."""
        names = ("cut_at_start", "cut_at_end", "cut_by_unknown")
        return sum(self.repairs.get(name, 0) for name in names)


@dataclass(frozen=True)
class OverTime:
    """Activity of all pins over time, in buckets of equal width from the start of the capture.

    Attributes:
        start_s: start of each bucket in seconds, shape (n,).
        busy_share: mean share of time in which a pin is busy, by bucket, shape (n,).
        counts: number of pulses by bucket and class of duration, shape (n, m).
        edges_us: edges of the classes of duration in µs, shape (m + 1,).
    """

    start_s: Floats
    busy_share: Floats
    counts: Counts
    edges_us: Floats


@dataclass(frozen=True)
class PinCapture:
    """Decoded capture of the pins of a drive.

    `repairs` has the counts of left-out pulses and repairs of all pins by kind, without zeros.
    """

    format: str
    resolution_us: float | None
    seconds: float
    pins: tuple[Pin, ...]
    over_time: OverTime
    repairs: dict[str, int]

    @property
    def busy_share(self) -> float:
        """Mean share of busy time over the pins."""
        return float(np.mean([pin.busy_share for pin in self.pins]))


def _checked(name: str) -> Path:
    """Return the path of a capture's file or folder, after a check that its files can be read."""
    try:
        place = inputs.local(name)
        for file in _files(place):
            inputs.opened(file).close()
    except OSError as error:
        raise WriteampError(f"cannot read the capture {error.filename}: {error.strerror}") from None
    return place


def _files(place: Path) -> list[Path]:
    return list(place.glob("digital_*.bin")) if place.is_dir() else [place]


def pooled(parts: Sequence[Durations]) -> Durations:
    """Return the durations of several pins of one capture together."""
    # Bins of one capture are equal, so the lower edge identifies a bin.
    low_us = np.concatenate([durations.low_us for durations in parts])
    high_us = np.concatenate([durations.high_us for durations in parts])
    low_us, first, place = np.unique(low_us, return_index=True, return_inverse=True)
    count = np.zeros(low_us.size, np.uint64)
    np.add.at(count, place, np.concatenate([durations.count for durations in parts]))
    return Durations(low_us, high_us[first], count)


def read(
    path: str | os.PathLike[str],
    *,
    inverted: bool = False,
    progress: Progress | None = None,
) -> PinCapture:
    """Read a capture of any supported format, in constant memory.

    Args:
        path: a file, or a folder of Saleae's digital_N.bin.
        inverted: busy is high rather than low.
        progress: called with the bytes read and the total bytes, if they are known.

    Raises:
        WriteampError: the file is not a capture or damaged, or the pins are always busy.
    """
    name = os.fspath(path)
    place = _checked(name)
    total = sum(file.stat().st_size for file in _files(place))
    try:
        folded = read_capture(
            os.fspath(place),
            inverted=inverted,
            progress=progress and (lambda done: progress(done, max(total, done))),
        )
    except WriteampError as error:  # the message of this error already names the file
        raise WriteampError(str(error).replace(os.fspath(place), name, 1)) from None
    span_ps = folded["end_ps"] - folded["start_ps"]
    if span_ps == 0:
        raise WriteampError(f"{os.fspath(path)}: the capture has no duration; no pulse is complete")
    whole = {"cut_tail": int(folded["cut_tail"]), "rounded_times": folded["rounded_times"]}
    pins = [
        _pin(name, captured, span_ps)
        for name, captured in zip(folded["channels"], folded["pins"], strict=True)
    ]
    _check_polarity(os.fspath(path), pins, inverted)
    resolution_ps = folded["resolution_ps"]
    return PinCapture(
        format=folded["format"],
        resolution_us=None if resolution_ps is None else resolution_ps / _PS_A_US,
        seconds=span_ps / _PS_A_S,
        pins=tuple(pins),
        over_time=_over_time(folded, len(pins)),
        repairs=_added([whole, *(pin.repairs for pin in pins)]),
    )


def _pin(name: str, captured: CapturedPin, span_ps: int) -> Pin:
    durations, left_out = _plausible(captured)
    return Pin(
        name,
        durations,
        _binned(captured["gaps"]),
        captured["busy_ps"] / span_ps,
        _added([captured["repairs"], left_out]),
    )


def _added(parts: Iterable[dict[str, int]]) -> dict[str, int]:
    """Return the sum of several counts by name, without zeros."""
    total: dict[str, int] = {}
    for counts in parts:
        for name, count in counts.items():
            if count:
                total[name] = total.get(name, 0) + count
    return total


def _binned(binned: BinnedDurations) -> Durations:
    return Durations(binned["low_ps"] / _PS_A_US, binned["high_ps"] / _PS_A_US, binned["count"])


def _plausible(pin: CapturedPin) -> tuple[Durations, dict[str, int]]:
    """Return the pulses that may be operations, and the numbers of too short and too long ones."""
    all_of_it = _binned(pin)
    is_short = all_of_it.middle_us < _SHORTEST_US
    is_long = all_of_it.middle_us > _LONGEST_US
    left_out = {
        "short_pulses": all_of_it.where(is_short).total,
        "long_pulses": all_of_it.where(is_long).total,
    }
    return all_of_it.where(~(is_short | is_long)), left_out


def _check_polarity(path: str, pins: list[Pin], inverted: bool) -> None:
    """Reject a capture whose pins are at the busy level nearly always, as polarity may be wrong."""
    busy = max(pins, key=lambda pin: pin.busy_share)
    cut_at_both_ends = [{"cut_at_start", "cut_at_end"} <= set(pin.repairs) for pin in pins]
    rests_busy = len(pins) >= _ENOUGH_PINS and all(cut_at_both_ends)
    gaps = pooled([pin.gaps for pin in pins])
    # If the polarity is wrong, ready times are really operations, and operations are never so
    # short. So short ready times show that the polarity is right.
    no_operations = gaps.where(gaps.middle_us < _SHORTEST_OPERATION_US).total
    is_loaded = no_operations > _FEW * gaps.total
    if is_loaded or (busy.busy_share <= _MOST_BUSY and not rests_busy):
        return
    level = "high" if inverted else "low"
    remedy = "remove --inverted" if inverted else "pass --inverted"
    raise WriteampError(
        f"{path}: {busy.name} is {level}, the busy level, for {busy.busy_share:.3%} of the "
        f"capture. This is implausible: if busy is the other level, {remedy}"
    )


def _over_time(folded: FoldedCapture, pins: int) -> OverTime:
    width_ps = folded["timeline_width_ps"]
    end_ps = folded["end_ps"] - folded["timeline_origin_ps"]
    # A capture without level changes has fewer buckets than its length needs.
    used = min(max(1, -(-end_ps // width_ps)), folded["timeline_busy_ps"].size)
    edges_ps = np.minimum(np.arange(used + 1) * float(width_ps), end_ps)
    widths_ps = np.maximum(np.diff(edges_ps), 1.0)
    return OverTime(
        start_s=edges_ps[:-1] / _PS_A_S,
        busy_share=folded["timeline_busy_ps"][:used] / (widths_ps * pins),
        counts=folded["timeline_counts"][:used],
        edges_us=folded["timeline_edges_ps"] / _PS_A_US,
    )
