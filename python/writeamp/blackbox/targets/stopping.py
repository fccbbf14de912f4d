"""Stopping rule of a run in virtual time: its means are precise, or its time is over.

The run is looked at ever less often. At each look its throughput and bandwidth are judged as WA is
elsewhere (docs/steady-state.md): MSER-5 cuts the warm-up, batch means give the interval, and a run
that still drifts goes on. So does one that lives on free blocks, as steady as it may look: in the
long run a drive erases as many pages as it programs. As the number of outstanding requests is
constant, mean latency is their number over throughput (Little's law), and as precise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from writeamp._engine import TIMED_CAUSES, TimedRun
from writeamp.blackbox.targets.measured import Measured
from writeamp.errors import WriteampError
from writeamp.runners import stop_if_asked
from writeamp.statistics.steady import SteadyState, analyse

_Floats = npt.NDArray[np.float64]

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
        filling_pages: flash pages that must have been programmed, if anything is written, before
            the run may end for its precision: what the write cache and the free blocks hold, in
            which a drive is faster than it can be for long.
        cached_bytes: what the write caches of disks hold, which program nothing; it must be no
            larger a share of all that was written than the precision.
        erase_unit_pages: pages of an erase unit; 0 if nothing is erased, or in units of several
            sizes.
    """

    precision: float
    most_s: float
    filling_pages: int
    cached_bytes: int
    erase_unit_pages: int

    @property
    def most_ns(self) -> int:
        """The longest time, as the engine counts."""
        return round(self.most_s * 1e9)


def measure(run: TimedRun, rule: Rule, *, writes: bool) -> Measured:
    """Let a run that has just begun go on as long as the rule says, and return what it showed.

    Args:
        run: with nothing left out as its warm-up.
        rule: when to stop.
        writes: whether the workload writes.

    Raises:
        WriteampError: no request was answered in all that time.
    """
    looks, events = [_Look.at(run)], 0
    while True:
        stop_if_asked()
        step = _events_to_next_look(events, run.now_ns, rule.most_ns)
        is_over = run.advance(step) or run.now_ns >= rule.most_ns
        events += step
        looks.append(_Look.at(run))
        judged = _judged(run)
        if is_over or _may_end(judged, looks, rule, writes=writes):
            break
    if judged is None:
        raise WriteampError(
            f"hardly a request was answered within {rule.most_s:g} s of virtual time; give more"
        )
    first = _first_from(looks, judged.warmup_ns)
    return _between(first, looks[-1], judged, drains=_drains(first, looks[-1], rule))


def _may_end(judged: Judged | None, looks: list[_Look], rule: Rule, *, writes: bool) -> bool:
    """Return whether what was measured is precise, and can go on so for long."""
    if judged is None or not judged.meets(rule.precision):
        return False
    first, last = _first_from(looks, judged.warmup_ns), looks[-1]
    return not writes or (last.has_filled(rule) and not _drains(first, last, rule))


def _drains(first: _Look, last: _Look, rule: Rule) -> bool:
    """Return whether free blocks were used up between two looks, which cannot go on for long."""
    if not rule.erase_unit_pages:
        return False
    programmed = last.flash_pages - first.flash_pages
    erased = rule.erase_unit_pages * (last.erases - first.erases)
    return programmed - erased > rule.precision * programmed


def _events_to_next_look(events: int, now_ns: int, most_ns: int) -> int:
    wanted = max(_FIRST_EVENTS, round(events * (_LOOK_GROWTH - 1)))
    if now_ns == 0:
        return wanted
    left = math.ceil(events * (most_ns - now_ns) / now_ns)
    return max(_LAST_EVENTS, min(wanted, left))


@dataclass(frozen=True)
class Judged:
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


def _judged(run: TimedRun) -> Judged | None:
    """Judge what was served over time; None while there is nothing to judge."""
    rows = run.rows()
    whole = run.now_ns // rows["row_ns"]
    requests = (rows["reads"] + rows["writes"])[:whole].astype(float)
    if requests.size < _LEAST_ROWS or not requests.any():
        return None
    moved_bytes = (rows["read_bytes"] + rows["written_bytes"])[:whole].astype(float)
    span = np.full(requests.size, float(rows["row_ns"]))
    throughput, bandwidth = analyse(span, requests), analyse(span, moved_bytes)
    wa_warmup_ns, wa_change = _wa_course(run)
    warmup_ns = max(throughput.warmup_pages, bandwidth.warmup_pages, wa_warmup_ns)
    return Judged(throughput, bandwidth, int(requests.sum()), warmup_ns, wa_change)


