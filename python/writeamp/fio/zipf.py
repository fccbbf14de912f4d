"""fio's zipf and pareto: the blocks that they draw, and the share of a span that they reach.

fio 3.33 draws a 32-bit random number, converts it to a rank in the order of popularity (Gray et
al., SIGMOD '94), multiplies the rank by a constant modulo 2^64, and takes it modulo the number of
blocks. There are two reasons why it misses part of the span. Several ranks map to one block unless
the number of blocks is a power of two. Most of the rare ranks are never drawn, as fewer random
numbers than ranks map to them. Source: lib/zipf.c and hash.h of fio; verified with its logs of
offsets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from writeamp.statistics.power_sums import sum_of_powers

SkewKind: TypeAlias = Literal["zipf", "pareto"]
Floats: TypeAlias = NDArray[np.float64]

_WORD = 2**64
_MULTIPLIER = 0x61C8864680B583EB
_NUMBERS = 2**32
# fio sums at most this many terms of the sum over all ranks.
_MOST_TERMS = 10_000_000
_SPEC = re.compile(r"\s*(zipf|pareto)\s*(?::\s*([0-9]++\.?[0-9]*+|\.[0-9]++)\s*(?::.*)?)?")
# fio's default theta of zipf and h of pareto.
_DEFAULTS = {"zipf": 1.1, "pareto": 0.2}
# Step between successive points that fill an interval evenly: a power of the plastic number.
_EVENLY = 0.7548776662466927
# Number of points over which shares are averaged (error ±0.2%), and limit of the lattice points
# examined for all of them.
_POINTS, _MOST_PLACES = 40_000, 8_000_000


@dataclass(frozen=True)
class FioSkew:
    """Draws of blocks from a span by fio's zipf or pareto distribution.

    Attributes:
        kind: zipf or pareto.
        parameter: theta of zipf, h of pareto.
        blocks: number of blocks in the span.
    """

    kind: SkewKind
    parameter: float
    blocks: int

    @classmethod
    def of(cls, distribution: str, blocks: int) -> FioSkew | None:
        """Return the draws of a `random_distribution`; None if it is not a valid zipf or pareto."""
        match = _SPEC.fullmatch(distribution)
        if match is None or blocks < 2:
            return None
        kind: SkewKind = "zipf" if match[1] == "zipf" else "pareto"
        parameter = float(match[2]) if match[2] else _DEFAULTS[kind]
        is_right = parameter != 1.0 if kind == "zipf" else 0.0 < parameter < 1.0
        return cls(kind, parameter, blocks) if is_right and parameter > 0 else None

    @cached_property
    def _zetan(self) -> float:
        """Normalization constant of fio: the sum over the ranks."""
        return sum_of_powers(self.parameter, min(self.blocks, _MOST_TERMS))

    @cached_property
    def _eta(self) -> float:
        theta = self.parameter
        rest = 1 - (1 + 0.5**theta) / self._zetan
        return float((1 - (2 / self.blocks) ** (1 - theta)) / rest)

    @property
    def _power(self) -> float:
        """Exponent of pareto."""
        return float(np.log(self.parameter) / np.log(1 - self.parameter))

    def touched_share(self, draws: float = float("inf")) -> float:
        """Return the share of blocks touched by this number of draws; default: infinitely many."""
        ranks, belongs_to, weights = self._ranks_of_points
        chance = self._density(ranks)
        numbers = np.minimum(1.0, chance * _NUMBERS)
        each = np.maximum(chance, 1 / _NUMBERS)
        missed = 1 - numbers * (-np.expm1(-draws * each) if np.isfinite(draws) else 1.0)
        untouched = np.ones(weights.size)
        np.multiply.at(untouched, belongs_to, missed)
        return float((1 - untouched) @ weights)

    def true_touched_share(self, draws: float) -> float:
        """Return the share that the draws would touch if each rank had its own block."""
        ranks = (np.arange(_POINTS) + 0.5) / _POINTS
        return float(np.mean(-np.expm1(-draws * self._density(ranks))))

    def _density(self, ranks: Floats) -> Floats:
        """Return the probability density at ranks, which are given as shares of all ranks."""
        at = np.maximum(ranks, 1 / self.blocks)
        if self.kind == "pareto":
            density = at ** (1 / self._power - 1) / self._power
        else:
            density = (1 - self.parameter) / self._eta * at**-self.parameter
        return np.asarray(density / self.blocks)

    @cached_property
    def _ranks_of_points(self) -> tuple[Floats, NDArray[np.int64], Floats]:
        """Ranks of the blocks of sampled ranks, the sample of each rank, and the samples' weights.

        Popular ranks are sampled more densely. A block counts at its most popular rank only; else
        the few samples of rare ranks that share a popular block would decide the sum. In the plane
        of ranks and products (before the modulo), the ranks of one block are points in a square
        that differ by a lattice vector.
        """
        count = max(256, min(_POINTS, _MOST_PLACES // len(self._near)))
        every = np.linspace(0, self.blocks, count, endpoint=False)
        popular = np.geomspace(1, self.blocks, count // 4)
        edges = np.unique(np.concatenate([[0], every, popular]).astype(np.uint64))
        edges = np.append(edges[edges < self.blocks], np.uint64(self.blocks))
        widths = np.diff(edges)
        within = np.arange(1, widths.size + 1) * _EVENLY % 1
        sampled = edges[:-1] + (within * widths).astype(np.uint64)
        products = sampled * np.uint64(_MULTIPLIER)
        ranks, belongs_to = self._same_block(
            np.column_stack([sampled / self.blocks, products / _WORD])
        )
        first = np.full(sampled.size, np.inf)
        np.minimum.at(first, belongs_to, ranks)
        # A rank that equals the sample's, but for rounding, is the sample itself.
        is_first = first > (sampled - 0.5) / self.blocks
        return ranks, belongs_to, widths / self.blocks * is_first

    def _same_block(self, places: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """Return the ranks in the block of each place, and the index of the place of each rank."""
        ranks: list[Floats] = []
        belongs_to: list[NDArray[Any]] = []
        for vector in self._near:
            moved = places + vector
            inside = ((moved >= 0) & (moved < 1)).all(axis=1)
            ranks.append(moved[inside, 0])
            belongs_to.append(np.flatnonzero(inside))
        return np.concatenate(ranks), np.concatenate(belongs_to)

    @cached_property
    def _lattice(self) -> Floats:
        """Shortest vectors between ranks of one block, as shares of all ranks and products."""
        blocks, inverse = self.blocks, pow(_MULTIPLIER, -1, _WORD)

        def product(first: tuple[int, int], other: tuple[int, int]) -> int:
            return first[0] * other[0] * _WORD**2 + first[1] * other[1] * blocks**4

        short, long = (blocks * inverse % _WORD, 1), (_WORD, 0)
        while True:
            if product(short, short) > product(long, long):
                short, long = long, short
            size = product(short, short)
            times = (2 * product(short, long) + size) // (2 * size)
            if not times:
                break
            long = (long[0] - times * short[0], long[1] - times * short[1])
        rows = [(rank / blocks, turns * blocks / _WORD) for rank, turns in (short, long)]
        return np.array(rows)

    @cached_property
    def _near(self) -> Floats:
        """Lattice vectors that may lead from one point near the square to another in it."""
        basis = self._lattice
        reach = 2 * (np.sqrt(2) + np.abs(basis).sum())
        most = np.ceil(reach * np.abs(np.linalg.inv(basis)).sum(axis=0)).astype(int)
        steps = np.stack(
            np.meshgrid(*(np.arange(-number, number + 1) for number in most), indexing="ij"),
            axis=-1,
        ).reshape(-1, 2)
        vectors = steps @ basis
        least, greatest = -1 - np.abs(basis).sum(axis=0), 1 + np.abs(basis).sum(axis=0)
        return np.asarray(vectors[((vectors > least) & (vectors < greatest)).all(axis=1)])


def is_skewed(distribution: str) -> bool:
    """Return whether a random_distribution is a zipf or a pareto.

    >>> is_skewed("zipf:0.8"), is_skewed("pareto:0.2:0.5"), is_skewed("zoned:60/10:40/90")
    (True, True, False)
    """
    return _SPEC.fullmatch(distribution) is not None
