"""Live readings of a running drive: since counting began, and just now."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from writeamp.vssd.control import Control, Document, programmed_pages

# What "just now" means, in seconds of the server.
_RECENT_S = 10.0
_NS_PER_S = 1e9


@dataclass(frozen=True)
class LiveReading:
    """Reading of a drive: its counters, blocks and series at one moment."""

    counters: Document
    blocks: Document
    series: Document

    @staticmethod
    def of(control: Control) -> LiveReading:
        """Return a new reading of a drive.

        Raises:
            WriteampError: it does not answer.
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
        """Return WA since an earlier reading; None if the host wrote nothing since."""
        before = earlier.counters
        return self._wa_since(programmed_pages(before), before["host"]["written_pages"])

    def seconds_after(self, earlier: LiveReading) -> float:
        """Return the time since an earlier reading, by the server's clock."""
        passed = self.counters["elapsed_ns"] - earlier.counters["elapsed_ns"]
        return float(passed / _NS_PER_S)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON types."""
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
    """The readings of the last ten seconds."""

    def __init__(self) -> None:
        """Begin without any."""
        self._readings: deque[LiveReading] = deque()

    def add(self, reading: LiveReading) -> LiveReading:
        """Keep a reading, and return the earliest one to compare it with, which may be itself."""
        self._readings.append(reading)
        while len(self._readings) > 1 and reading.seconds_after(self._readings[1]) >= _RECENT_S:
            self._readings.popleft()
        return self._readings[0]


def binned(counts: Mapping[int, int], bins: int) -> list[tuple[int, int, int]]:
    """Return counts in at most so many bins of equal width.

    A bin is the least value, the greatest, and the count.

    >>> binned({0: 5, 3: 1, 4: 2, 9: 7}, 3)
    [(0, 3, 6), (4, 7, 2), (8, 9, 7)]
    """
    least, most = min(counts, default=0), max(counts, default=0)
    width = -(-(most - least + 1) // bins)
    starts = range(least, most + 1, width)
    found = [0] * len(starts)
    for value, count in counts.items():
        found[(value - least) // width] += count
    return [
        (start, min(start + width - 1, most), count)
        for start, count in zip(starts, found, strict=True)
    ]


def valid_pages(blocks: Document) -> dict[int, int]:
    """Return how many closed blocks have how many valid pages, for every number there may be."""
    return dict(enumerate(blocks["valid_pages_histogram"]))


def erase_counts(blocks: Document) -> dict[int, int]:
    """Return how many blocks were erased how often."""
    return {int(erases): count for erases, count in blocks["erase_counts"].items()}


def _first(series: Document, what: str) -> int:
    """Return a counter as it was when counting began; a drive that never began is new."""
    samples: Sequence[int] = series[f"{what}_pages"]
    return samples[0] if samples else 0
