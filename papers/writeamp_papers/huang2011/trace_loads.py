"""Loads for the four traces of Table VII, generated from their statistics.

The traces are not available except for the first requests of two: 10,000 of Financial1 in 260 s,
and 24,783 of WebSearch1 in 60 s. Properties that neither these nor paper 5 give are assumed:

- the change of rates between windows (75% and 17% between seconds of those first requests);
- the share of requests that start at the end of the previous request of their direction (48% and
  10% of those first requests, counted separately for each device);
- the space in which all other requests start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp._engine import Load as EngineLoad
from writeamp.traces import SCHEMA, Trace

_SECTOR_BYTES = 512
_KIB = 1024
_MIB = 1024 * _KIB
_NS = 1e9

# Request rates of the windows: standard deviation divided by mean.
_RATE_SPREAD = 0.3
_WRITE, _READ = 0, 2

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TraceStatistics:
    """Statistics of a trace, for generated requests.

    Attributes:
        write_share: share of the writes among the requests.
        write_bytes, read_bytes: mean sizes.
        rate_s: requests per second.
        sequential_share: share of the requests that start at the end of the previous request of
            their direction.
        span_bytes: size of the space in which all other requests start.
    """

    write_share: float
    write_bytes: float
    read_bytes: float
    rate_s: float
    sequential_share: float
    span_bytes: int

    def windows(self, count: int, window_s: float, *, seed: int) -> pl.DataFrame:
        """Return the requests of `count` time windows with different request rates."""
        draws = np.random.default_rng(seed)
        shape = _RATE_SPREAD**-2
        rates_s = draws.gamma(shape, self.rate_s / shape, count)
        # Each window has at least one request, because features of an empty window are undefined.
        requests = np.maximum(1, draws.poisson(rates_s * window_s))
        starts_s = np.repeat(np.arange(count) * window_s, requests)
        at_s = np.sort(starts_s + draws.random(starts_s.size) * window_s)
        is_write = draws.random(at_s.size) < self.write_share
        length = np.where(
            is_write,
            _sizes(draws, at_s.size, self.write_bytes),
            _sizes(draws, at_s.size, self.read_bytes),
        )
        offset = np.empty_like(length)
        for of_direction in (is_write, ~is_write):
            offset[of_direction] = self._offsets(draws, length[of_direction])
        return _frame(np.round(at_s * _NS).astype(np.int64), is_write, offset, length)

    def _offsets(self, draws: np.random.Generator, length: Integers) -> Integers:
        """Return first bytes of requests: a random sector, or the end of the previous request."""
        goes_on = draws.random(length.size) < self.sequential_share
        goes_on[:1] = False
        starts = draws.integers(0, self.span_bytes // _SECTOR_BYTES, length.size) * _SECTOR_BYTES
        # Within a run, each request starts at the run's start plus the sizes of its previous
        # requests.
        ends = np.cumsum(length) - length
        run = np.maximum.accumulate(np.where(goes_on, 0, np.arange(length.size)))
        offsets: Integers = (starts[run] + ends - ends[run]) % self.span_bytes
        return offsets


# Shares of writes and mean sizes of the Financial traces are from paper 5, Table II; those of
# WebSearch1 are from its first requests, of which four are writes. Requests per second are those of
# the first requests of Financial1 (38.5) and WebSearch1 (412.7). The rate of Financial2 is unknown
# and set to that of Financial1; all of WebSearch2 is unknown and set to WebSearch1.
STATISTICS = {
    "Financial1": TraceStatistics(0.77, 3.8 * _KIB, 2.3 * _KIB, 38.5, 0.3, 512 * _MIB),
    "Financial2": TraceStatistics(0.18, 3.0 * _KIB, 2.3 * _KIB, 38.5, 0.3, 512 * _MIB),
    "WebSearch1": TraceStatistics(0.0002, 8.0 * _KIB, 15.1 * _KIB, 412.7, 0.0, 4096 * _MIB),
    "WebSearch2": TraceStatistics(0.0002, 8.0 * _KIB, 15.1 * _KIB, 412.7, 0.0, 4096 * _MIB),
}


def as_trace(requests: pl.DataFrame) -> Trace:
    """Return requests as a `Trace`, from which features of its windows are computed."""
    devices = int(requests["device"].to_numpy().max()) + 1
    return Trace(requests, "memory", "the trace", [str(number) for number in range(devices)])


def wrapped(requests: pl.DataFrame, space_bytes: int) -> pl.DataFrame:
    """Map each device's requests to its own part of one drive's space; times begin at 0.

    The parts are of equal size.
    """
    devices = int(requests["device"].to_numpy().max()) + 1
    part_bytes = space_bytes // devices // _MIB * _MIB
    offset = (pl.col("offset") % (part_bytes - _MIB)) + pl.col("device").cast(
        pl.UInt64
    ) * part_bytes
    first_ns = pl.col("timestamp_ns").min()
    return requests.with_columns(offset=offset, timestamp_ns=pl.col("timestamp_ns") - first_ns)


def part_of(requests: pl.DataFrame, parts: int, space_bytes: int) -> pl.DataFrame:
    """Return requests with addresses mapped into the first of `parts` equal parts of a space."""
    return requests.with_columns(pl.col("offset") % (space_bytes // parts))


def load_of(requests: pl.DataFrame, page_bytes: int, *, at_times: bool) -> EngineLoad:
    """Return requests for the engine, each at its time or after the previous one is answered."""
    offsets = requests["offset"].to_numpy().astype(np.int64)
    ends = offsets + requests["length"].to_numpy()
    first, end = offsets // page_bytes, -(-ends // page_bytes)
    ops = np.where((requests["op"] == "write").to_numpy(), _WRITE, _READ)
    return EngineLoad.trace(
        ops=ops.astype(np.uint8),
        first_pages=first.astype(np.uint32),
        counts=(end - first).astype(np.uint32),
        passes=1,
        at_ns=requests["timestamp_ns"].to_numpy().astype(np.uint64) if at_times else None,
        head_bytes=(offsets - first * page_bytes).astype(np.uint32),
        tail_bytes=(end * page_bytes - ends).astype(np.uint32),
        page_bytes=page_bytes,
    )


def _sizes(draws: np.random.Generator, count: int, mean_bytes: float) -> Integers:
    """Draw sizes in bytes: whole sectors, geometrically distributed."""
    sizes: Integers = draws.geometric(_SECTOR_BYTES / mean_bytes, count) * _SECTOR_BYTES
    return sizes


def _frame(
    at_ns: Integers, is_write: npt.NDArray[np.bool_], offset: Integers, length: Integers
) -> pl.DataFrame:
    names = np.where(is_write, "write", "read")
    columns = {
        "timestamp_ns": at_ns,
        "device": np.zeros(at_ns.size, dtype=np.uint32),
        "op": names,
        "offset": offset.astype(np.uint64),
        "length": length.astype(np.uint32),
    }
    return pl.DataFrame(columns).cast(SCHEMA)  # type: ignore[arg-type]
