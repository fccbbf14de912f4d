"""Skew of writes: the share that goes to the pages that are written most."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from writeamp.traces.intervals import Bounds

_POINTS = 200


@dataclass(frozen=True)
class Heat:
    """Histogram of writes: ``pages_by_writes[n]`` pages are written n times; shape (most + 1,)."""

    pages_by_writes: npt.NDArray[np.int64]

    @classmethod
    def of(cls, bounds: Bounds) -> Heat:
        """Return the heat of pages, of each write's first page and the one behind its last."""
        return cls(bounds.lengths_by_cover())

    @property
    def pages(self) -> int:
        """Distinct pages that are written."""
        return int(self.pages_by_writes.sum())

    @property
    def writes(self) -> int:
        """Page writes in all."""
        return int(self._hottest[1][-1])

    def share_of_hottest(self, share: float) -> float | None:
        """Return the share of the page writes to that share of the written pages.

        Those are the most written ones, their number rounded up; None if none is written.
        """
        if not self.pages:
            return None
        return float(self._writes_to(np.array([math.ceil(share * self.pages)]))[0] / self.writes)

    def curve(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return shares of the written pages, the most written first, and of the writes to them."""
        at = np.unique(np.linspace(0, self.pages, _POINTS + 1).astype(int))
        return at / self.pages, self._writes_to(at) / self.writes

    def _writes_to(self, hottest: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return the page writes to so many of the most written pages."""
        pages, writes, times = self._hottest
        level = np.searchsorted(pages, hottest, side="right") - 1
        found = writes[level] + (hottest - pages[level]) * times[level]
        return np.asarray(found, np.int64)

    @cached_property
    def _hottest(self) -> tuple[npt.NDArray[np.int64], ...]:
        """Pages written more often than each number of times, the most first, and writes to them.

        The third array has those numbers, and 0 at its end, where the others have all.
        """
        times = np.flatnonzero(self.pages_by_writes)[::-1]
        pages = self.pages_by_writes[times]
        before = np.concatenate([[0], np.cumsum(pages)])
        return before, np.concatenate([[0], np.cumsum(pages * times)]), np.append(times, 0)
