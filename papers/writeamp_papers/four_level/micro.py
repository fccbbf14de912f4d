"""Micro-benchmarks on steady drives (Figures 7 and 8), under each joint reading."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from statistics import fmean

from writeamp_papers.bench import Bench
from writeamp_papers.four_level.choices import CHOICES, Choices, Firmware, by_reading
from writeamp_papers.four_level.drives import GIB, STEADY_WRITES, Counts, Life, Scale
from writeamp_papers.four_level.loads import PAGE_BYTES, SECTOR_BYTES, SIZES, Access, grid
from writeamp_papers.four_level.scales import scale_of

DRIVES = ("ssd-i", "ssd-m", "ssd-s")
SHARES = (1.0, 0.5)
_VOLUME_BYTES = 5 * GIB

# Of the random writes of the twelve hours, only the last ones (this share of the user space) take
# simulated time. They fill the caches and let background collection finish.
STEADY = Access(PAGE_BYTES, is_random=True, write_share=1, is_aligned=True)
_TIMED_SHARE = 0.02

# Reads of a block that disturb it, where read disturb is modelled (section II.B). The paper gives
# no number. With the usual tens of thousands, no block of a scaled run would be refreshed.
HALF_READS = replace(STEADY, write_share=0.5)
DISTURBING_READS = 8

# Maximum number of 512-byte writes of a workload.
MOST_SMALL_WRITES = 32_768


def _volume(scale: Scale, access: Access) -> int:
    """Return the bytes that a workload of this access writes."""
    volume = _VOLUME_BYTES // scale.factor
    return min(volume, MOST_SMALL_WRITES * access.size) if access.size == SECTOR_BYTES else volume


@dataclass(frozen=True)
class Workload:
    """Micro-benchmark on a drive after twelve hours of random writes.

    Attributes:
        drive: profile of the drive.
        access: the host's accesses.
        memory_of: the profile whose memory the drive has, if not its own.
        is_empty: whether TRIM has emptied the drive, instead of twelve hours of random writes.
        disturbing_reads: reads of a block after which it is refreshed; 0 for no refresh.
    """

    drive: str
    access: Access
    memory_of: str | None = None
    is_empty: bool = False
    disturbing_reads: int = 0


class ReadingCounts:
    """Program counts of every workload under one reading (interpretation) of the paper."""

    def __init__(
        self, counts: Mapping[tuple[Firmware, Workload], Counts], choices: Choices
    ) -> None:
        """Store the counts, and the choices of the reading."""
        self._found, self._firmware = counts, choices.firmware

    def counts(
        self,
        drive: str,
        access: Access,
        *,
        memory_of: str | None = None,
        is_empty: bool = False,
        disturbing_reads: int = 0,
    ) -> Counts:
        """Return the counts of one workload."""
        workload = Workload(drive, access, memory_of, is_empty, disturbing_reads)
        return self._found[self._firmware, workload]

    def wa(self, drive: str, access: Access) -> float:
        """Return the write amplification of one workload."""
        return self.counts(drive, access).wa

    def all_of(self, drive: str, share: float) -> list[tuple[Access, Counts]]:
        """Return the accesses and counts of all workloads on a drive with one share of writes."""
        return [(access, self.counts(drive, access)) for access in grid((True, False), (share,))]

    def mean(
        self, drive: str, share: float, sizes: Collection[int], *, is_random: bool = False
    ) -> float:
        """Return the mean WA over some access sizes, with aligned and unaligned accesses."""
        chosen = (access for access in grid((is_random,), (share,)) if access.size in sizes)
        return fmean(self.wa(drive, access) for access in chosen)

    def curve(self, drive: str, share: float, *, is_random: bool = True) -> list[float]:
        """Return WA of aligned accesses, one value for each access size."""
        return [self.wa(drive, Access(size, is_random, share, is_aligned=True)) for size in SIZES]


class MicroMeasurement:
    """Program counts of every workload under each reading, and the scale of the drives."""

    def __init__(self, counts: Mapping[tuple[Firmware, Workload], Counts], scale: Scale) -> None:
        """Store the counts by firmware and workload, and the scale of the drives."""
        self._found = counts
        self.scale = scale

    def under(self, choices: Choices) -> ReadingCounts:
        """Return the counts under one reading."""
        return ReadingCounts(self._found, choices)

    def by_reading(self, value: Callable[[ReadingCounts], float]) -> dict[str, float]:
        """Return a value under each joint reading."""
        return by_reading(lambda choices: value(self.under(choices)))


def measured(bench: Bench) -> MicroMeasurement:
    """Run Table II's micro-benchmarks on the three drives, each in its random steady state."""
    scale = scale_of(bench)
    firmwares = dict.fromkeys(choices.firmware for choices in CHOICES.values())
    keys = [(firmware, workload) for firmware in firmwares for workload in _workloads()]
    bench.step(f"{len(keys)} micro-benchmarks on steady drives (Figs. 7 and 8)")
    done = bench.map(_counts, [(scale, *key) for key in keys])
    return MicroMeasurement(dict(zip(keys, done, strict=True)), scale)


def _workloads() -> list[Workload]:
    of_figures = [
        Workload(name, access) for name in DRIVES for access in grid((True, False), SHARES)
    ]
    return [
        *of_figures,
        Workload("ssd-m", STEADY, memory_of="ssd-s"),
        Workload("ssd-i", STEADY, is_empty=True),
        Workload("ssd-i", HALF_READS, disturbing_reads=DISTURBING_READS),
    ]


def _counts(scale: Scale, firmware: Firmware, workload: Workload) -> Counts:
    """Return the counts of a workload."""
    drive = scale.drive(
        workload.drive,
        firmware,
        f"refresh.reads_per_block={workload.disturbing_reads}",
        reads_share_cache=workload.access.write_share < 1,
        memory_of=workload.memory_of,
    )
    space = drive.capacity_bytes
    load = workload.access.load(space, _volume(scale, workload.access), seed=2)
    if workload.is_empty:
        return Life(drive, load, is_filled=False).settle()
    warm_up = STEADY.load(space, round(_TIMED_SHARE * space), seed=1)
    life = Life(drive, warm_up, ageing_writes=STEADY_WRITES - _TIMED_SHARE)
    life.settle_uncounted()
    return life.go_on(load)
