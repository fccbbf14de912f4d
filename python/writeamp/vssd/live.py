"""Counters of a running drive: WA since counting began, since it was new, and recently."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from writeamp.vssd.control import Control, Document, programmed_pages

# Length of the interval of "recent" WA, in seconds of the server's clock.
_RECENT_S = 10.0
_NS_PER_S = 1e9


@dataclass(frozen=True)
class LiveReading:
    """Counters, block statistics and samples of a running drive at one moment."""

    counters: Document
    blocks: Document
    series: Document

    @staticmethod
    def of(control: Control) -> LiveReading:
        """Return a new reading of a drive.

        Raises:
            WriteampError: the drive does not respond.
        """
        return LiveReading(control.counters(), control.blocks(), control.series())

    @property
    def wa(self) -> float | None:
        """WA since counting began; None before the host wrote."""
        return self._wa_since(_first(self.series, "programmed"), _first(self.series, "written"))

    @property
    def wa_life(self) -> float | None:
        """WA since the drive was new; None before the host wrote."""
        return self._wa_since(0, 0)

    def wa_after(self, earlier: LiveReading) -> float | None:
        """Return WA since an earlier reading; None if the host has not written since."""
        earlier_counters = earlier.counters
        return self._wa_since(
            programmed_pages(earlier_counters), earlier_counters["host"]["written_pages"]
        )

    def seconds_after(self, earlier: LiveReading) -> float:
        """Return the time since an earlier reading, by the server's clock."""
        passed = self.counters["elapsed_ns"] - earlier.counters["elapsed_ns"]
        return float(passed / _NS_PER_S)

    def to_dict(self) -> dict[str, Any]:
        """Return the reading as JSON types."""
        return {
            "wa": self.wa,
            "wa_life": self.wa_life,
            "counters": self.counters,
            "blocks": self.blocks,
        }

    def _wa_since(self, programmed: int, written: int) -> float | None:
        pages = self.counters["host"]["written_pages"] - written
        return (programmed_pages(self.counters) - programmed) / pages if pages > 0 else None


class Recent:
    """Recent readings, the earliest of which is about ten seconds old."""

    def __init__(self) -> None:
        """Start without readings."""
        self._readings: deque[LiveReading] = deque()

    def add(self, reading: LiveReading) -> LiveReading:
        """Add a reading, and return the newest of those at least ten seconds older.

        If no reading is that old, the earliest one is returned, which may be `reading` itself.
        """
        self._readings.append(reading)
        while len(self._readings) > 1 and reading.seconds_after(self._readings[1]) >= _RECENT_S:
            self._readings.popleft()
        return self._readings[0]


def binned(counts: Mapping[int, int], bins: int) -> list[tuple[int, int, int]]:
    """Return counts in at most `bins` bins of equal width.

    A bin has its smallest value, its largest value, and the sum of the counts of its values.

    >>> binned({0: 5, 3: 1, 4: 2, 9: 7}, 3)
    [(0, 3, 6), (4, 7, 2), (8, 9, 7)]
    """
    least, most = min(counts, default=0), max(counts, default=0)
    width = -(-(most - least + 1) // bins)
    starts = range(least, most + 1, width)
    totals = [0] * len(starts)
    for value, count in counts.items():
        totals[(value - least) // width] += count
    return [
        (start, min(start + width - 1, most), count)
        for start, count in zip(starts, totals, strict=True)
    ]


def valid_pages(blocks: Document) -> dict[int, int]:
    """Return the number of closed blocks for each possible number of valid pages."""
    return dict(enumerate(blocks["valid_pages_histogram"]))


def erase_counts(blocks: Document) -> dict[int, int]:
    """Return the number of blocks by their number of erases."""
    return {int(erases): count for erases, count in blocks["erase_counts"].items()}


def _first(series: Document, counter: str) -> int:
    """Return the value of a counter when counting began; 0 if counting never began."""
    samples: Sequence[int] = series[f"{counter}_pages"]
    return samples[0] if samples else 0
