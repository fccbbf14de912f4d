"""Workloads of paper 2: the grids of the general and the specific models, and the figures.

"One access pattern at each time": a share of the requests is random, or successive requests have a
fixed stride, one for writes and one for reads. The grid has 12,500 cells: 5 write ratios, 4 queue
depths, 5 write sizes and 5 read sizes, with 9 pairs of random shares (0 for both is sequential) or
16 pairs of strides. The paper counts 12,000. A read-only workload occupies a cell for each size,
randomness and stride of the missing writes, so many cells are equal workloads. Section III varies
one parameter at a time.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt

from writeamp.learn.blackbox.space import GRID, KIB, WorkloadPoint

_STRIDES = tuple(kib * KIB for kib in (1, 64, 128, 256))
# Pairs of (random share of writes, of reads) and (stride of writes, of reads in bytes).
_PATTERNS: list[tuple[tuple[float, ...], tuple[int, ...]]] = [
    *((shares, (0, 0)) for shares in product(GRID["write_randomness"], repeat=2)),
    *(((0.0, 0.0), strides) for strides in product(_STRIDES, repeat=2)),
]


@cache
def cells() -> tuple[WorkloadPoint, ...]:
    """Return the workload of every cell of the paper's grid; many cells are equal workloads."""
    axes = ("write_ratio", "queue_depth", "write_size_bytes", "read_size_bytes")
    return tuple(
        WorkloadPoint(
            write_ratio=write_ratio,
            queue_depth=int(depth),
            write_size_bytes=int(write_bytes),
            read_size_bytes=int(read_bytes),
            write_randomness=randomness[0],
            read_randomness=randomness[1],
            write_stride_bytes=strides[0],
            read_stride_bytes=strides[1],
        )
        for write_ratio, depth, write_bytes, read_bytes in product(*(GRID[name] for name in axes))
        for randomness, strides in _PATTERNS
    )


_SEED = 2


def some_cells(count: int) -> list[WorkloadPoint]:
    """Return the workloads of `count` randomly drawn cells of the grid."""
    every = cells()
    return [every[index] for index in drawn_cells(count)]


def drawn_cells(count: int) -> npt.NDArray[np.intp]:
    """Return the positions in `cells` of `count` randomly drawn cells."""
    return np.random.default_rng(_SEED).permutation(len(cells()))[:count]


def plain_means(count: int) -> npt.NDArray[np.float64]:
    """Return basic characteristics of the first drawn cells, from the generator's settings.

    Request size and randomness are plain means of the settings for reads and writes, even if the
    cell has no request of one direction. Shape (cells, 4), in the order of the basic features.
    """
    axes = ("write_ratio", "queue_depth", "write_size_bytes", "read_size_bytes")
    means = [
        (ratio, depth, np.mean(sizes), np.mean(shares))
        for ratio, depth, *sizes in product(*(GRID[name] for name in axes))
        for shares, _ in _PATTERNS
    ]
    return np.array(means, dtype=float)[drawn_cells(count)]


def grid(count: int, *, each_once: bool) -> list[WorkloadPoint]:
    """Return the workloads of `count` random cells.

    With `each_once`, equal workloads are returned once, so there may be fewer than `count`.
    """
    drawn = some_cells(count)
    return list(dict.fromkeys(drawn)) if each_once else drawn


def specific(sizes: int, steps: int) -> list[WorkloadPoint]:
    """Return the specific models' workloads: only reads or only writes, queue depth 1.

    Args:
        sizes: number of request sizes, which are spaced from 1 to 256 KiB.
        steps: number of shares of random requests, which are spaced from 0 to 100%, and largest
            number of strides, which are spaced from 1 to 256 KiB.
    """
    size_bytes = np.unique(np.round(np.geomspace(2, 512, sizes)).astype(int)) * (KIB // 2)
    shares = [(float(share), 0) for share in np.linspace(0, 1, steps)]
    strides = [(0.0, int(kib) * KIB) for kib in np.unique(np.geomspace(1, 256, steps).astype(int))]
    return [
        one_direction(int(size), share, stride, is_write=is_write)
        for is_write in (False, True)
        for size in size_bytes
        for share, stride in shares + strides
    ]


# Section III.A: values of the parameters that are fixed, and of the varied parameter.
SIZE_BYTES = 256 * KIB
RATIOS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
DEPTHS = (1, 4, 16, 64)
SIZES_KIB = (1, 4, 16, 64, 256)
# Randomness and stride of each access pattern (section III.B).
ACCESS = {"random": (1.0, 0), "sequential": (0.0, 0), "stride": (0.0, 64 * KIB)}
DIRECTIONS = {"read": False, "write": True}


def curves() -> dict[str, list[WorkloadPoint]]:
    """Return the workloads of Figs. 3 to 7 and of Table I, by name of the curve.

    The curve "ratio" has a workload for each of `RATIOS`; "depth, DIRECTION" for each of `DEPTHS`;
    "ACCESS, DIRECTION" for each of `SIZES_KIB`. "specification" has sequential reads and writes
    of 256 KiB at queue depth 32, then random reads and writes of 4 KiB at queue depth 1.
    """
    curves_found = {
        "ratio": [WorkloadPoint(ratio, 1, SIZE_BYTES, SIZE_BYTES, 1.0, 1.0) for ratio in RATIOS],
        "specification": [
            one_direction(size, random, 0, is_write=is_write, depth=depth)
            for size, random, depth in ((SIZE_BYTES, 0.0, 32), (4 * KIB, 1.0, 1))
            for is_write in (False, True)
        ],
    }
    for direction, is_write in DIRECTIONS.items():
        curves_found[f"depth, {direction}"] = [
            one_direction(SIZE_BYTES, 1.0, 0, is_write=is_write, depth=queue_depth)
            for queue_depth in DEPTHS
        ]
        for access, (randomness, stride) in ACCESS.items():
            curves_found[f"{access}, {direction}"] = [
                one_direction(kib * KIB, randomness, stride, is_write=is_write) for kib in SIZES_KIB
            ]
    return curves_found


def one_direction(
    size_bytes: int, randomness: float, stride_bytes: int, *, is_write: bool, depth: int = 1
) -> WorkloadPoint:
    """Return a workload that only writes, or only reads."""
    return WorkloadPoint(
        write_ratio=float(is_write),
        queue_depth=depth,
        write_size_bytes=size_bytes,
        read_size_bytes=size_bytes,
        write_randomness=randomness,
        read_randomness=randomness,
        write_stride_bytes=stride_bytes,
        read_stride_bytes=stride_bytes,
    )
