"""Pages that requests touch, whole and in part, by their size, place and the page's size."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

# What sizes, strides and places are multiples of.
_SECTOR_BYTES = 512


def pages_touched(
    size_bytes: F64, randomness: F64, stride_bytes: F64, page_bytes: int, *, merges: bool
) -> tuple[F64, F64]:
    """Return the mean pages that a request touches, and how many of them in part.

    Random places are multiples of the request's own size, as those of fio and of `io` are; a
    request that continues begins a stride behind the end of the one before.

    Args:
        size_bytes: mean size; 0 of a direction without requests, which touches none; shape (rows,).
        randomness: share of the requests at random places; shape (rows,).
        stride_bytes: from the end of a request to the next that continues; shape (rows,).
        page_bytes: a power of two.
        merges: whether a page that requests share one after the other counts once, as behind a
            cache that collects writes.
    """
    size, stride = _sectors(size_bytes), _sectors(stride_bytes)
    page = page_bytes // _SECTOR_BYTES
    happens = size > 0
    size = np.where(happens, size, 1)
    at_random, continuing = np.gcd(size, page), np.gcd(np.gcd(size, stride), page)
    both = zip(_of_one(size, at_random, page), _of_one(size, continuing, page), strict=True)
    touched, whole = (randomness * one + (1 - randomness) * other for one, other in both)
    if merges:
        shared = (1 - randomness) * np.maximum(0.0, 1 - (continuing + stride) / page)
        touched = touched - shared
        run = np.maximum(0.0, (size + randomness * continuing) / page - randomness)
        whole = np.where(stride > 0, whole, run)
    return np.where(happens, touched, 0.0), np.where(happens, np.maximum(touched - whole, 0.0), 0.0)


def lies_across(size_bytes: F64, page_bytes: int) -> npt.NDArray[np.bool_]:
    """Return which sizes neither fill pages nor divide one, so that requests lie across them."""
    size, page = _sectors(size_bytes), page_bytes // _SECTOR_BYTES
    filled = np.maximum(size, 1)
    found: npt.NDArray[np.bool_] = (size > 0) & (size % page != 0) & (page % filled != 0)
    return found


def _of_one(size: I64, grain: I64, page: int) -> tuple[F64, F64]:
    """Return the mean pages that an interval touches and fills, if it begins at any grain."""
    return 1 + (size - grain) / page, np.maximum(0.0, (size - page + grain) / page)


def _sectors(sizes_bytes: F64) -> I64:
    found: I64 = np.ceil(np.asarray(sizes_bytes) / _SECTOR_BYTES).astype(np.int64)
    return found
