"""Designs: choices of the points of the space that are measured."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import OneOf, Whole, shown
from writeamp.fields.setting import Settings, setting
from writeamp.learn.blackbox.space import (
    BURST,
    GRID,
    KIB,
    SECTOR_BYTES,
    WorkloadPoint,
    grid,
    grid_size,
    of_values,
)
from writeamp.studies.sweep.axes import BoundedAxis
from writeamp.studies.sweep.designs import SAMPLERS

FILL, RECENT_WRITES = "fill", "recent-writes"
STATES = (FILL, RECENT_WRITES)

_FILLS = BoundedAxis("fill", 0.25, 1.0, "linear", is_integer=False)
# A full drive, and one on which nothing was written, are kinds of their own.
_FULL_SHARE = 0.1
_NOTHING_SHARE = 0.2
# Recent writes, as shares of the space: what caches and free blocks take in lies between.
_RECENT_SHARES = BoundedAxis("recent-writes", 1 / 1024, 1 / 16, "log", is_integer=False)
# Draws of their own, so that the workloads of a design are the same whatever it varies.
_STREAM = 1


class StateNames:
    """Domain of names of states, as text with commas between, or as a sequence."""

    def check(self, name: str, value: Any) -> tuple[str, ...]:
        """Return the names, each once and in the order of `STATES`."""
        if isinstance(value, str):
            value = [one.strip() for one in value.split(",")]
        if not isinstance(value, Sequence):
            raise WriteampError(
                f"{name} is {shown(value)}; it must name states: {', '.join(STATES)}"
            )
        for one in value:
            if one not in STATES:
                raise unknown("state", one, STATES)
        return tuple(one for one in STATES if one in value)


def in_states(
    points: Sequence[WorkloadPoint],
    vary: Sequence[str],
    burst_s: float | None,
    space_bytes: int,
    seed: int,
) -> list[WorkloadPoint]:
    """Return points with states of the drive that are drawn for each of them.

    A tenth of the drives are full, the others as full as any share from 0.25 on; before a fifth of
    the points nothing is written, before the others what lies evenly between the logarithms of a
    1024th and a 16th of the space. The states of fewer points are the first of more.

    Args:
        points: workloads.
        vary: which of `STATES` are drawn; the others are as usual.
        burst_s: how long each point is measured; None for the long run.
        space_bytes: the space of the target.
        seed: decides the draws.
    """
    draws = np.random.default_rng((seed, _STREAM)).random((len(points), len(STATES)))
    return [
        replace(
            point,
            fill=_fill(fill) if FILL in vary else 1.0,
            recent_write_bytes=_recent(recent, space_bytes) if RECENT_WRITES in vary else 0,
            burst_s=burst_s,
        )
        for point, (fill, recent) in zip(points, draws.tolist(), strict=True)
    ]


def _fill(share: float) -> float:
    if share < _FULL_SHARE:
        return 1.0
    return round(float(_FILLS.at((share - _FULL_SHARE) / (1 - _FULL_SHARE))), 4)


def _recent(share: float, space_bytes: int) -> int:
    if share < _NOTHING_SHARE:
        return 0
    of_space = _RECENT_SHARES.at((share - _NOTHING_SHARE) / (1 - _NOTHING_SHARE))
    return max(1, int(of_space * space_bytes) // SECTOR_BYTES) * SECTOR_BYTES


GRID_DESIGN = "grid"
MIXED_DESIGN = "mixed"
# Whose points follow from what was measured before them.
ACTIVE = "active"

MOST_POINTS = 1_000_000

# Draws of the Sobol sequence among which the grid is looked for; the few cells that it never comes
# to follow after them.
_GRID_DRAWS = 1 << 17

_DEPTHS = BoundedAxis("queue_depth", 1, 64, "log", is_integer=True)
_SECTORS = BoundedAxis("sectors", 2, 256 * KIB // SECTOR_BYTES, "log", is_integer=True)
_STRIDES_KIB = BoundedAxis("stride", 1, 256, "linear", is_integer=True)
# So large a share of the draws lies at either end of a range where the end is a kind of its own: a
# workload that never writes, or one that is sequential.
_END_SHARE = 0.1
_SEQUENTIAL_SHARE = 0.4
# How long a point is measured where recent writes are varied and nothing else is said.
DEFAULT_BURST_S = 10.0
# Every so manieth point of the mixed design is one of the grid.
_GRID_EVERY = 4


def grid_points(points: int, seed: int) -> Iterator[WorkloadPoint]:
    """Give an even subsample of paper 2's grid: the cells that a Sobol sequence comes to first.

    Every value of every characteristic is taken nearly equally often, and the points of a smaller
    subsample are the first of a larger one.
    """
    return islice(_grid_in_order(seed), points)


def random_points(points: int, seed: int) -> Iterator[WorkloadPoint]:
    """Give points drawn independently, between the least and the greatest values of the grid."""
    return _drawn("random", points, seed)


def latin_hypercube_points(points: int, seed: int) -> Iterator[WorkloadPoint]:
    """Give points of which each has a range of every characteristic to itself."""
    return _drawn("latin-hypercube", points, seed)


def mixed_points(points: int, seed: int) -> Iterator[WorkloadPoint]:
    """Give points drawn at random, and among them those of the grid: one in `_GRID_EVERY`.

    The sizes of the grid are powers of four KiB, so that no point of it writes a page in part: only
    the others show what that costs, and how far off a model is between the values of the grid. The
    points of a smaller number are the first of a larger one.
    """
    cells, drawn = _grid_in_order(seed), random_points(points, seed)
    for at in range(points):
        is_cell = at % _GRID_EVERY == _GRID_EVERY - 1
        point = next(cells, None) if is_cell else None
        yield next(drawn) if point is None else point


DESIGNS: Mapping[str, Callable[[int, int], Iterator[WorkloadPoint]]] = {
    MIXED_DESIGN: mixed_points,
    GRID_DESIGN: grid_points,
    "random": random_points,
    "latin-hypercube": latin_hypercube_points,
}


@dataclass(frozen=True)
class Design(Settings):
    """Design of a collection: the kind, number and seed of the points that are measured.

    Attributes:
        kind: one of `DESIGNS`, or "active".
        points: how many.
        seed: decides which.
        vary: what of the drive's state they vary, of `STATES`; None for nothing.
        burst_s: how long each is measured; None for the long run, or for 10 s if recent writes are
            varied.

    Raises:
        WriteampError: a value outside its domain, or a state or a burst of the active design.
    """

    title: ClassVar[str] = "design"

    kind: str = setting(
        MIXED_DESIGN,
        OneOf((*DESIGNS, ACTIVE)),
        f"which points: {', '.join(DESIGNS)} or {ACTIVE}",
        name="design",
        choices=(*DESIGNS, ACTIVE),
        metavar="NAME",
    )
    points: int = setting(600, Whole(1, MOST_POINTS), "how many points", number="count")
    seed: int = setting(0, Whole(0), "decides which points", name="design_seed", number="count")
    vary: tuple[str, ...] | None = setting(
        None,
        StateNames(),
        f"also vary the state of a simulated drive, for the features modern: {', '.join(STATES)}",
        metavar="NAMES",
        panel="simulated",
    )
    burst_s: float | None = setting(
        None,
        BURST,
        "measure each point for so long, from a drive that was left alone and took in the recent "
        "writes, and not in the long run (10s where recent-writes are varied)",
        name="burst",
        metavar="TIME",
        panel="simulated",
    )

    def __post_init__(self) -> None:
        """Check every value, and give a burst to recent writes."""
        super().__post_init__()
        if RECENT_WRITES in (self.vary or ()) and self.burst_s is None:
            object.__setattr__(self, "burst_s", DEFAULT_BURST_S)
        if self.kind == ACTIVE and self.is_in_states:
            raise WriteampError(
                "the design active asks for the long run of full drives; --vary and --burst are "
                f"for {', '.join(DESIGNS)}"
            )
        if self.kind == GRID_DESIGN and self.points > grid_size():
            raise WriteampError(
                f"points is {self.points}; the grid of paper 2 has {grid_size()} workloads, and "
                "the designs random and latin-hypercube draw more"
            )

    @property
    def is_in_states(self) -> bool:
        """True if its points are of other states than full drives in the long run."""
        return bool(self.vary) or self.burst_s is not None

    def listed(self, space_bytes: int) -> list[WorkloadPoint]:
        """Return the points of a design that needs no results.

        Args:
            space_bytes: the space of the target, of which recent writes are a share.
        """
        points = list(DESIGNS[self.kind](self.points, self.seed))
        if not self.is_in_states:
            return points
        return in_states(points, self.vary or (), self.burst_s, space_bytes, self.seed)


def once_each(points: Iterable[WorkloadPoint]) -> list[WorkloadPoint]:
    """Return the points without those that came before, in their order."""
    return list(dict.fromkeys(points))


def _grid_in_order(seed: int) -> Iterator[WorkloadPoint]:
    seen: set[WorkloadPoint] = set()
    levels = [len(values) for values in GRID.values()]
    shares = SAMPLERS["sobol"](_GRID_DRAWS, len(levels), seed)
    for cell in (shares * levels).astype(np.intp):
        point = of_values(tuple(one[at] for one, at in zip(GRID.values(), cell, strict=True)))
        if point not in seen:
            seen.add(point)
            yield point
    left = [point for point in grid() if point not in seen]
    random.Random(seed).shuffle(left)
    yield from left


def _drawn(sampler: str, points: int, seed: int) -> Iterator[WorkloadPoint]:
    for shares in SAMPLERS[sampler](points, len(GRID), seed):
        yield _between(shares)


def _between(shares: npt.NDArray[np.float64]) -> WorkloadPoint:
    writes, depth, write_size, read_size, *rest = map(float, shares)
    return of_values(
        (
            _with_ends(writes),
            _DEPTHS.at(depth),
            _SECTORS.at(write_size) * SECTOR_BYTES,
            _SECTORS.at(read_size) * SECTOR_BYTES,
            *map(_with_ends, rest[:2]),
            *map(_stride_bytes, rest[2:]),
        )
    )


def _with_ends(share: float) -> float:
    """Return a ratio; the ends of its range are as likely as `_END_SHARE` says."""
    inner = (share - _END_SHARE) / (1 - 2 * _END_SHARE)
    return round(min(max(inner, 0.0), 1.0), 4)


def _stride_bytes(share: float) -> float:
    if share < _SEQUENTIAL_SHARE:
        return 0
    return _STRIDES_KIB.at((share - _SEQUENTIAL_SHARE) / (1 - _SEQUENTIAL_SHARE)) * KIB
