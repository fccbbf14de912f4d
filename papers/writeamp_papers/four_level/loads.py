"""Loads of the paper's IOGenerator: accesses of one size, one outstanding.

IOGenerator extends IOmeter. Sequential reads and writes share one position. If accesses are
aligned, each access is: sequential accesses of 512 bytes aligned to 4 KiB touch the first sector of
one page after another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp._engine import Load as EngineLoad

PAGE_BYTES = 4096
SECTOR_BYTES = 512

# Access sizes of Table II, in bytes.
SIZES = (512, 4096, 8192, 16384, 32768)

_WRITE, _READ = 0, 2

Integers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Access:
    """Parameters of a micro-benchmark of Table II: size in bytes, order, writes, alignment."""

    size: int
    is_random: bool
    write_share: float
    is_aligned: bool

    def __str__(self) -> str:
        """Return the access in the paper's notation, such as 4K-RD-50%-W-Y."""
        size = f"{self.size}" if self.size < 1024 else f"{self.size // 1024}K"
        order = "RD" if self.is_random else "SQ"
        return f"{size}-{order}-{self.write_share:.0%}-W-{'Y' if self.is_aligned else 'N'}"

    def load(self, space_bytes: int, volume_bytes: int, *, seed: int) -> EngineLoad:
        """Return requests within `space_bytes` that write `volume_bytes` in total."""
        draws = np.random.default_rng(seed)
        # The number of writes is exact; their positions among the reads are random.
        writes = max(1, volume_bytes // self.size)
        count = round(writes / self.write_share)
        is_write = draws.permutation(np.arange(count) < writes)
        offsets = self._offsets(space_bytes, count, draws)
        return requests(offsets, np.full(count, self.size), is_write)

    def _offsets(self, space_bytes: int, count: int, draws: np.random.Generator) -> Integers:
        grain = PAGE_BYTES if self.is_aligned else SECTOR_BYTES
        if self.is_random:
            slots = (space_bytes - self.size) // grain + 1
            return draws.integers(0, slots, count) * grain
        step = -(-self.size // grain) * grain
        first = 0 if self.is_aligned else SECTOR_BYTES
        slots = (space_bytes - first - self.size) // step + 1
        return first + np.arange(count) % slots * step


def grid(orders: Sequence[bool], write_shares: Sequence[float]) -> list[Access]:
    """Return Table II's accesses of every size, aligned and not.

    Args:
        orders: True for random accesses, False for sequential ones.
        write_shares: shares of writes.
    """
    return [
        Access(size, is_random, write_share, is_aligned)
        for is_random in orders
        for write_share in write_shares
        for is_aligned in (True, False)
        for size in SIZES
    ]


def requests(offsets: Integers, sizes: Integers, is_write: npt.NDArray[np.bool_]) -> EngineLoad:
    """Convert arrays of requests in bytes, shape (n,), to a load for the engine."""
    first, end = offsets // PAGE_BYTES, -(-(offsets + sizes) // PAGE_BYTES)
    return EngineLoad.trace(
        ops=np.where(is_write, _WRITE, _READ).astype(np.uint8),
        first_pages=first.astype(np.uint32),
        counts=(end - first).astype(np.uint32),
        passes=1,
        head_bytes=(offsets - first * PAGE_BYTES).astype(np.uint32),
        tail_bytes=(end * PAGE_BYTES - offsets - sizes).astype(np.uint32),
        page_bytes=PAGE_BYTES,
    )
