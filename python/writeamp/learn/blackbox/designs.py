"""Designs of experiments: which points of the workload space are measured."""

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
# Probabilities of two special states: a full drive, and a drive without recent writes.
_FULL_SHARE = 0.1
_NOTHING_SHARE = 0.2
# Recent writes as a share of the target's space. Write caches and free blocks hold a share within
# this range, so some points fill them and others do not.
_RECENT_SHARES = BoundedAxis("recent-writes", 1 / 1024, 1 / 16, "log", is_integer=False)
# States are drawn from a separate random stream, so that a design has the same workloads with and
# without states.
_STREAM = 1


class StateNames:
    """Domain of names of drive states: text with commas between them, or a sequence."""

    def check(self, name: str, value: Any) -> tuple[str, ...]:
        """Return the names, each once and in the order of `STATES`."""
        if isinstance(value, str):
            value = [state.strip() for state in value.split(",")]
        if not isinstance(value, Sequence):
            raise WriteampError(
                f"{name} is {shown(value)}; it must name states: {', '.join(STATES)}"
            )
        for state in value:
            if state not in STATES:
                raise unknown("state", state, STATES)
        return tuple(state for state in STATES if state in value)


def in_states(
    points: Sequence[WorkloadPoint],
    vary: Sequence[str],
    burst_s: float | None,
    space_bytes: int,
    seed: int,
) -> list[WorkloadPoint]:
    """Return the points, each with a randomly drawn state of the drive.

    A tenth of the points have a full drive; the others have a fill drawn evenly from 0.25 to 1. A
    fifth of the points have no recent writes; for the others, log-uniform draws give recent writes
    from 1/1024 to 1/16 of the space. The first n states do not depend on the number of points.

    Args:
        points: workloads.
        vary: which of `STATES` are drawn; the other states have their defaults.
        burst_s: how long each point is measured, in s; None for the long run.
        space_bytes: the space of the target, in bytes.
        seed: seed of the draws.
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
# Design that chooses each batch of points from the results of the batches before it.
ACTIVE = "active"

MOST_POINTS = 1_000_000

# Length of the Sobol sequence that orders the grid's points. The few points that it does not reach
# come last, in random order.
_GRID_DRAWS = 1 << 17

_DEPTHS = BoundedAxis("queue_depth", 1, 64, "log", is_integer=True)
_SECTORS = BoundedAxis("sectors", 2, 256 * KIB // SECTOR_BYTES, "log", is_integer=True)
_STRIDES_KIB = BoundedAxis("stride", 1, 256, "linear", is_integer=True)
# Probability of each end of a ratio's range, and of a stride of 0. These values are special cases,
# such as a workload that never writes or a sequential one, and an even draw would miss them.
_END_SHARE = 0.1
_SEQUENTIAL_SHARE = 0.4
# Default measured time of a point, in s, if recent writes are varied.
DEFAULT_BURST_S = 10.0
# In the mixed design, one in this many points is a point of the grid.
_GRID_EVERY = 4


def grid_points(points: int, seed: int) -> Iterator[WorkloadPoint]:
    """Yield an even subsample of paper 2's grid, in the order of a Sobol sequence.

    The values of a characteristic occur nearly equally often. A smaller subsample is the beginning
    of a larger one.
    """
    return islice(_grid_in_order(seed), points)


def random_points(points: int, seed: int) -> Iterator[WorkloadPoint]:
    """Yield points drawn independently between the least and the greatest values of the grid."""
    return _drawn("random", points, seed)


def latin_hypercube_points(points: int, seed: int) -> Iterator[WorkloadPoint]:
    """Yield points of a Latin hypercube.

    The range of each characteristic has as many equal parts as there are points. Each part holds
    the value of one point.
    """
    return _drawn("latin-hypercube", points, seed)


def mixed_points(points: int, seed: int) -> Iterator[WorkloadPoint]:
    """Yield random points, but take every fourth point from the grid.

    Each size of the grid divides 4 KiB or is a multiple of it, so no request covers whole pages and
    a part of another. Only the random points show the cost of partial pages, and the model's error
    between the values of the grid. A smaller number of points is the beginning of a larger one.
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
    """Design of a collection: kind, number and seed of the points to measure.

    Attributes:
        kind: one of `DESIGNS`, or "active".
        points: number of points.
        seed: seed of the points.
        vary: which of `STATES` (fill, recent writes) vary from point to point; None for neither.
        burst_s: how long each point is measured, in s; None for the long run, or for 10 s if recent
            writes vary.

    Raises:
        WriteampError: a value outside its domain, or a state or a burst of the active design.
    """

    title: ClassVar[str] = "design"

    kind: str = setting(
        MIXED_DESIGN,
        OneOf((*DESIGNS, ACTIVE)),
        f"how the points (workloads) are chosen: {', '.join(DESIGNS)} or {ACTIVE}, which measures "
        "where a model is least certain",
        name="design",
        choices=(*DESIGNS, ACTIVE),
        metavar="NAME",
    )
    points: int = setting(
        600, Whole(1, MOST_POINTS), "number of points (workloads) to measure", number="count"
    )
    seed: int = setting(
        0,
        Whole(0),
        "seed of the random choice of points",
        name="design_seed",
        number="count",
    )
    vary: tuple[str, ...] | None = setting(
        None,
        StateNames(),
        "also vary the state of the simulated drive from point to point, as training data for the "
        f"feature set modern: {', '.join(STATES)}, or both with a comma between them",
        metavar="NAMES",
        panel="simulated",
    )
    burst_s: float | None = setting(
        None,
        BURST,
        "measure each point for only this time, on a drive that was idle and then got the recent "
        "writes, instead of the long run (default: 10s if recent-writes vary, else the long run)",
        name="burst",
        metavar="TIME",
        panel="simulated",
    )

    def __post_init__(self) -> None:
        """Check every value, and set the default burst if recent writes vary."""
        super().__post_init__()
        if RECENT_WRITES in (self.vary or ()) and self.burst_s is None:
            object.__setattr__(self, "burst_s", DEFAULT_BURST_S)
        if self.kind == ACTIVE and self.is_in_states:
            raise WriteampError(
                "the design active measures full drives in the long run; --vary and --burst need "
                f"one of the designs {', '.join(DESIGNS)}"
            )
        if self.kind == GRID_DESIGN and self.points > grid_size():
            raise WriteampError(
                f"points is {self.points}; the grid of paper 2 has {grid_size()} workloads. Use "
                "the design random or latin-hypercube for more"
            )

    @property
    def is_in_states(self) -> bool:
        """True unless all its points are full drives measured in the long run."""
        return bool(self.vary) or self.burst_s is not None

    def listed(self, space_bytes: int) -> list[WorkloadPoint]:
        """Return the points of any design except the active one.

        Args:
            space_bytes: the space of the target, which scales the recent writes.
        """
        points = list(DESIGNS[self.kind](self.points, self.seed))
        if not self.is_in_states:
            return points
        return in_states(points, self.vary or (), self.burst_s, space_bytes, self.seed)


def once_each(points: Iterable[WorkloadPoint]) -> list[WorkloadPoint]:
    """Return the points in their order, without repetitions."""
    return list(dict.fromkeys(points))


def _grid_in_order(seed: int) -> Iterator[WorkloadPoint]:
    seen: set[WorkloadPoint] = set()
    levels = [len(values) for values in GRID.values()]
    shares = SAMPLERS["sobol"](_GRID_DRAWS, len(levels), seed)
    for cell in (shares * levels).astype(np.intp):
        point = of_values(tuple(values[at] for values, at in zip(GRID.values(), cell, strict=True)))
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
    """Convert an even draw to a ratio; 0 and 1 each have the probability `_END_SHARE`."""
    inner = (share - _END_SHARE) / (1 - 2 * _END_SHARE)
    return round(min(max(inner, 0.0), 1.0), 4)


def _stride_bytes(share: float) -> float:
    if share < _SEQUENTIAL_SHARE:
        return 0
    return _STRIDES_KIB.at((share - _SEQUENTIAL_SHARE) / (1 - _SEQUENTIAL_SHARE)) * KIB
