"""Designs of sweeps: a grid, zipped axes, or samples between bounds.

The samples of Saltelli's and Morris's designs belong together, and are analysed in the order in
which they were drawn. SALib draws them, an extra, which is imported when it is used.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import OneOf, Whole, shown
from writeamp.studies.sweep.axes import Axis, BoundedAxis, ListedAxis, Value

# A value for each axis: what one point has that others have not.
Choice: TypeAlias = dict[str, Value]
_Shares: TypeAlias = npt.NDArray[np.float64]

MOST_POINTS = 1_000_000

GRID = "grid"
RANDOM, LATIN_HYPERCUBE = "random", "latin-hypercube"
SALTELLI, MORRIS = "saltelli", "morris"
# Of each axis in a Morris design; SALib's default, and Morris's.
MORRIS_LEVELS = 4
# Whose points follow from results, so that it is no `SweepDesign`.
SEARCH = "search"


def _random(samples: int, dimensions: int, seed: int) -> _Shares:
    return np.random.default_rng(seed).random((samples, dimensions))


def _latin_hypercube(samples: int, dimensions: int, seed: int) -> _Shares:
    from scipy.stats import qmc  # type: ignore[import-untyped]  # noqa: PLC0415 (slow)

    return np.asarray(
        qmc.LatinHypercube(dimensions, rng=np.random.default_rng(seed)).random(samples)
    )


def _sobol(samples: int, dimensions: int, seed: int) -> _Shares:
    from scipy.stats import qmc  # noqa: PLC0415 (slow)

    exponent = _exponent(samples)
    drawn = qmc.Sobol(dimensions, rng=np.random.default_rng(seed)).random_base2(exponent)
    return np.asarray(drawn)


def _saltelli(samples: int, dimensions: int, seed: int) -> _Shares:
    """Return Saltelli's design: samples·(dimensions + 2) shares from 0 to 1.

    They are each base sample, and those that differ from it in one axis.

    Saltelli et al., Comput. Phys. Commun. 181 (2010) 259, without second-order indices; the base
    samples are a scrambled Sobol sequence, of a power of 2.
    """
    _exponent(samples)
    drawn = salib("sample.sobol").sample(
        unit_problem(dimensions),
        samples,
        calc_second_order=False,
        seed=np.random.default_rng(seed),
    )
    return np.asarray(drawn)


def _morris(samples: int, dimensions: int, seed: int) -> _Shares:
    """Return `samples` trajectories of dimensions + 1 shares, each of which changes one axis.

    Morris, Technometrics 33 (1991) 161.
    """
    drawn = salib("sample.morris").sample(
        unit_problem(dimensions),
        samples,
        num_levels=MORRIS_LEVELS,
        seed=np.random.default_rng(seed),
    )
    return np.asarray(drawn)


def unit_problem(dimensions: int) -> dict[str, Any]:
    """Return shares from 0 to 1 as SALib's problem: scales and whole numbers are ours."""
    return {
        "num_vars": dimensions,
        "names": [f"x{at}" for at in range(dimensions)],
        "bounds": [[0.0, 1.0]] * dimensions,
    }


def salib(module: str) -> Any:
    """Return a module of SALib.

    Raises:
        WriteampError: it is not installed.
    """
    try:
        return import_module(f"SALib.{module}")
    except ImportError:
        raise WriteampError(
            "this needs SALib, which is not installed: pip install 'writeamp[sensitivity]'"
        ) from None


def _exponent(samples: int) -> int:
    """Return the exponent of a power of 2, as a Sobol sequence needs it to be balanced."""
    exponent = int(math.log2(samples))
    if 2**exponent != samples:
        raise WriteampError(
            f"samples is {samples}; a Sobol sequence is balanced for powers of 2 only: take "
            f"{2**exponent} or {2 ** (exponent + 1)}"
        )
    return exponent


# Each returns independent shares from 0 to 1, of shape (samples, dimensions).
SAMPLERS: Mapping[str, Callable[[int, int, int], _Shares]] = {
    RANDOM: _random,
    LATIN_HYPERCUBE: _latin_hypercube,
    "sobol": _sobol,
}
# Each returns several shares a sample, which differ from each other in some dimensions only.
SENSITIVITY_SAMPLERS: Mapping[str, Callable[[int, int, int], _Shares]] = {
    SALTELLI: _saltelli,
    MORRIS: _morris,
}
_SAMPLERS = {**SAMPLERS, **SENSITIVITY_SAMPLERS}
DESIGNS = (GRID, *_SAMPLERS)


