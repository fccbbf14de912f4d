"""Workload space: points of paper 2's equation 4, at which a drive is measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from itertools import product
from typing import Any

from writeamp.errors import WriteampError
from writeamp.fields.domains import SHARE, Number, Whole, shown
from writeamp.units.durations import DurationIn

SECTOR_BYTES = 512
KIB = 1024
_MOST_BYTES = 64 << 20

_SHARE = Number("be from 0 to 1", lambda value: 0 <= value <= 1)
_DEPTH = Whole(1, 65_536)
_SIZE = Whole(SECTOR_BYTES, _MOST_BYTES)
_STRIDE = Whole(0, 1 << 44)
_RECENT = Whole(0)
BURST = DurationIn(Number("be above 0 and at most 3600", lambda value: 0 < value <= 3600))

# Paper 2, section IV.A. A stride of 0 is its sequential pattern.
_SIZES = tuple(kib * KIB for kib in (1, 4, 16, 64, 256))
_RANDOMNESS = (0.0, 0.5, 1.0)
_STRIDES = tuple(kib * KIB for kib in (0, 1, 64, 128, 256))
GRID: dict[str, tuple[float, ...]] = {
    "write_ratio": (0.0, 0.25, 0.5, 0.75, 1.0),
    "queue_depth": (1, 4, 16, 64),
    "write_size_bytes": _SIZES,
    "read_size_bytes": _SIZES,
    "write_randomness": _RANDOMNESS,
    "read_randomness": _RANDOMNESS,
    "write_stride_bytes": _STRIDES,
    "read_stride_bytes": _STRIDES,
}


@dataclass(frozen=True, order=True)
class WorkloadPoint:
    """One workload in a closed loop, by paper 2's extended characteristics (equation 4).

    Values without effect are 0: size, randomness and stride of a direction without requests, and
    the stride of a direction with only random requests. So equal workloads are equal points. A
    point can also set the state of the drive before the workload, and the measured time.

    Attributes:
        write_ratio: share of the writes among the requests (paper 2: wr_ratio).
        queue_depth: requests outstanding at any time (q_dep).
        write_size_bytes, read_size_bytes: multiples of a sector (wr_size, rd_size).
        write_randomness, read_randomness: share of the requests at random offsets; the others
            continue from the last request of their direction (wr_rand, rd_rand).
        write_stride_bytes, read_stride_bytes: from the end of a request to the start of the one
            that continues from it; 0 is sequential (wr_stride, rd_stride).
        fill: share of the drive that holds data; the workload runs on that part.
        recent_write_bytes: bytes that the workload writes in the minute before the measurement; 0
            if it only reads.
        burst_s: time of the measurement, in s; None for the long run.

    Raises:
        WriteampError: a value outside its domain, or recent writes without a burst, because the
            long run does not depend on them.
    """

    write_ratio: float
    queue_depth: int
    write_size_bytes: int = 0
    read_size_bytes: int = 0
    write_randomness: float = 0.0
    read_randomness: float = 0.0
    write_stride_bytes: int = 0
    read_stride_bytes: int = 0
    fill: float = 1.0
    recent_write_bytes: int = 0
    burst_s: float | None = None

    def __post_init__(self) -> None:
        """Check every value that has an effect, and set the others to 0."""
        self._check_state()
        _SHARE.check("write_ratio", self.write_ratio)
        _DEPTH.check("queue_depth", self.queue_depth)
        for direction, happens in (("write", self.has_writes), ("read", self.has_reads)):
            self._settle(direction, happens=happens)

    @property
    def has_writes(self) -> bool:
        """True unless all requests read."""
        return self.write_ratio > 0

    @property
    def has_reads(self) -> bool:
        """True unless all requests write."""
        return self.write_ratio < 1

    @property
    def is_in_a_state(self) -> bool:
        """True unless the drive is full and measured in the long run."""
        return any(getattr(self, name) != value for name, value in _USUAL.items())

    @property
    def spec(self) -> str:
        """The writeamp workload of this point."""
        parts = [f"io:write={self.write_ratio:.15g}", f"qd={self.queue_depth}"]
        for direction, happens in (("write", self.has_writes), ("read", self.has_reads)):
            if happens:
                parts += [
                    f"{direction}_size={getattr(self, f'{direction}_size_bytes')}",
                    f"{direction}_random={getattr(self, f'{direction}_randomness'):.15g}",
                    f"{direction}_stride={getattr(self, f'{direction}_stride_bytes')}",
                ]
        return ",".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the characteristics by name, and values of the drive's state unless default."""
        return {
            name: value
            for name, value in asdict(self).items()
            if name in CHARACTERISTICS or value != _USUAL[name]
        }

    def in_sectors(self, sector_bytes: int) -> WorkloadPoint:
        """Return the point with sizes and strides rounded up to whole sectors of a drive."""
        rounded = {
            name: -(-getattr(self, name) // sector_bytes) * sector_bytes
            for name in CHARACTERISTICS
            if name.endswith("_bytes")
        }
        return replace(self, **rounded)

    def of_one_pattern(self) -> WorkloadPoint:
        """Return the nearest point with one stride for reads and writes, or 0 if any are random.

        A fio job cannot run other points. Shares of random requests are kept. Paper 2 runs one
        access pattern at a time (section IV.A).
        """
        if self.write_randomness or self.read_randomness:
            return replace(self, write_stride_bytes=0, read_stride_bytes=0)
        stride = self.write_stride_bytes if self.has_writes else self.read_stride_bytes
        return replace(self, write_stride_bytes=stride, read_stride_bytes=stride)

    def _check_state(self) -> None:
        self._set("fill", SHARE.check("fill", self.fill))
        _RECENT.check("recent_write_bytes", self.recent_write_bytes)
        if self.burst_s is not None:
            self._set("burst_s", BURST.check("burst", self.burst_s))
        if not self.has_writes:
            self._set("recent_write_bytes", 0)
        elif self.recent_write_bytes and self.burst_s is None:
            raise WriteampError(
                f"recent_write_bytes is {self.recent_write_bytes}; the long run does not depend on "
                "recent writes, so give burst_s, too"
            )

    def _settle(self, direction: str, *, happens: bool) -> None:
        size, randomness, stride = (
            f"{direction}_{name}" for name in ("size_bytes", "randomness", "stride_bytes")
        )
        if not happens:
            self._set(size, 0)
            self._set(randomness, 0.0)
            self._set(stride, 0)
            return
        _SHARE.check(randomness, getattr(self, randomness))
        for name, domain in ((size, _SIZE), (stride, _STRIDE)):
            value = domain.check(name, getattr(self, name))
            if value % SECTOR_BYTES:
                raise WriteampError(
                    f"{name} is {shown(value)}; it must be a multiple of {SECTOR_BYTES}"
                )
        if getattr(self, randomness) == 1:
            self._set(stride, 0)

    def _set(self, name: str, value: float) -> None:
        object.__setattr__(self, name, value)


# Fields of a point that set the drive's state, with their defaults.
_USUAL = {"fill": 1.0, "recent_write_bytes": 0, "burst_s": None}
CHARACTERISTICS = tuple(entry.name for entry in fields(WorkloadPoint) if entry.name not in _USUAL)


def grid() -> Iterator[WorkloadPoint]:
    """Yield every workload of paper 2's grid once: all combinations of the values in `GRID`."""
    seen: set[WorkloadPoint] = set()
    for values in product(*GRID.values()):
        point = of_values(values)
        if point not in seen:
            seen.add(point)
            yield point


def grid_size() -> int:
    """Return the number of workloads of the grid.

    >>> grid_size()
    36740
    """
    # Strides matter unless all requests are random.
    patterns = 1 + (len(_RANDOMNESS) - 1) * len(_STRIDES)
    of_a_direction = len(_SIZES) * patterns
    depths, ratios = len(GRID["queue_depth"]), len(GRID["write_ratio"])
    return depths * (2 * of_a_direction + (ratios - 2) * of_a_direction**2)


def of_values(values: tuple[float, ...]) -> WorkloadPoint:
    """Return the point of values in the order of `CHARACTERISTICS`."""
    return WorkloadPoint(**dict(zip(CHARACTERISTICS, values, strict=True)))  # type: ignore[arg-type]
