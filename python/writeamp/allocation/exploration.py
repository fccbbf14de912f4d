"""Comparison of the closed-form division with the optimal one in every workload of n groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, combinations
from math import comb
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.allocation.groups import GroupTable, checked_groups, divided
from writeamp.allocation.result import Allocation
from writeamp.errors import WriteampError
from writeamp.fields.domains import Whole, shown
from writeamp.models._arguments import FloatArray
from writeamp.runners import Progress

_Chunks: TypeAlias = npt.NDArray[np.int8]

# Numbers of groups in Dayan et al. 2015, section 5.5.3.
FEWEST_GROUPS, MOST_GROUPS = 2, 9

# Maximum number of equal chunks of pages and of writes, from which workloads are made. At 24, the
# 12 million workloads take a minute; each further chunk multiplies their number by 1.8.
MOST_CHUNKS = 24

# Number of workloads computed at a time, so that temporary arrays stay in the processor's cache.
_SLICE_ROWS = 2048


def explore(
    chunks: int, op: float, progress: Progress | None = None, *, most_groups: int = MOST_GROUPS
) -> pl.DataFrame:
    """Compare the closed-form division with the optimal one in every workload of equal chunks.

    Dayan et al. 2015, section 5.5.3: the logical pages and the writes are each cut into Q equal
    chunks. Every group gets at least one chunk of pages and one of writes, and the order of groups
    does not matter. There are 1,023 such workloads of 2 to 9 groups for Q = 10, and 1,042,014 for Q
    = 20.

    Args:
        chunks: Q, from 2 to 24.
        op: over-provisioning (T−U)/U of the drive.
        progress: called with the number of workloads done and the total.
        most_groups: largest number of groups, from 2 to 9.

    Returns:
        One row for each number of groups, from 2 to `most_groups` or Q: `groups`, `configurations`,
        `mean_over_optimal_percent` and `max_over_optimal_percent` (excess of the closed form's WA
        over the optimal WA), and
        `worst_sizes` and `worst_frequencies`, the workload at that maximum.

    Raises:
        WriteampError: an argument is outside its domain.

    >>> import writeamp as wa
    >>> wa.allocation.explore(10, 3 / 7)["configurations"].sum()
    1023
    """
    chunks = _check(chunks)
    checked_groups([1.0], [1.0], op)
    most_groups = Whole(FEWEST_GROUPS, MOST_GROUPS).check("most_groups", most_groups)
    numbers = range(FEWEST_GROUPS, min(chunks, most_groups) + 1)
    total = sum(len(w) for groups in numbers for _, w in configurations(chunks, groups))
    done = 0

    def advance(workloads: int) -> None:
        nonlocal done
        done += workloads
        if progress:
            progress(done, total)

    return pl.DataFrame([_explored(chunks, groups, op, advance) for groups in numbers])


def configurations(chunks: int, groups: int) -> Iterator[tuple[_Chunks, _Chunks]]:
    """Yield every distinct workload of `groups` groups, in batches.

    In a workload, each group has a pair of numbers, (chunks of pages, chunks of writes), both at
    least 1. The pairs are sorted by pages, then by writes.

    Args:
        chunks: Q, the number of chunks of pages in all groups, and also of chunks of writes.
        groups: n, at most Q.

    Yields:
        Chunks of the pages and chunks of the writes, both of shape (workloads, n).

    Raises:
        WriteampError: `chunks` is not from 2 to 24.

    >>> import writeamp as wa
    >>> [(pages.tolist(), writes.tolist()) for pages, writes in wa.allocation.configurations(3, 3)]
    [([[1, 1, 1]], [[1, 1, 1]])]
    """
    chunks = _check(chunks)
    groups = Whole(1, chunks).check("groups", groups)
    of_writes = _compositions(chunks, groups)
    ascends = np.diff(of_writes, axis=1) >= 0
    for of_pages in of_writes[ascends.all(axis=1)]:
        unique = ascends[:, np.diff(of_pages) == 0].all(axis=1)
        unique_writes = of_writes[unique]
        yield np.broadcast_to(of_pages, unique_writes.shape), unique_writes


def _check(chunks: int) -> int:
    valid = Whole(FEWEST_GROUPS, MOST_CHUNKS)
    if not valid.holds(chunks):
        raise WriteampError(f"{shown(chunks)} chunks cannot be explored; valid is {valid.words}")
    return int(chunks)


def _compositions(total: int, parts: int) -> _Chunks:
    """Return every ordered list of `parts` positive integers with sum `total`, one list a row."""
    ways = comb(total - 1, parts - 1)
    cuts = np.fromiter(
        chain.from_iterable(combinations(range(1, total), parts - 1)),
        dtype=np.int8,
        count=ways * (parts - 1),
    ).reshape(ways, parts - 1)
    return np.diff(cuts, axis=1, prepend=np.int8(0), append=np.int8(total))


def _explored(
    chunks: int, groups: int, op: float, advance: Callable[[int], None]
) -> dict[str, object]:
    batches = list(configurations(chunks, groups))
    of_pages = np.concatenate([pages for pages, _ in batches])
    of_writes = np.concatenate([writes for _, writes in batches])
    over = np.empty(len(of_pages))
    for start in range(0, len(over), _SLICE_ROWS):
        rows = slice(start, start + _SLICE_ROWS)
        over[rows] = _over_optimal(of_pages[rows] / chunks, of_writes[rows] / chunks, op)
        advance(len(over[rows]))
    worst = int(np.argmax(over))
    return {
        "groups": groups,
        "configurations": len(over),
        "mean_over_optimal_percent": float(over.mean()),
        "max_over_optimal_percent": float(over[worst]),
        "worst_sizes": (of_pages[worst] / chunks).tolist(),
        "worst_frequencies": (of_writes[worst] / chunks).tolist(),
    }


def _over_optimal(sizes: FloatArray, frequencies: FloatArray, op: float) -> FloatArray:
    workloads = GroupTable(sizes, frequencies, np.full(len(sizes), op))
    allocation = Allocation(workloads, divided("closed-form", workloads))
    return np.asarray(allocation.over_optimal_percent)
