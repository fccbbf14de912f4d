"""Number of pages that requests touch completely or partly, from request size and offset."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

# Sizes, strides and offsets are multiples of a sector.
_SECTOR_BYTES = 512


def pages_touched(
    size_bytes: F64, randomness: F64, stride_bytes: F64, page_bytes: int, *, merges: bool
) -> tuple[F64, F64]:
    """Return the mean number of pages that a request touches, and of pages it touches partly.

    Random offsets are multiples of the request's own size, as in fio and in the workload `io`. A
    request that continues begins one stride after the end of the previous one.

    Args:
        size_bytes: mean size of a request; 0 for a direction without requests, which touches no
            page; shape (rows,).
        randomness: share of the requests at random offsets; shape (rows,).
        stride_bytes: bytes from the end of a request to the next that continues; shape (rows,).
        page_bytes: size of a page, a power of two.
        merges: whether a page that successive requests share counts once, as with a cache that
            collects writes.
    """
    size, stride = _sectors(size_bytes), _sectors(stride_bytes)
    page = page_bytes // _SECTOR_BYTES
    happens = size > 0
    size = np.where(happens, size, 1)
    at_random, continuing = np.gcd(size, page), np.gcd(np.gcd(size, stride), page)
    both = zip(_of_one(size, at_random, page), _of_one(size, continuing, page), strict=True)
    touched, whole = (
        randomness * random_pages + (1 - randomness) * continuing_pages
        for random_pages, continuing_pages in both
    )
    if merges:
        shared = (1 - randomness) * np.maximum(0.0, 1 - (continuing + stride) / page)
        touched = touched - shared
        run = np.maximum(0.0, (size + randomness * continuing) / page - randomness)
        whole = np.where(stride > 0, whole, run)
    return np.where(happens, touched, 0.0), np.where(happens, np.maximum(touched - whole, 0.0), 0.0)


def lies_across(size_bytes: F64, page_bytes: int) -> npt.NDArray[np.bool_]:
    """Return which sizes are unaligned: neither multiples nor divisors of the page size."""
    size, page = _sectors(size_bytes), page_bytes // _SECTOR_BYTES
    filled = np.maximum(size, 1)
    is_across: npt.NDArray[np.bool_] = (size > 0) & (size % page != 0) & (page % filled != 0)
    return is_across


def _of_one(size: I64, grain: I64, page: int) -> tuple[F64, F64]:
    """Return the mean number of pages that a request touches, and that it fills.

    The request begins at any multiple of `grain` with equal probability; all values in sectors.
    """
    return 1 + (size - grain) / page, np.maximum(0.0, (size - page + grain) / page)


def _sectors(sizes_bytes: F64) -> I64:
    sectors: I64 = np.ceil(np.asarray(sizes_bytes) / _SECTOR_BYTES).astype(np.int64)
    return sectors