def _wa_course(run: TimedRun) -> tuple[int, float]:
    """Return when the warm-up of WA is over, and by which share it changes after that.

    A host that is slower than the flash sees nothing of a cache that fills, but WA does. The change
    is that from the first half of what follows to the second; 0 where nothing is programmed.
    """
    samples = run.samples()
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
    return int(ends_ns[cut - 1]) if cut else 0, float(abs(second - first) / max(first, second))


@dataclass(frozen=True)
class _Look:
    """Counters of a run at one moment.

    `latencies_ns` has for each direction the upper bounds and counts of a histogram, and `sums_ns`
    the sum of the latencies. `flash_pages` are the programmed pages without those of an SLC cache,
    whose erases are not among `erases`.
    """

    time_ns: int
    requests: int
    bytes: int
    written_bytes: int
    sums_ns: dict[str, float]
    counts: dict[str, int]
    latencies_ns: dict[str, tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]]
    programmed_pages: int
    flash_pages: int
    erases: int
    host_pages: int

    @staticmethod
    def at(run: TimedRun) -> _Look:
        served = {one: run.served(one) for one in ("read", "write")}
        counts = {one: found["requests"] for one, found in served.items()}
        counters = run.counters() or {}
        programmed_pages = sum(counters.get(cause, 0) for cause in TIMED_CAUSES)
        histograms = {one: found["histogram"] for one, found in served.items()}
        return _Look(
            time_ns=run.now_ns,
            requests=sum(counts.values()),
            bytes=sum(found["bytes"] for found in served.values()),
            written_bytes=served["write"]["bytes"],
            sums_ns={
                one: (found["mean_ns"] or 0.0) * found["requests"] for one, found in served.items()
            },
            counts=counts,
            latencies_ns={
                one: (found["upper_ns"], found["requests"]) for one, found in histograms.items()
            },
            programmed_pages=programmed_pages,
            flash_pages=programmed_pages - counters.get("slc", 0),
            erases=counters.get("erases", 0),
            host_pages=counters.get("host_pages", 0),
        )

    def has_filled(self, rule: Rule) -> bool:
        """Return whether so much was written that caches and free blocks no longer show."""
        return (
            self.programmed_pages >= rule.filling_pages
            and rule.precision * self.written_bytes >= rule.cached_bytes
        )


def _first_from(looks: list[_Look], time_ns: int) -> _Look:
    """Return the first look from a time on that leaves something to measure."""
    last = looks[-1]
    later = (one for one in looks if one.time_ns >= time_ns and one.requests < last.requests)
    return next(later, looks[0])


def _between(first: _Look, last: _Look, judged: Judged, *, drains: bool) -> Measured:
    seconds = (last.time_ns - first.time_ns) / 1e9
    requests = last.requests - first.requests
    sums_ns = {one: last.sums_ns[one] - first.sums_ns[one] for one in last.sums_ns}
    counts = {one: last.counts[one] - first.counts[one] for one in last.counts}
    mean_us = {one: sums_ns[one] / count / 1e3 if count else None for one, count in counts.items()}
    p50_us, p99_us = _quantiles_us(first, last, (0.5, 0.99))
    host_pages = last.host_pages - first.host_pages
    programmed_pages = last.programmed_pages - first.programmed_pages
    return Measured(
        latency_us=sum(sums_ns.values()) / requests / 1e3,
        latency_p50_us=p50_us,
        latency_p99_us=p99_us,
        read_latency_us=mean_us["read"],
        write_latency_us=mean_us["write"],
        bandwidth_mb_s=(last.bytes - first.bytes) / 1e6 / seconds,
        throughput_iops=requests / seconds,
        # Without a program, all that was written is in the cache, and WA is yet to come.
        wa=programmed_pages / host_pages if host_pages and programmed_pages else None,
        requests=requests,
        precision=judged.precision,
        steady=judged.steady and not drains,
        measured_s=seconds,
        run_s=last.time_ns / 1e9,
    )


def _quantiles_us(first: _Look, last: _Look, shares: tuple[float, ...]) -> list[float]:
    """Return the latencies that such shares of the requests between two looks do not exceed."""
    upper = np.concatenate([last.latencies_ns[one][0] for one in last.latencies_ns])
    counts = np.concatenate(
        [_since(first.latencies_ns[one], last.latencies_ns[one]) for one in last.latencies_ns]
    )
    order = np.argsort(upper, kind="stable")
    reached = np.cumsum(counts[order])
    places = [np.searchsorted(reached, share * reached[-1]) for share in shares]
    return [float(upper[order][place]) / 1e3 for place in places]


def _since(
    first: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]],
    last: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]],
) -> _Floats:
    """Return the counts of a histogram without those that it had before; no bin ever goes."""
    counts = last[1].astype(float)
    counts[np.searchsorted(last[0], first[0])] -= first[1]
    return counts
