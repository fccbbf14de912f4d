"""Snapshots of the counters of a run in virtual time, and performance between two of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from writeamp._engine import TIMED_CAUSES, TimedRun
from writeamp.learn.blackbox.targets.target import Performance

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Look:
    """Counters of a run at one moment.

    For reads and for writes, `latencies_ns` holds the upper bounds and counts of a histogram, and
    `sums_ns` the sum of the latencies. `flash_pages` and `erases` do not count the programs and
    erases of an SLC cache.
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
    def at(run: TimedRun) -> Look:
        """Return the present counters of a run."""
        served = {side: run.served(side) for side in ("read", "write")}
        counts = {side: answers["requests"] for side, answers in served.items()}
        counters = run.counters() or {}
        programmed_pages = sum(counters.get(cause, 0) for cause in TIMED_CAUSES)
        histograms = {side: answers["histogram"] for side, answers in served.items()}
        return Look(
            time_ns=run.now_ns,
            requests=sum(counts.values()),
            bytes=sum(answers["bytes"] for answers in served.values()),
            written_bytes=served["write"]["bytes"],
            sums_ns={
                side: (answers["mean_ns"] or 0.0) * answers["requests"]
                for side, answers in served.items()
            },
            counts=counts,
            latencies_ns={
                side: (answers["upper_ns"], answers["requests"])
                for side, answers in histograms.items()
            },
            programmed_pages=programmed_pages,
            flash_pages=programmed_pages - counters.get("slc", 0),
            erases=counters.get("erases", 0),
            host_pages=counters.get("host_pages", 0),
        )


def between(
    first: Look,
    last: Look,
    *,
    precision: float | None,
    steady: bool | None,
    recent_write_bytes: int = 0,
) -> Performance:
    """Return the performance of a run between two looks (snapshots of its counters).

    Args:
        first, last: the looks; requests must have completed between them.
        precision: relative half width of the 95% intervals of mean latency and bandwidth; None if
            unknown.
        steady: whether neither of these means drifted; None if unchecked.
        recent_write_bytes: bytes written in the minute before the first look.
    """
    seconds = (last.time_ns - first.time_ns) / 1e9
    requests = last.requests - first.requests
    sums_ns = {side: last.sums_ns[side] - first.sums_ns[side] for side in last.sums_ns}
    counts = {side: last.counts[side] - first.counts[side] for side in last.counts}
    mean_us = {
        side: sums_ns[side] / count / 1e3 if count else None for side, count in counts.items()
    }
    p50_us, p99_us = _quantiles_us(first, last, (0.5, 0.99))
    host_pages = last.host_pages - first.host_pages
    programmed_pages = last.programmed_pages - first.programmed_pages
    return Performance(
        latency_us=sum(sums_ns.values()) / requests / 1e3,
        latency_p50_us=p50_us,
        latency_p99_us=p99_us,
        read_latency_us=mean_us["read"],
        write_latency_us=mean_us["write"],
        bandwidth_mb_s=(last.bytes - first.bytes) / 1e6 / seconds,
        throughput_iops=requests / seconds,
        # Without programmed pages, all data is still in the cache, and WA is unknown.
        wa=programmed_pages / host_pages if host_pages and programmed_pages else None,
        requests=requests,
        precision=precision,
        steady=steady,
        measured_s=seconds,
        run_s=last.time_ns / 1e9,
        recent_write_bytes=recent_write_bytes,
    )


def _quantiles_us(first: Look, last: Look, shares: tuple[float, ...]) -> list[float]:
    """Return latency quantiles of the requests between two looks, in µs."""
    upper = np.concatenate([last.latencies_ns[side][0] for side in last.latencies_ns])
    counts = np.concatenate(
        [_since(first.latencies_ns[side], last.latencies_ns[side]) for side in last.latencies_ns]
    )
    order = np.argsort(upper, kind="stable")
    reached = np.cumsum(counts[order])
    places = [np.searchsorted(reached, share * reached[-1]) for share in shares]
    return [float(upper[order][place]) / 1e3 for place in places]


def _since(
    first: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]],
    last: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]],
) -> _Floats:
    """Return a histogram's counts between two looks; all bins of the first exist in the last."""
    counts = last[1].astype(float)
    counts[np.searchsorted(last[0], first[0])] -= first[1]
    return counts
