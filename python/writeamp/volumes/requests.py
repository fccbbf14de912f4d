"""Requests of a synthetic fleet, made in chunks from the volumes' parameters and a seed.

All volumes write at the same time: each request belongs to a random volume, with the volume's share
of requests as probability.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.traces.trace import OPERATIONS, SCHEMA, Operation
from writeamp.volumes.settings import FleetSettings

PAGE_BYTES = 4096
# Minimum size of a volume in pages: the longest request must fit.
_FEWEST_PAGES = 64
# Maximum size of a volume in pages. Above it, products of two page numbers overflow.
_MOST_PAGES = 2**31
# A share with mean m is distributed as Beta(_SPREAD m, _SPREAD (1 - m)).
_SPREAD = 3.0


def draw_parameters(settings: FleetSettings) -> pl.DataFrame:
    """Return one row of parameters for each volume, in order of the names.

    `volume`: name. `pages`: size in pages of 4 KiB, log-normal. `share_of_requests`: mean share of
    the fleet's requests, proportional to the volume's pages times a log-normal factor. `skew`:
    exponent s of the power law of page popularity, uniform. `sequential_share` and `read_share`:
    beta. `drift`: distance that the hot pages move during the trace, as a multiple of the
    volume's size, exponential. `request_pages`: mean length of a request, in pages.
    """
    volumes = settings.volumes
    draws = np.random.default_rng([settings.seed, 0])
    sizes = settings.size / PAGE_BYTES * np.exp(settings.size_sigma * draws.normal(size=volumes))
    pages = np.clip(np.rint(sizes), _FEWEST_PAGES, _MOST_PAGES).astype(np.int64)
    traffic = pages * np.exp(settings.traffic_sigma * draws.normal(size=volumes))
    return pl.DataFrame(
        {
            "volume": [str(number) for number in range(volumes)],
            "pages": pages,
            "share_of_requests": traffic / traffic.sum(),
            "skew": draws.uniform(settings.skew_low, settings.skew_high, volumes),
            "sequential_share": _shares(draws, settings.sequential, volumes),
            "read_share": _shares(draws, settings.reads, volumes),
            "drift": draws.exponential(settings.drift, volumes),
            "request_pages": np.full(volumes, settings.request_pages),
        }
    )


def _shares(draws: np.random.Generator, mean: float, volumes: int) -> npt.NDArray[np.float64]:
    if mean == 0:
        return np.zeros(volumes)
    return draws.beta(_SPREAD * mean, _SPREAD * (1 - mean), volumes)


CHUNK_REQUESTS = 1 << 20
# 2020-01-01, the time of the first request.
_FIRST_NS = 1_577_836_800 * 10**9
_MOST_REQUEST_PAGES = 64
# At exponent 1 the formula of the power law is undefined. An exponent this close to 1 gives the
# same result to six digits.
_NEAR_ONE = 1e-6
_READ, _WRITE = 0, 1
_OPERATIONS = pl.Series(OPERATIONS, dtype=Operation)

_Floats = npt.NDArray[np.float64]
_Whole = npt.NDArray[np.int64]


def made_requests(settings: FleetSettings, volumes: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield the requests in order of time, as frames with the schema of traces."""
    scheme = _Scheme(volumes)
    chunks = -(-settings.requests // CHUNK_REQUESTS)
    ends = np.linspace(0, settings.requests, chunks + 1).astype(np.int64)
    for chunk in range(chunks):
        draws = np.random.default_rng([settings.seed, 1 + chunk])
        span = (chunk / chunks, (chunk + 1) / chunks)
        count = int(ends[chunk + 1] - ends[chunk])
        yield scheme.chunk(draws, count, span, settings.duration)


class _Scheme:
    """Generator of requests, with the end of each volume's last request."""

    def __init__(self, volumes: pl.DataFrame) -> None:
        column = {name: volumes[name].to_numpy() for name in volumes.columns[1:]}
        self._shares = column["share_of_requests"] / column["share_of_requests"].sum()
        self._pages: _Whole = column["pages"]
        self._skew = np.where(np.abs(column["skew"] - 1) < _NEAR_ONE, 1 - _NEAR_ONE, column["skew"])
        self._sequential: _Floats = column["sequential_share"]
        self._reads: _Floats = column["read_share"]
        self._drift: _Floats = column["drift"]
        self._request_pages: _Floats = column["request_pages"]
        self._stride = _strides(self._pages)
        # Page at which each volume's last request ended; -1 before its first.
        self._last_end = np.full(len(self._pages), -1)

    def chunk(
        self,
        draws: np.random.Generator,
        count: int,
        span: tuple[float, float],
        duration_s: float,
    ) -> pl.DataFrame:
        """Return `count` requests between two times, `span`, given as shares of the duration."""
        counts = draws.multinomial(count, self._shares)
        volume = np.repeat(np.arange(len(counts)), counts)
        # Rank in time of each request. The arrays are sorted by volume, and by time within a
        # volume.
        place = _argsort_small(draws.permuted(volume), len(counts))
        progress = span[0] + (span[1] - span[0]) * (place / count)
        length = self._lengths(draws, volume)
        first = self._first_pages(draws, volume, progress)
        start = self._with_runs(draws, counts, volume, first, length)
        op = np.where(draws.random(count) < self._reads[volume], _READ, _WRITE).astype(np.uint8)
        since = np.cumsum(draws.exponential(size=count))
        share = span[0] + (span[1] - span[0]) * (since / since[-1])
        at_us = (share * duration_s * 1e6).astype(np.int64)
        columns = {
            "timestamp_ns": _FIRST_NS + at_us * 1000,
            "device": _placed(volume, place).astype(np.uint32),
            "op": _OPERATIONS.gather(_placed(op, place)),
            "offset": _placed(start * PAGE_BYTES, place).astype(np.uint64),
            "length": _placed(length * PAGE_BYTES, place).astype(np.uint32),
        }
        return pl.DataFrame(columns, schema=SCHEMA)

    def _lengths(self, draws: np.random.Generator, volume: _Whole) -> _Whole:
        """Return a random length in pages for each request: geometric, with an upper bound."""
        with np.errstate(divide="ignore"):
            scale = np.log1p(-1 / self._request_pages)[volume]
        longer = np.log(1 - draws.random(len(volume))) / scale
        return np.minimum(longer, _MOST_REQUEST_PAGES - 1).astype(np.int64) + 1

    def _first_pages(self, draws: np.random.Generator, volume: _Whole, progress: _Floats) -> _Whole:
        """Return a page for each request: the r-th hottest page has a weight of about (r + 1)^-s.

        Ranks r of n pages are drawn by the inverse of the power law over [1, n + 1). A fixed
        permutation then scatters the ranks over the pages.
        """
        pages, rest = self._pages[volume], (1 - self._skew)[volume]
        top = ((self._pages + 1.0) ** (1 - self._skew) - 1)[volume]
        rank = (top * draws.random(len(volume)) + 1) ** (1 / rest) - 1
        moved = self._drift[volume] * progress * pages
        ranks = np.clip(rank, 0, pages - 1).astype(np.int64) + moved.astype(np.int64)
        return np.asarray(ranks % pages * self._stride[volume] % pages)

    def _with_runs(
        self,
        draws: np.random.Generator,
        counts: _Whole,
        volume: _Whole,
        first: _Whole,
        length: _Whole,
    ) -> _Whole:
        """Return each request's first page: drawn, or the end of the volume's previous request."""
        pages, place = self._pages[volume], np.arange(len(volume))
        goes_on = draws.random(len(volume)) < self._sequential[volume]
        heads = (np.cumsum(counts) - counts)[counts > 0]
        previous_end = self._last_end[volume[heads]]
        first[heads] = np.where(goes_on[heads] & (previous_end >= 0), previous_end, first[heads])
        goes_on[heads] = False
        opening = np.maximum.accumulate(np.where(goes_on, 0, place))
        written = np.cumsum(length) - length
        start = (first[opening] + written - written[opening]) % pages
        start = np.minimum(start, pages - length)
        tails = np.cumsum(counts)[counts > 0] - 1
        self._last_end[volume[tails]] = (start[tails] + length[tails]) % pages[tails]
        return np.asarray(start)


def _strides(pages: _Whole) -> _Whole:
    """Return, for each size n in pages, a step near n/1.618 that is coprime to n."""
    strides = np.maximum(1, (pages * 0.6180339887).astype(np.int64))
    while (bad := np.gcd(strides, pages) != 1).any():
        strides[bad] += 1
    return strides


def _argsort_small(values: _Whole, kinds: int) -> _Whole:
    """Return the stable sort order of numbers below `kinds`; 16-bit numbers use fast radix sort."""
    return np.argsort(values.astype(np.uint16 if kinds <= 1 << 16 else np.uint32), kind="stable")


def _placed(values: npt.NDArray[np.generic], place: _Whole) -> npt.NDArray[np.generic]:
    placed = np.empty_like(values)
    placed[place] = values
    return placed
