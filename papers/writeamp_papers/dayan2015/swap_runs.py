"""Runs for section 6.1 of Dayan et al. 2015: groups that swap their frequencies.

Extra migrations are those beyond the migrations of the same drive without a swap, over the same
writes, in percent of the flash's pages (PBA).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TypeAlias

import numpy as np

from writeamp_papers.bench import Bench
from writeamp_papers.dayan2015 import drives
from writeamp_papers.dayan2015.drives import FULL, SHORT, Run, Size, groups

_CLOSED_FORM = "allocation=closed-form,coldest_ratio=0.05,coldest_op=0.05"
WOLF = f"{drives.WOLF},{_CLOSED_FORM},weight=0.015"
WOLF_SLOW = f"{drives.WOLF},{_CLOSED_FORM},weight=0.003"
FDP = f"{drives.FDP},allocation=optimal,class=last"
FDP_CURRENT = f"{drives.FDP},allocation=optimal,class=current"
MANAGERS = (WOLF, WOLF_SLOW, FDP, FDP_CURRENT)

# Update frequencies of the two groups of Figs. 6 and 7 and of milder swaps; update frequencies of
# the five groups of Fig. 8.
TWO_GROUPS = ((10, 90), (20, 80), (30, 70), (40, 60))
FIVE_GROUPS = (1, 2, 4, 8, 16)
PAIRS = tuple(combinations(range(len(FIVE_GROUPS)), 2))

# Section 5.3: at most so many movement operations of Wolf per interval, if two groups swap with
# these frequencies: those of Figs. 6 and 7, and those of section 5.4.
MOVES = (0, 1)
PACED = (TWO_GROUPS[0], (0, 100))

# Writes after a swap over which migrations are counted: by default, and in Figs. 6 and 7.
AFTER = 10e6
COUNTED = (5e6, 10e6, 20e6)

# _BEFORE is the number of writes with the first frequencies ("after 5 million writes", Fig. 8).
# Before them, all groups are written equally often for _ALIKE writes. The reason: after the fill,
# FDP's coldest group holds all free blocks and releases them only as it is written. At its own low
# frequency, this would take longer than the writes before the swap.
_ALIKE = 2e6
_BEFORE = 5e6

# WA has recovered once it exceeds the WA of the run without a swap by at most this share.
_BACK = 0.1

Frequencies: TypeAlias = tuple[int, ...]
Swap: TypeAlias = tuple[int, int]
# Manager, frequencies, and the groups that swap.
_Key = tuple[str, Frequencies, Swap | None]


@dataclass(frozen=True)
class Swaps:
    """Runs of every manager without a swap and with each swap, on drives of one size."""

    size: Size
    runs: Mapping[_Key, Run]

    @property
    def swap_at(self) -> int:
        """Number of page writes before the swap, on the simulated drive."""
        return self.size.writes(_ALIKE) + self.size.writes(_BEFORE)

    def run(self, manager: str, frequencies: Frequencies, swap: Swap | None) -> Run:
        """Return the run with this manager, these frequencies and this swap (None: no swap)."""
        return self.runs[manager, frequencies, swap]

    def extra(
        self, manager: str, frequencies: Frequencies, swap: Swap, after: float = AFTER
    ) -> float:
        """Return the extra migrations since the swap, in percent of PBA.

        `after` is the number of writes since the swap, as on the paper's drive.
        """
        end = self.swap_at + self.size.writes(after)
        swapped, still = (
            self.run(manager, frequencies, swapped_groups) for swapped_groups in (swap, None)
        )
        pages = swapped.migrated(self.swap_at, end) - still.migrated(self.swap_at, end)
        return swapped.percent_of_drive(pages)

    def total(self, manager: str, frequencies: Frequencies, swap: Swap) -> float:
        """Return all migrations in the writes after the swap, in percent of PBA."""
        swapped = self.run(manager, frequencies, swap)
        end = self.swap_at + self.size.writes(AFTER)
        return swapped.percent_of_drive(swapped.migrated(self.swap_at, end))

    def extra_over_time(
        self, manager: str, frequencies: Frequencies, swap: Swap
    ) -> tuple[list[float], list[float]]:
        """Return writes since the swap (in millions on the paper's drive) and extra migrations."""
        millions = np.linspace(0, max(self.counted(frequencies)) / 1e6, 201)
        return millions.tolist(), [
            self.extra(manager, frequencies, swap, 1e6 * million) for million in millions
        ]

    def counted(self, frequencies: Frequencies) -> tuple[float, ...]:
        """Return the numbers of writes since a swap for which extra migrations can be computed.

        They are numbers of writes on the paper's drive.
        """
        return COUNTED if frequencies == TWO_GROUPS[0] else (AFTER,)

    def millions_until_back(self, manager: str, frequencies: Frequencies, swap: Swap) -> float:
        """Return writes from the swap to the last point at which WA has not yet recovered.

        They are in millions of writes on the paper's drive. Returns 0 if WA never exceeds its level
        without a swap by more than the share `_BACK`.
        """
        end = self.swap_at + self.size.writes(AFTER)
        level = self.run(manager, frequencies, None).wa(self.swap_at, end)
        line = self.run(manager, frequencies, swap).line(
            "", "", start=self.swap_at, end=end, zero=self.swap_at, points=2
        )
        above = [x for x, wa in zip(line.x, line.y, strict=True) if wa > (1 + _BACK) * level]
        return max(above, default=0.0)


def simulated(bench: Bench) -> Swaps:
    """Run every manager with and without every swap."""
    size = FULL if bench.full else SHORT
    bench.step("swaps of the frequencies of groups (Figs. 6 to 8)")
    keys: list[_Key] = [
        *((m, frequencies, s) for m in MANAGERS for frequencies in TWO_GROUPS for s in _swaps(2)),
        *((m, FIVE_GROUPS, s) for m in MANAGERS for s in _swaps(len(FIVE_GROUPS))),
        *((m, PACED[1], (0, 1)) for m in (WOLF, WOLF_SLOW)),
        *((paced(m, n), f, (0, 1)) for m in (WOLF, WOLF_SLOW) for n in MOVES for f in PACED),
    ]
    runs = bench.map(partial(_simulated, size), keys)
    return Swaps(size, dict(zip(keys, runs, strict=True)))


def paced(wolf: str, moves: int) -> str:
    """Return the spec of a Wolf with a limit on its movement operations per interval."""
    return f"{wolf},moves={moves}"


def _swaps(number: int) -> list[Swap | None]:
    return [None, *combinations(range(number), 2)]


def _simulated(size: Size, manager: str, frequencies: Frequencies, swap: Swap | None) -> Run:
    swapped = list(frequencies)
    if swap:
        first, second = swap
        swapped[first], swapped[second] = frequencies[second], frequencies[first]
    longest = COUNTED[-1] if frequencies == TWO_GROUPS[0] else AFTER
    alike, settling, after = (size.writes(writes) for writes in (_ALIKE, _BEFORE, longest))
    loads = "/".join(groups(shares) for shares in ([1] * len(swapped), frequencies, swapped))
    workload = f"phases:writes={alike}/{settling}/{after},of={loads}"
    return drives.run(manager, None, workload, size.device(), alike + settling + after)
