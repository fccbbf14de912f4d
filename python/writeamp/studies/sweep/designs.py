"""Designs of sweeps: how values of axes are combined (grid, zipped axes, or random samples).

Saltelli's and Morris's designs are for sensitivity analysis. Their samples depend on each other,
and are analysed in the order in which they were drawn. SALib, an optional dependency, draws them
and is imported only then.
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

from writeamp.errors import WriteampError, how_to_install, unknown
from writeamp.fields.domains import OneOf, Whole, shown
from writeamp.studies.sweep.axes import Axis, BoundedAxis, ListedAxis, Value

# Value of each axis by name: the settings that distinguish one point of a sweep.
Choice: TypeAlias = dict[str, Value]
_Shares: TypeAlias = npt.NDArray[np.float64]

MOST_POINTS = 1_000_000

GRID = "grid"
RANDOM, LATIN_HYPERCUBE = "random", "latin-hypercube"
SALTELLI, MORRIS = "saltelli", "morris"
# Number of levels of each axis in a Morris design: the default of SALib, and the value that Morris
# uses.
MORRIS_LEVELS = 4
# Name of the design "search". It is not a `SweepDesign`, because the points of a search depend on
# earlier results.
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
    """Return Saltelli's design: samples·(dimensions + 2) rows of shares from 0 to 1.

    A share is a position between the bounds of an axis. The design has each base sample, and
    variants of the base sample that differ in one axis.

    Saltelli et al., Comput. Phys. Commun. 181 (2010) 259, without second-order indices. The base
    samples are a scrambled Sobol sequence; their number is a power of 2.
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
    """Return `samples` trajectories of dimensions + 1 rows of shares from 0 to 1.

    Each row of a trajectory changes one axis of the previous row (Morris, Technometrics 33 (1991)
    161).
    """
    drawn = salib("sample.morris").sample(
        unit_problem(dimensions),
        samples,
        num_levels=MORRIS_LEVELS,
        seed=np.random.default_rng(seed),
    )
    return np.asarray(drawn)


def unit_problem(dimensions: int) -> dict[str, Any]:
    """Return SALib's description of axes with bounds 0 and 1; real bounds are applied later."""
    return {
        "num_vars": dimensions,
        "names": [f"x{at}" for at in range(dimensions)],
        "bounds": [[0.0, 1.0]] * dimensions,
    }


def salib(module: str) -> Any:
    """Import and return a module of SALib.

    Raises:
        WriteampError: SALib is not installed.
    """
    try:
        return import_module(f"SALib.{module}")
    except ImportError:
        raise WriteampError(
            f"this needs SALib, which is not installed; run: {how_to_install('sensitivity')}"
        ) from None


def _exponent(samples: int) -> int:
    """Return log2 of `samples`, which must be a power of 2 for a balanced Sobol sequence."""
    exponent = int(math.log2(samples))
    if 2**exponent != samples:
        raise WriteampError(
            f"samples is {samples}; a Sobol sequence needs a power of 2; give {2**exponent} or "
            f"{2 ** (exponent + 1)}"
        )
    return exponent


# Functions that return independent samples: shares from 0 to 1, shape (samples, dimensions).
SAMPLERS: Mapping[str, Callable[[int, int, int], _Shares]] = {
    RANDOM: _random,
    LATIN_HYPERCUBE: _latin_hypercube,
    "sobol": _sobol,
}
# Functions that return several rows of shares for each sample; these rows differ in some axes only.
SENSITIVITY_SAMPLERS: Mapping[str, Callable[[int, int, int], _Shares]] = {
    SALTELLI: _saltelli,
    MORRIS: _morris,
}
_SAMPLERS = {**SAMPLERS, **SENSITIVITY_SAMPLERS}
DESIGNS = (GRID, *_SAMPLERS)


