"""Stopping rule of a run in virtual time: its means are precise, or its time is over.

The run is looked at ever less often. At each look its throughput and bandwidth are judged as WA is
elsewhere (docs/steady-state.md): MSER-5 cuts the warm-up, batch means give the interval, and a run
that still drifts goes on. So does one that lives on free blocks, as steady as it may look: in the
long run a drive erases as many pages as it programs. As the number of outstanding requests is
constant, mean latency is their number over throughput (Little's law), and as precise."""

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

# Events before the first look, and how much longer the run is at each look than at the last.
_FIRST_EVENTS = 512
_LOOK_GROWTH = 1.3
# As near as that the last look comes to the longest time.
_LAST_EVENTS = 64
# Fewer requests tell nothing about the 99th percentile.
_LEAST_REQUESTS = 1000
# The engine keeps up to 512 rows of what was served over time; with fewer, hardly any has passed.
_LEAST_ROWS = 64

# So many times the precision WA may differ between the halves of what is measured.
_MOST_WA_CHANGE = 5


@dataclass(frozen=True)
class Rule:
    """Stopping rule of the run of a point.

    Attributes:
        precision: relative half width of the 95% intervals that is asked for.
        most_s: virtual time after which it is done anyway.
        drive: on which the run began. If anything is written, the run may end for its precision
            only when the write caches and free blocks are full, in which a drive is faster than it
            can be for long: `filling_pages` were programmed, and `cached_bytes`, which program
            nothing, are no larger a share of all that was written than the precision.
    """

    precision: float
    most_s: float
    drive: PreparedDevice

    @property
    def most_ns(self) -> int:
        """The longest time, as the engine counts."""
        return round(self.most_s * 1e9)


def measure(run: TimedRun, rule: Rule, *, writes: bool) -> Performance:
    """Let a run that has just begun go on as long as the rule says, and return what it showed.

    Args:
        run: with nothing left out as its warm-up.
        rule: when to stop.
        writes: whether the workload writes.

    Raises:
        WriteampError: no request was answered in all that time.
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
            f"hardly a request was answered within {rule.most_s:g} s of virtual time; give more"
        )
    first, last = _first_from(looks, judged.warmup_ns), looks[-1]
    is_steady = judged.steady and not _drains(first, last, rule)
    return between(first, last, precision=judged.precision, steady=is_steady)


def _may_end(judged: RunJudgement | None, looks: list[Look], rule: Rule, *, writes: bool) -> bool:
    """Return whether what was measured is precise, and can go on so for long."""
    if judged is None or not judged.meets(rule.precision):
        return False
    first, last = _first_from(looks, judged.warmup_ns), looks[-1]
    return not writes or (_has_filled(last, rule) and not _drains(first, last, rule))


def _has_filled(last: Look, rule: Rule) -> bool:
    """Return whether so much was written that caches and free blocks no longer show."""
    return (
        last.programmed_pages >= rule.drive.filling_pages
        and rule.precision * last.written_bytes >= rule.drive.cached_bytes
    )


def _drains(first: Look, last: Look, rule: Rule) -> bool:
    """Return whether free blocks were used up between two looks, which cannot go on for long."""
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
    """Judgement on a run at one look: its means, and how WA changes from half to half of it."""

    throughput: SteadyState
    bandwidth: SteadyState
    requests: int
    warmup_ns: int
    wa_change: float

    @property
    def precision(self) -> float | None:
        """The larger relative half width; None if too few intervals, or all without requests."""
        both = (self.throughput, self.bandwidth)
        if any(math.isnan(one.own_half_width) or not one.wa for one in both):
            return None
        return max(one.own_half_width / one.wa for one in both)

    @property
    def steady(self) -> bool:
        """Whether neither mean drifts."""
        return self.throughput.steady and self.bandwidth.steady

    def meets(self, precision: float) -> bool:
        """Return whether the means are precise and have settled, WA too."""
        found = self.precision
        is_precise = found is not None and found <= precision
        is_settled = self.steady and self.wa_change <= _MOST_WA_CHANGE * precision
        return is_precise and is_settled and self.requests >= _LEAST_REQUESTS


def _judged(run: TimedRun) -> RunJudgement | None:
    """Judge what was served over time; None while there is nothing to judge."""
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
    """Return when the warm-up of WA is over, and by which share it changes after that.

    A host that is slower than the flash sees nothing of a cache that fills, but WA does. The change
    is that from the first half of what follows to the second; 0 where nothing is programmed.
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
        flash[part].sum() / host[part].sum() for part in (slice(cut, middle), slice(middle, None))
    )
    # All that was programmed may have been in the warm-up.
    change = abs(second - first) / max(first, second) if first or second else 0.0
    return int(ends_ns[cut - 1]) if cut else 0, float(change)


def _first_from(looks: list[Look], time_ns: int) -> Look:
    """Return the first look from a time on that leaves something to measure."""
    last = looks[-1]
    later = (one for one in looks if one.time_ns >= time_ns and one.requests < last.requests)
    return next(later, looks[0])


# A workload writes for as long before its burst, at most: what is recent is of a minute.
RECENT_NS = 60_000_000_000

# As near as that a run comes to its goal.
_LEAST_EVENTS = 16
# So large a part of the way that seems to be left is gone at once.
_STRIDE = 0.8


def longest_ns(burst_s: float) -> int:
    """Return the time that a burst takes at most, with what comes before it."""
    return RECENT_NS + round(burst_s * 1e9)


def measure_burst(run: TimedRun, recent_write_bytes: int, burst_s: float) -> Performance:
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
