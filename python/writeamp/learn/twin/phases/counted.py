"""Counters of a drive at several times of a phase, and WA in the phase's windows.

The counter of media bytes may have any value at the first row of a phase, so only differences
between rows are used: windows begin and end at rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from writeamp.learn.twin.phases.loads import PhaseLoad, load_of
from writeamp.learn.twin.serving import Floats

GIB = float(1 << 30)
FIFTHS = 5
# Share of the phase's host bytes after which WA counts as steady, and the fewest rows after it.
_STEADY_FROM, _FEWEST_ROWS = 0.6, 5
_TOO_FEW_ROWS = "fewer than five rows are left after 60% of the host bytes"
_NOT_MOVING = "the counter of media bytes does not move after 60% of the host bytes"
# Quantile of the normal distribution for a 90% interval, and the median of its absolute value.
_Z90, _MEDIAN = 1.645, 0.6745


@dataclass(frozen=True)
class CountedWindow:
    """Part of a phase between two rows.

    Attributes:
        begin_bytes: host bytes at the first row, since the start of the phase.
        end_bytes: host bytes at the last row.
        wa: media bytes over host bytes between the two rows.
        error: standard error of `wa`, from the errors of the two readings.
    """

    begin_bytes: float
    end_bytes: float
    wa: float
    error: float

    @property
    def bounds(self) -> tuple[float, float]:
        """Ends of the 90% interval of `wa`."""
        return self.wa - _Z90 * self.error, self.wa + _Z90 * self.error


@dataclass(frozen=True, eq=False)
class CountedPhase:
    """One load on a drive, with the drive's counters at rows of the phase.

    Attributes:
        drive: name of the drive.
        run: name of the run; each run starts with a sanitized drive.
        number: place of the phase in its run.
        pattern: name of the load, as in the table of phases.
        details: parameters of the load, as in the table.
        span_bytes: size of the written part of the drive; the rest is trimmed.
        host_bytes: host bytes since the start of the phase, at each row.
        media_bytes: counter of media bytes, at each row.
    """

    drive: str
    run: str
    number: int
    pattern: str
    details: str
    span_bytes: float
    host_bytes: Floats
    media_bytes: Floats

    @property
    def name(self) -> str:
        """Name of the phase, RUN:PHASE."""
        return f"{self.run}:{self.number}"

    def follows(self, other: CountedPhase) -> bool:
        """Return whether the phase is the next one after another of the same run."""
        return self.run == other.run and self.number == other.number + 1

    @cached_property
    def load(self) -> PhaseLoad:
        """Load of the phase on a simulated drive."""
        return load_of(self.pattern, self.details)

    @cached_property
    def steady(self) -> CountedWindow | None:
        """Window from the first row at or after 60% of the host bytes; None with under 5 rows."""
        if self.host_bytes.size - self._first_steady < _FEWEST_ROWS:
            return None
        return self._window(self._first_steady, self.host_bytes.size - 1)

    @property
    def reason(self) -> str | None:
        """Reason of a missing steady window; None if there is one."""
        if self.steady is not None:
            return None
        is_short = self.host_bytes.size - self._first_steady < _FEWEST_ROWS
        return _TOO_FEW_ROWS if is_short else _NOT_MOVING

    @property
    def _first_steady(self) -> int:
        return int(np.searchsorted(self.host_bytes, _STEADY_FROM * self.host_bytes[-1]))

    @cached_property
    def whole(self) -> CountedWindow | None:
        """Window of all rows; None if there are not two."""
        return self._window(0, self.host_bytes.size - 1)

    @cached_property
    def fifths(self) -> tuple[CountedWindow | None, ...]:
        """Windows of a fifth of the host bytes each; None where a fifth has no two rows."""
        starts = self.host_bytes[-1] * np.arange(FIFTHS) / FIFTHS
        cuts = [*np.searchsorted(self.host_bytes, starts).tolist(), self.host_bytes.size - 1]
        return tuple(map(self._window, cuts[:-1], cuts[1:]))

    def _window(self, first: int, last: int) -> CountedWindow | None:
        begin, end = float(self.host_bytes[first]), float(self.host_bytes[last])
        media = float(self.media_bytes[last] - self.media_bytes[first])
        if not end > begin or not media > 0:
            return None
        error = math.sqrt(2) * self._reading_error / (end - begin)
        return CountedWindow(begin, end, media / (end - begin), error)

    @cached_property
    def _reading_error(self) -> float:
        """Standard error of a reading of the media counter, in bytes.

        It is estimated from the distance of each reading from the line through its neighbours,
        which ignores the trend. The median ignores places where WA changes suddenly. A counter in
        units of many bytes has at least the error of rounding to its unit.
        """
        host, media = self.host_bytes, self.media_bytes
        if host.size < _FEWEST_ROWS:
            return float(media[-1] - media[0]) / max(1, host.size - 1)
        share = (host[1:-1] - host[:-2]) / (host[2:] - host[:-2])
        off = media[1:-1] - (1 - share) * media[:-2] - share * media[2:]
        spread = np.sqrt(1 + share**2 + (1 - share) ** 2)
        unit_bytes = int(np.gcd.reduce(np.diff(media).astype(np.int64)))
        scatter = float(np.median(np.abs(off) / spread) / _MEDIAN)
        return max(scatter, unit_bytes / math.sqrt(12))