@dataclass(frozen=True)
class SweepDesign:
    """Design of a sweep: how the values of its axes are combined.

    Attributes:
        kind: one of `DESIGNS`.
        samples: number of samples drawn for the axes with bounds; None for a grid.
        seed: seed of the random samples.
        zipped: groups of names of axes that vary together.
    """

    kind: str = GRID
    samples: int | None = None
    seed: int = 0
    zipped: tuple[tuple[str, ...], ...] = ()

    @staticmethod
    def of(table: Mapping[str, Any], where: str) -> SweepDesign:
        """Return the design stated by the keys design, samples, design_seed and zip of a table.

        Raises:
            WriteampError: a value is outside its domain, or two contradict each other.
        """
        kind = OneOf((*DESIGNS, SEARCH)).check(f"{where}.design", table.get("design", GRID))
        samples = table.get("samples")
        if kind == GRID and (samples is not None or "design_seed" in table):
            raise WriteampError(
                f"{where}: samples and design_seed are for designs that draw samples "
                f"({', '.join(_SAMPLERS)}); omit them for a grid, which has every value"
            )
        if kind != GRID:
            if samples is None:
                raise WriteampError(f"{where}: samples is missing; give a number for design {kind}")
            samples = Whole(1, MOST_POINTS).check(f"{where}.samples", samples)
        seed = Whole(0).check(f"{where}.design_seed", table.get("design_seed", 0))
        return SweepDesign(kind, samples, seed, _zipped(table.get("zip", []), f"{where}.zip"))

    def choices(self, axes: Sequence[Axis], where: str) -> list[Choice]:
        """Return every combination of values, a value for each axis.

        Samples are drawn for the axes with bounds, and combined with every combination of listed
        values. Among neighbouring choices, the samples change first, then the last listed axis.

        Raises:
            WriteampError: the design is not possible with these axes.
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
        """Return samples of `dimensions` axes, as shares from 0 to 1 of their ranges.

        Raises:
            WriteampError: the design does not support this number of samples, or SALib is missing.
        """
        assert self.samples is not None
        return _SAMPLERS[self.kind](self.samples, dimensions, self.seed)

    def _check_bounds(self, bounded: Sequence[BoundedAxis], where: str) -> None:
        if self.kind == GRID and bounded:
            raise WriteampError(
                f"{where}.axes.{bounded[0].name} has only from and to; add num or step for a grid, "
                f"or give a design that draws samples: {', '.join(_SAMPLERS)}"
            )
        if self.kind != GRID and not bounded:
            raise WriteampError(
                f"{where}: design {self.kind} needs an axis to draw from; give one as {{from, to}} "
                "without step and num"
            )

    def _factors(self, listed: Sequence[ListedAxis], where: str) -> list[list[Choice]]:
        """Return the choices that the grid combines: those of each single axis or zipped group."""
        by_name = {axis.name: axis for axis in listed}
        group_of = {name: group for group in self.zipped for name in group}
        for name in group_of:
            if name not in by_name:
                raise WriteampError(f"{where}.zip: {unknown('listed axis', name, by_name)}")
        factors: list[list[Choice]] = []
        seen: set[str] = set()
        for name in by_name:
            group = group_of.get(name, (name,))
            if name not in seen:
                factors.append(_together([by_name[member] for member in group], where))
                seen.update(group)
        return factors

    def _samples(self, bounded: Sequence[BoundedAxis], where: str) -> list[Choice]:
        try:
            shares = self.shares(len(bounded))
        except WriteampError as error:
            raise WriteampError(f"{where}: {error}") from None
        return [
            {axis.name: axis.at(float(share)) for axis, share in zip(bounded, row, strict=True)}
            for row in shares
        ]


def _zipped(groups: Any, where: str) -> tuple[tuple[str, ...], ...]:
    if (
        isinstance(groups, list | tuple)
        and groups
        and all(isinstance(name, str) for name in groups)
    ):
        groups = [groups]
    if not isinstance(groups, list | tuple) or not all(_is_group(group) for group in groups):
        raise WriteampError(
            f"{where} is {shown(groups)}; it must be a list of names of axes, or several such lists"
        )
    names = [name for group in groups for name in group]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise WriteampError(f"{where} has {twice} twice; an axis can be in one group only")
    return tuple(map(tuple, groups))


def _is_group(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)


def _together(group: Sequence[ListedAxis], where: str) -> list[Choice]:
    lengths = [len(axis.values) for axis in group]
    if len(set(lengths)) > 1:
        words = ", ".join(f"{axis.name} has {len(axis.values)}" for axis in group)
        raise WriteampError(f"{where}.zip: zipped axes must have equally many values; {words}")
    rows = zip(*(axis.values for axis in group), strict=True)
    return [dict(zip((axis.name for axis in group), row, strict=True)) for row in rows]


def _in_order(names: Iterable[str], parts: Iterable[Choice]) -> Choice:
    merged = {name: value for choice in parts for name, value in choice.items()}
    return {name: merged[name] for name in names}
