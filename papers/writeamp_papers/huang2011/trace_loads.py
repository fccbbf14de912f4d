"""Loads for the four traces of Table VII, generated from their statistics.

The traces are not available except for the first requests of two: 10,000 of Financial1 in 260 s,
and 24,783 of WebSearch1 in 60 s. The paper trains models on the first two hours of a trace and
predicts the third, so generated hours differ as the thirds of those first requests do. Properties
that neither these nor paper 5 give are assumed:

- drift over three hours, which is that over the first minutes;
- the share of requests that start at the end of the previous request of their direction (48% and
  10% of those first requests, counted separately for each device);
- the space in which all other requests start.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp._engine import Load as EngineLoad
from writeamp.traces import SCHEMA, Trace

_SECTOR_BYTES = 512
_KIB = 1024
_MIB = 1024 * _KIB
_NS = 1e9

_WRITE, _READ = 0, 2
# Draws whose quantiles are the properties of windows.
_SAMPLE = 20_000

Integers = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """Differences between windows of about 400 requests.

    Attributes:
        rate: standard deviation of the requests per second divided by their mean, without Poisson
            noise.
        write_share: standard deviation of the share of writes.
        write_bytes, read_bytes: standard deviation of a window's mean size divided by its mean.
    """

    rate: float = 0.0
    write_share: float = 0.0
    write_bytes: float = 0.0
    read_bytes: float = 0.0


@dataclass(frozen=True)
class Third:
    """A third of a trace's first requests, relative to all of them.

    Attributes:
        rate: ratio of the requests per second.
        write_odds: ratio of the odds of a write (writes divided by reads).
        write_bytes, read_bytes: ratios of the mean sizes.
        spread: differences between windows of this third.
    """

    rate: float
    write_odds: float
    write_bytes: float
    read_bytes: float
    spread: Spread


# Means over windows of about 400 requests: 8 in each third of the first requests of Financial1, 20
# in each of WebSearch1, whose four writes give neither drift nor spread.
FINANCIAL_THIRDS = (
    Third(0.908, 3.903, 1.108, 0.410, Spread(0.200, 0.054, 1.116, 0.214)),
    Third(0.668, 0.783, 0.765, 0.884, Spread(0.335, 0.304, 0.291, 0.821)),
    Third(1.424, 0.466, 1.127, 1.706, Spread(0.239, 0.126, 0.881, 0.047)),
)
SEARCH_THIRDS = (
    Third(1.085, 1.0, 1.0, 1.028, Spread(rate=0.083, read_bytes=0.105)),
    Third(0.947, 1.0, 1.0, 0.983, Spread(rate=0.246, read_bytes=0.085)),
    Third(0.969, 1.0, 1.0, 0.988, Spread(rate=0.102, read_bytes=0.081)),
)


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
        spread: differences between windows.
    """

    write_share: float
    write_bytes: float
    read_bytes: float
    rate_s: float
    sequential_share: float
    span_bytes: int
    spread: Spread = Spread()

    def of_third(self, third: Third) -> TraceStatistics:
        """Return the statistics of a third of the trace."""
        odds = third.write_odds * self.write_share / (1 - self.write_share)
        return replace(
            self,
            write_share=odds / (1 + odds),
            write_bytes=third.write_bytes * self.write_bytes,
            read_bytes=third.read_bytes * self.read_bytes,
            rate_s=third.rate * self.rate_s,
            spread=third.spread,
        )

    def windows(self, count: int, window_s: float, *, seed: int) -> pl.DataFrame:
        """Return the requests of `count` time windows, which differ by `spread`."""
        draws = np.random.default_rng(seed)
        rates_s = self.rate_s * _factors(draws, self.spread.rate, count)
        # Each window has at least one request, because features of an empty window are undefined.
        requests = np.maximum(1, draws.poisson(rates_s * window_s))
        window = np.repeat(np.arange(count), requests)
        at_s = np.sort(window + draws.random(window.size)) * window_s
        shares = _shares(draws, self.write_share, self.spread.write_share, count)
        is_write = draws.random(window.size) < shares[window]
        means = [
            _window_sizes(draws, mean_bytes, spread, count)[window]
            for mean_bytes, spread in (
                (self.write_bytes, self.spread.write_bytes),
                (self.read_bytes, self.spread.read_bytes),
            )
        ]
        # Whole sectors, geometrically distributed around the window's mean.
        length = draws.geometric(_SECTOR_BYTES / np.where(is_write, *means)) * _SECTOR_BYTES
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
_FINANCIAL1 = TraceStatistics(0.77, 3.8 * _KIB, 2.3 * _KIB, 38.5, 0.3, 512 * _MIB)
_WEBSEARCH1 = TraceStatistics(0.0002, 8.0 * _KIB, 15.1 * _KIB, 412.7, 0.0, 4096 * _MIB)
STATISTICS = {
    "Financial1": _FINANCIAL1,
    "Financial2": replace(_FINANCIAL1, write_share=0.18, write_bytes=3.0 * _KIB),
    "WebSearch1": _WEBSEARCH1,
    "WebSearch2": _WEBSEARCH1,
}


def thirds_of(trace: str) -> list[TraceStatistics]:
    """Return the statistics of the thirds of a trace, one of `STATISTICS`."""
    thirds = FINANCIAL_THIRDS if trace.startswith("Financial") else SEARCH_THIRDS
    return [STATISTICS[trace].of_third(third) for third in thirds]


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


def _window_sizes(draws: np.random.Generator, mean_bytes: float, spread: float, count: int) -> F64:
    """Draw mean sizes of requests of each window; a request has at least a sector."""
    return _SECTOR_BYTES + (mean_bytes - _SECTOR_BYTES) * _factors(draws, spread, count)


def _factors(draws: np.random.Generator, spread: float, count: int) -> F64:
    """Return a factor for each window, with mean 1 and `spread` as standard deviation."""
    if not spread:
        return np.ones(count)
    return _shuffled_quantiles(draws, draws.gamma(spread**-2, spread**2, _SAMPLE), count)


def _shares(draws: np.random.Generator, mean: float, spread: float, count: int) -> F64:
    """Return a share of writes for each window, with a mean and a standard deviation."""
    if not spread:
        return np.full(count, mean)
    both = mean * (1 - mean) / spread**2 - 1
    return _shuffled_quantiles(draws, draws.beta(mean * both, (1 - mean) * both, _SAMPLE), count)


def _shuffled_quantiles(draws: np.random.Generator, sample: F64, count: int) -> F64:
    """Return evenly spaced quantiles in random order, so that few windows have the right mean."""
    return draws.permutation(np.quantile(sample, (np.arange(count) + 0.5) / count))


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
