"""Stopping rule of a run in virtual time: its means are precise, or its time is over.

The run is checked at growing intervals. Each check analyses throughput and bandwidth like WA
elsewhere (docs/steady-state.md): MSER-5 cuts the warm-up, and batch means give the interval. A run
that still drifts continues. A run that uses up free blocks continues, too, even if it looks steady,
because in the long run a drive erases as many pages as it programs. The number of outstanding
requests is constant, so mean latency is that number divided by throughput (Little's law), and is as
precise as throughput."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from writeamp._engine import TIMED_CAUSES, TimedRun
from writeamp.errors import WriteampError
from writeamp.learn.blackbox.targets.looks import Look, between
from writeamp.learn.blackbox.targets.prepared import PreparedDevice
from writeamp.learn.blackbox.targets.target import Performance
from writeamp.runners import stop_if_asked
from writeamp.statistics.steady import SteadyState, analyse

# Simulated events before the first check, and factor of events from one check to the next.
_FIRST_EVENTS = 512
_LOOK_GROWTH = 1.3
# Least number of events between two checks, even if the longest time ends in fewer events.
_LAST_EVENTS = 64
# With fewer requests, the 99th percentile of latency is unreliable, so the run continues.
_LEAST_REQUESTS = 1000
# The engine stores completed requests over time in up to 512 rows. The analysis needs at least this
# number of rows.
_LEAST_ROWS = 64

# Largest allowed relative change of WA between the halves of the measurement, in multiples of the
# required precision.
_MOST_WA_CHANGE = 5


@dataclass(frozen=True)
class StoppingRule:
    """Stopping rule of the run of a point.

    Attributes:
        precision: required relative half width of the 95% intervals.
        most_s: virtual time after which the run ends anyway.
        drive: the initial state. A run with writes may end early only after write caches are full
            and free blocks are used up, because until then a drive is faster than in the long run.
            So `filling_pages` must be programmed, and `cached_bytes` must be at most the share
            `precision` of the written bytes.
    """

    precision: float
    most_s: float
    drive: PreparedDevice

    @property
    def most_ns(self) -> int:
        """The longest virtual time, in ns."""
        return round(self.most_s * 1e9)


def measure(run: TimedRun, rule: StoppingRule, *, writes: bool) -> Performance:
    """Advance a new run until the rule ends it, and return its performance.

    Args:
        run: a run without a warm-up of its own.
        rule: when to stop.
        writes: whether the workload writes.

    Raises:
        WriteampError: too few requests were completed in the longest time.
    """
    looks, events = [Look.at(run)], 0
    while True:
        stop_if_asked()
        step = _events_to_next_look(events, run.now_ns, rule.most_ns)
        is_over = run.advance(step) or run.now_ns >= rule.most_ns
        events += step
        looks.append(Look.at(run))
        judged = _judged(run)
        if is_over or _may_end(judged, looks, rule, writes=writes):
            break
    if judged is None:
        raise WriteampError(
            f"too few requests were completed within {rule.most_s:g} s of virtual time; give a "
            "longer --time"
        )
    first, last = _first_from(looks, judged.warmup_ns), looks[-1]
    is_steady = judged.steady and not _drains(first, last, rule)
    return between(first, last, precision=judged.precision, steady=is_steady)


def _may_end(
    judged: RunJudgement | None, looks: list[Look], rule: StoppingRule, *, writes: bool
) -> bool:
    """Return whether the means are precise, and the drive is in its long-run state."""
    if judged is None or not judged.meets(rule.precision):
        return False
    first, last = _first_from(looks, judged.warmup_ns), looks[-1]
    return not writes or (_has_filled(last, rule) and not _drains(first, last, rule))


def _has_filled(last: Look, rule: StoppingRule) -> bool:
    """Return whether enough was written that initial caches and free blocks no longer matter."""
    return (
        last.programmed_pages >= rule.drive.filling_pages
        and rule.precision * last.written_bytes >= rule.drive.cached_bytes
    )


def _drains(first: Look, last: Look, rule: StoppingRule) -> bool:
    """Return whether the number of free blocks fell between two looks, which cannot last."""
    if not rule.drive.erase_unit_pages:
        return False
    programmed = last.flash_pages - first.flash_pages
    erased = rule.drive.erase_unit_pages * (last.erases - first.erases)
    return programmed - erased > rule.precision * programmed


def _events_to_next_look(events: int, now_ns: int, most_ns: int) -> int:
    wanted = max(_FIRST_EVENTS, round(events * (_LOOK_GROWTH - 1)))
    if now_ns == 0:
        return wanted
    left = math.ceil(events * (most_ns - now_ns) / now_ns)
    return max(_LAST_EVENTS, min(wanted, left))


@dataclass(frozen=True)
class RunJudgement:
    """Analysis of a run at one look: its means, and how much WA changes between its halves."""

    throughput: SteadyState
    bandwidth: SteadyState
    requests: int
    warmup_ns: int
    wa_change: float

    @property
    def precision(self) -> float | None:
        """Relative half width of the throughput's or bandwidth's interval, the larger; or None.

        It is None with too few intervals, or without requests.
        """
        both = (self.throughput, self.bandwidth)
        if any(math.isnan(mean.own_half_width) or not mean.wa for mean in both):
            return None
        return max(mean.own_half_width / mean.wa for mean in both)

    @property
    def steady(self) -> bool:
        """Whether neither mean throughput nor mean bandwidth drifts."""
        return self.throughput.steady and self.bandwidth.steady

    def meets(self, precision: float) -> bool:
        """Return whether the means are precise enough, and both they and WA have settled."""
        width = self.precision
        is_precise = width is not None and width <= precision
        is_settled = self.steady and self.wa_change <= _MOST_WA_CHANGE * precision
        return is_precise and is_settled and self.requests >= _LEAST_REQUESTS


def _judged(run: TimedRun) -> RunJudgement | None:
    """Return the analysis of the completed requests over time; None if there are too few."""
    rows = run.rows()
    whole = run.now_ns // rows["row_ns"]
    requests = (rows["reads"] + rows["writes"])[:whole].astype(float)
    if requests.size < _LEAST_ROWS or not requests.any():
        return None
    moved_bytes = (rows["read_bytes"] + rows["written_bytes"])[:whole].astype(float)
    span = np.full(requests.size, float(rows["row_ns"]))
    throughput, bandwidth = analyse(span, requests), analyse(span, moved_bytes)
    wa_warmup_ns, wa_change = wa_course(run.samples())
    warmup_ns = max(throughput.warmup_pages, bandwidth.warmup_pages, wa_warmup_ns)
    return RunJudgement(throughput, bandwidth, int(requests.sum()), warmup_ns, wa_change)


def wa_course(samples: Mapping[str, np.ndarray]) -> tuple[int, float]:
    """Return the time at which the warm-up of WA ends, and the relative change of WA after it.

    WA is checked separately, because a cache that fills may change WA but not throughput, if the
    host is slower than the flash. The change is between the halves of the time after the warm-up;
    it is 0 if no page is programmed.
    """
    host = np.diff(samples["host_pages"].astype(float))
    flash = np.diff(np.sum([samples[cause] for cause in TIMED_CAUSES], axis=0).astype(float))
    moved = host > 0
    host, flash, ends_ns = host[moved], flash[moved], samples["time_ns"][1:][moved]
    if host.size < _LEAST_ROWS or not flash.any():
        return 0, 0.0
    cut = int(np.searchsorted(np.cumsum(host), analyse(host, flash).warmup_pages, side="right"))
    middle = (cut + host.size) // 2
    first, second = (
        flash[half].sum() / host[half].sum() for half in (slice(cut, middle), slice(middle, None))
    )
    # Both are 0 if all pages were programmed during the warm-up.
    change = abs(second - first) / max(first, second) if first or second else 0.0
    return int(ends_ns[cut - 1]) if cut else 0, float(change)


def _first_from(looks: list[Look], time_ns: int) -> Look:
    """Return the first look at or after a time that is followed by completed requests."""
    last = looks[-1]
    later = (look for look in looks if look.time_ns >= time_ns and look.requests < last.requests)
    return next(later, looks[0])


# Longest time of the writes before a burst: recent writes are the writes of the last minute.
RECENT_NS = 60_000_000_000

# Least number of events in a step, so a run exceeds its goal by at most this number of events.
_LEAST_EVENTS = 16
# A step covers this share of the estimated remaining events, so that it does not exceed the goal.
_STRIDE = 0.8


def longest_ns(burst_s: float) -> int:
    """Return the longest time of a burst, including the writes before it, in ns."""
    return RECENT_NS + round(burst_s * 1e9)


def measure_burst(run: TimedRun, recent_write_bytes: int, burst_s: float) -> Performance:
    """Let a new run write some bytes, and measure the burst that follows.

    Args:
        run: run of the workload on a drive that was idle for long.
        recent_write_bytes: bytes to write first, at most those of a minute; 0 for a workload
            without writes.
        burst_s: measured virtual time, in s.

    Returns:
        The means over the burst, which may be imprecise or not steady, and the bytes written before
        it.

    Raises:
        WriteampError: no request was completed in the burst.
    """
    written_bytes = 0
    if recent_write_bytes:
        _advance_until(
            run, lambda: max(run.written_bytes / recent_write_bytes, run.now_ns / RECENT_NS)
        )
        written_bytes = run.written_bytes
    first = Look.at(run)
    _advance_until(run, lambda: (run.now_ns - first.time_ns) / (burst_s * 1e9))
    last = Look.at(run)
    if last.requests == first.requests:
        raise WriteampError(
            f"no request was completed in a burst of {burst_s:g} s of virtual time; give a longer "
            "--burst"
        )
    return between(first, last, precision=None, steady=None, recent_write_bytes=written_bytes)


def _advance_until(run: TimedRun, share_of_way: Callable[[], float]) -> None:
    """Advance a run until the share of its goal that is reached, `share_of_way`, is 1."""
    events = 0
    while (share := share_of_way()) < 1:
        stop_if_asked()
        left = round(events * (1 / share - 1)) if share else 0
        step = max(_LEAST_EVENTS, min(events, round(_STRIDE * left)))
        run.advance(step)
        events += step
