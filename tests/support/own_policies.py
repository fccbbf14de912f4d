"""Placements and victim policies in Python that the tests run beside those of the engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import writeamp as wa
from places import ROOT
from writeamp import custom
from writeamp.custom.compiling import has_numba

needs_numba = pytest.mark.skipif(
    not has_numba(), reason="needs Numba: pip install 'writeamp[numba]'"
)
SEPBIT = f"{ROOT}/examples/my_placement.py:SepBIT"
DRIVE: dict[str, Any] = {"blocks": 300, "pages_per_block": 32, "op": 0.25}
RUN: dict[str, Any] = {**DRIVE, "writes": 40_000, "replicas": 1}
LOAD = "zipf:s=0.99,trim=0.05"


def counted(manager: Any, load: str = LOAD, **more: Any) -> dict[str, int]:
    found = wa.simulate(workload=load, manager=manager, **(RUN | more))
    return {**found.causes, "erases": found.erases, "pages": found.host_pages}


class Base(wa.Placement):
    """`sepgc`: a stream for what the host writes, and one for what collection moves."""

    streams = 2

    def on_write(self, page: int, now: int) -> int:
        return 0

    def on_migrate(self, page: int, victim: Any) -> int:
        return 1


class Regions(wa.Placement):
    """The regions of `dac` (Chiang, Lee & Chang 1999)."""

    victims = "cost-benefit"

    def __init__(self, drive: custom.DriveFacts, regions: int = 6) -> None:
        self.streams = regions
        self.region: list[int | None] = [None] * drive.logical_pages

    def on_write(self, page: int, now: int) -> int:
        before = self.region[page]
        self.region[page] = 0 if before is None else min(before + 1, self.streams - 1)
        return self.region[page]

    def on_trim(self, page: int) -> None:
        self.region[page] = None

    def on_migrate(self, page: int, victim: Any) -> int:
        self.region[page] = max((self.region[page] or 0) - 1, 0)
        return self.region[page]


class AllAtOnce(Regions):
    """Regions that are told of all pages of a victim by one call."""

    def on_migrate_all(self, pages: np.ndarray, victim: Any) -> list[int]:
        return [self.on_migrate(page, victim) for page in pages.tolist()]


class Handles(wa.Placement):
    """`nvme-fdp:handles=2`: the host's groups, and one stream for all that collection moves."""

    streams = 3
    migration_streams = (2,)
    required_hints = "groups"

    def on_write(self, page: int, now: int, group: int) -> int:
        return group % 2

    def on_migrate(self, page: int, victim: Any) -> int:
        return 2


class Greedy(wa.VictimPolicy):
    """The built-in `greedy`: of equals, the block that lost a page longest ago."""

    def choose(self, candidates: Any, now: int) -> int:
        most = np.flatnonzero(candidates.invalid_pages == candidates.invalid_pages.max())
        return most[np.argmin(candidates.changed_at[most])]


class Oldest(wa.VictimPolicy):
    """The built-in `fifo`."""

    def choose(self, candidates: Any, now: int) -> int:
        return 0
