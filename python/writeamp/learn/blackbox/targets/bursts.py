"""Bursts: a workload is measured for a fixed time, after it has written so much.

How fast a drive is depends for a while on what it took in just before, for caches and free blocks
fill. The mean over the long run shows nothing of that.
"""

from __future__ import annotations

from collections.abc import Callable

from writeamp._engine import TimedRun
from writeamp.errors import WriteampError
from writeamp.learn.blackbox.targets.looks import Look, between
from writeamp.learn.blackbox.targets.measured import Measured
from writeamp.runners import stop_if_asked

# A workload writes for as long before its burst, at most: what is recent is of a minute.
RECENT_NS = 60_000_000_000

# As near as that a run comes to its goal.
_LEAST_EVENTS = 16
# So large a part of the way that seems to be left is gone at once.
_STRIDE = 0.8


def longest_ns(burst_s: float) -> int:
    """Return the time that a burst takes at most, with what comes before it."""
    return RECENT_NS + round(burst_s * 1e9)


def measure_burst(run: TimedRun, recent_write_bytes: int, burst_s: float) -> Measured:
    """Let a run that has just begun write so much, and measure what follows for so long.

    Args:
        run: of the workload, on a drive that was left alone for long.
        recent_write_bytes: what is written first, or as much of it as a minute takes; 0 of a
            workload that writes nothing.
        burst_s: virtual time that is measured.

    Returns:
        The means over the burst, which need be neither precise nor steady, and what was written
        before.

    Raises:
        WriteampError: no request was answered in the burst.
    """
    written_bytes = 0
    if recent_write_bytes:
        _go_on(run, lambda: max(run.written_bytes / recent_write_bytes, run.now_ns / RECENT_NS))
        written_bytes = run.written_bytes
    first = Look.at(run)
    _go_on(run, lambda: (run.now_ns - first.time_ns) / (burst_s * 1e9))
    last = Look.at(run)
    if last.requests == first.requests:
        raise WriteampError(
            f"no request was answered in a burst of {burst_s:g} s of virtual time; give more"
        )
    return between(first, last, precision=None, steady=None, recent_write_bytes=written_bytes)


def _go_on(run: TimedRun, share_of_way: Callable[[], float]) -> None:
    """Let a run go on until the whole of a way is gone."""
    events = 0
    while (share := share_of_way()) < 1:
        stop_if_asked()
        left = round(events * (1 / share - 1)) if share else 0
        step = max(_LEAST_EVENTS, min(events, round(_STRIDE * left)))
        run.advance(step)
        events += step