@dataclass(frozen=True)
class SweepDesign:
    """Design of a sweep: the way in which the values of its axes are combined.

    Attributes:
        kind: one of `DESIGNS`.
        samples: how many are drawn of the bounded axes; None for a grid.
        seed: of the samples.
        zipped: groups of names of axes that go ahead together.
    """

    kind: str = GRID
    samples: int | None = None
    seed: int = 0
    zipped: tuple[tuple[str, ...], ...] = ()

    @staticmethod
    def of(table: Mapping[str, Any], where: str) -> SweepDesign:
        """Return the design that the keys design, samples, design_seed and zip of a table say.

        Raises:
            WriteampError: a value outside its domain, or two that contradict each other.
        """
        kind = OneOf((*DESIGNS, SEARCH)).check(f"{where}.design", table.get("design", GRID))
        samples = table.get("samples")
        if kind == GRID and (samples is not None or "design_seed" in table):
            raise WriteampError(
                f"{where}: samples and design_seed are for designs that draw "
                f"({', '.join(_SAMPLERS)}); a grid takes every value"
            )
        if kind != GRID:
            if samples is None:
                raise WriteampError(f"{where}: samples is missing; design {kind} draws so many")
            samples = Whole(1, MOST_POINTS).check(f"{where}.samples", samples)
        seed = Whole(0).check(f"{where}.design_seed", table.get("design_seed", 0))
        return SweepDesign(kind, samples, seed, _zipped(table.get("zip", []), f"{where}.zip"))

    def choices(self, axes: Sequence[Axis], where: str) -> list[Choice]:
        """Return every choice of values, the last axis changing first.

        A design that draws samples draws them of the bounded axes, and takes each of them with
        every combination of the listed ones.

        Raises:
            WriteampError: the design cannot be with these axes.
        """
        bounded = [axis for axis in axes if isinstance(axis, BoundedAxis)]
        self._check_bounds(bounded, where)
        factors = self._factors([axis for axis in axes if isinstance(axis, ListedAxis)], where)
        if bounded:
            factors.append(self._samples(bounded, where))
        count = math.prod(map(len, factors))
        if count > MOST_POINTS:
            raise WriteampError(f"{where} makes {count} points; at most {MOST_POINTS} are possible")
        names = [axis.name for axis in axes]
        return [_in_order(names, parts) for parts in itertools.product(*factors)]

    def shares(self, dimensions: int) -> _Shares:
        """Return where samples lie between the bounds of so many axes, from 0 to 1.

        Raises:
            WriteampError: there is no such design of so many samples, or SALib is missing.
        """
        assert self.samples is not None
        return _SAMPLERS[self.kind](self.samples, dimensions, self.seed)

    def _check_bounds(self, bounded: Sequence[BoundedAxis], where: str) -> None:
        if self.kind == GRID and bounded:
            raise WriteampError(
                f"{where}.axes.{bounded[0].name} says only from and to; a grid needs num or step "
                f"too, or give a design that draws samples: {', '.join(_SAMPLERS)}"
            )
        if self.kind != GRID and not bounded:
            raise WriteampError(
                f"{where}: design {self.kind} draws between bounds, but no axis is {{from, to}} "
                "without step and num"
            )

    def _factors(self, listed: Sequence[ListedAxis], where: str) -> list[list[Choice]]:
        """Return the factors of the grid, which combine freely: single axes, and zipped groups."""
        by_name = {axis.name: axis for axis in listed}
        group_of = {name: group for group in self.zipped for name in group}
        for name in group_of:
            if name not in by_name:
                raise WriteampError(f"{where}.zip: {unknown('listed axis', name, by_name)}")
        found: list[list[Choice]] = []
        seen: set[str] = set()
        for name in by_name:
            group = group_of.get(name, (name,))
            if name not in seen:
                found.append(_together([by_name[one] for one in group], where))
                seen.update(group)
        return found

    def _samples(self, bounded: Sequence[BoundedAxis], where: str) -> list[Choice]:
        try:
            shares = self.shares(len(bounded))
        except WriteampError as error:
            raise WriteampError(f"{where}: {error}") from None
        return [
            {axis.name: axis.at(float(share)) for axis, share in zip(bounded, row, strict=True)}
            for row in shares
        ]


def _zipped(given: Any, where: str) -> tuple[tuple[str, ...], ...]:
    if isinstance(given, list | tuple) and given and all(isinstance(one, str) for one in given):
        given = [given]
    if not isinstance(given, list | tuple) or not all(_is_group(one) for one in given):
        raise WriteampError(
            f"{where} is {shown(given)}; it must be a list of names of axes, or several such lists"
        )
    names = [name for group in given for name in group]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise WriteampError(f"{where} has {twice} twice; an axis goes ahead with one group only")
    return tuple(map(tuple, given))


def _is_group(given: Any) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(name, str) for name in given)


def _together(group: Sequence[ListedAxis], where: str) -> list[Choice]:
    lengths = [len(axis.values) for axis in group]
    if len(set(lengths)) > 1:
        words = ", ".join(f"{axis.name} has {len(axis.values)}" for axis in group)
        raise WriteampError(f"{where}.zip: zipped axes need equally many values; {words}")
    rows = zip(*(axis.values for axis in group), strict=True)
    return [dict(zip((axis.name for axis in group), row, strict=True)) for row in rows]


def _in_order(names: Iterable[str], parts: Iterable[Choice]) -> Choice:
    whole = {name: value for part in parts for name, value in part.items()}
    return {name: whole[name] for name in names}
