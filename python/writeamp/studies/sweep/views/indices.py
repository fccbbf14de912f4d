"""Sensitivity indices of axes: for full grids, and by SALib for designs that draw samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp.results.any_result import AnyResult
from writeamp.results.numbers import json_number
from writeamp.statistics.replicas import student_interval
from writeamp.studies.sweep.designs import (
    LATIN_HYPERCUBE,
    MORRIS,
    MORRIS_LEVELS,
    RANDOM,
    SALTELLI,
    salib,
    unit_problem,
)

Measure: TypeAlias = Literal["first_order", "total", "mu_star", "sigma"]


@dataclass(frozen=True)
class Index(AnyResult):
    """Sensitivity index of an axis with its 95% interval, or NaN without one."""

    axis: str
    measure: Measure
    value: float
    low: float = math.nan
    high: float = math.nan

    @property
    def ci(self) -> tuple[float, float]:
        """The 95% confidence interval of the value: `low` to `high`."""
        return self.low, self.high

    @staticmethod
    def around(axis: str, measure: Measure, value: float, half_width: float) -> Index:
        """Return an index whose interval is symmetric around its value."""
        return Index(axis, measure, float(value), float(value - half_width),
                     float(value + half_width))  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return the index as JSON types; NaN becomes null."""
        numbers = {"value": self.value, "low": self.low, "high": self.high}
        values = {name: json_number(number) for name, number in numbers.items()}
        return {"axis": self.axis, "measure": self.measure} | values


def of_full_grid(names: Sequence[str], y: npt.NDArray[np.float64]) -> list[Index]:
    """Return both Sobol indices of each axis: means over replicas, with Student's t intervals.

    They are computed by analysis of variance over all cells, with equal weights of an axis's
    values. The first-order index of axis i is Var(E[y|x_i])/Var(y), the total one is 1 -
    Var(E[y|x_j, j≠i])/Var(y) (Saltelli et al., Comput. Phys. Commun. 181 (2010) 259, Eqs. 1 and 4).
    The indices have no sampling error, because a full grid has every combination.

    Args:
        names: names of the axes.
        y: results, shape (replicas, values of the first axis, values of the second, …), not all
            equal.
    """
    indices = []
    for axis, name in enumerate(names):
        first = np.array([_first_order(replica, axis) for replica in y])
        total = np.array([_total(replica, axis) for replica in y])
        indices.append(_over_replicas(name, "first_order", first))
        indices.append(_over_replicas(name, "total", total))
    return indices


def _first_order(y: npt.NDArray[np.float64], axis: int) -> float:
    others = tuple(at for at in range(y.ndim) if at != axis)
    return _share(y.mean(axis=others).var(), y.var())


def _total(y: npt.NDArray[np.float64], axis: int) -> float:
    return _share(y.var() - y.mean(axis=axis).var(), y.var())


def _share(component: float, whole: float) -> float:
    """Return a share of a variance, or 0 if the variance is 0."""
    return float(component / whole) if whole > 0 else 0.0


def _over_replicas(name: str, measure: Measure, values: npt.NDArray[np.float64]) -> Index:
    low, high = student_interval(values)
    # The interval of a single replica is NaN, which min() and max() would lose.
    low, high = (end if math.isnan(end) else min(max(end, 0.0), 1.0) for end in (low, high))
    return Index(name, measure, float(values.mean()), low, high)


_Floats: TypeAlias = npt.NDArray[np.float64]

# Seed of the bootstrap resamples, so that the same results give the same intervals.
_SEED = 1
_RESAMPLES = 1000


def of_saltelli(names: Sequence[str], shares: _Floats, y: _Floats) -> list[Index]:
    """Return first-order and total Sobol indices.

    Args:
        names: names of the d axes.
        shares: samples of the design, shape (samples·(d + 2), d).
        y: results at the samples, in the same order, not all equal.
    """
    analysis = salib("analyze.sobol").analyze(
        unit_problem(len(names)), y, calc_second_order=False, num_resamples=_RESAMPLES, seed=_SEED
    )
    return [
        index
        for axis, name in enumerate(names)
        for index in (
            Index.around(name, "first_order", analysis["S1"][axis], analysis["S1_conf"][axis]),
            Index.around(name, "total", analysis["ST"][axis], analysis["ST_conf"][axis]),
        )
    ]


def of_morris(names: Sequence[str], shares: _Floats, y: _Floats) -> list[Index]:
    """Return μ* and σ of each axis: mean absolute elementary effect, and standard deviation.

    Effects are over the whole range of an axis.

    Campolongo, Cariboni & Saltelli, Environ. Model. Softw. 22 (2007) 1509.

    Args:
        names: names of the d axes.
        shares: samples of the design, shape (trajectories·(d + 1), d).
        y: results at the samples, in the same order.
    """
    analysis = salib("analyze.morris").analyze(
        unit_problem(len(names)),
        shares,
        y,
        num_levels=MORRIS_LEVELS,
        num_resamples=_RESAMPLES,
        seed=_SEED,
    )
    return [
        index
        for axis, name in enumerate(names)
        for index in (
            Index.around(
                name, "mu_star", analysis["mu_star"][axis], analysis["mu_star_conf"][axis]
            ),
            Index(name, "sigma", float(analysis["sigma"][axis])),
        )
    ]


def of_independent(names: Sequence[str], shares: _Floats, y: _Floats) -> list[Index]:
    """Return first-order Sobol indices by RBD-FAST, which supports any independent samples.

    Tarantola, Gatelli & Mara, Reliab. Eng. Syst. Saf. 91 (2006) 717, with the bias correction of
    Tissot & Prieur, 107 (2012) 205.

    Args:
        names: names of the d axes.
        shares: samples of the design, shape (samples, d).
        y: results at the samples, in the same order, not all equal.
    """
    analysis = salib("analyze.rbd_fast").analyze(
        unit_problem(len(names)), shares, y, num_resamples=_RESAMPLES, seed=_SEED
    )
    return [
        Index.around(name, "first_order", analysis["S1"][axis], analysis["S1_conf"][axis])
        for axis, name in enumerate(names)
    ]


@dataclass(frozen=True)
class Method:
    """Method of analysis of a design, with its description and the minimum number of samples."""

    words: str
    indices: Callable[[Sequence[str], _Floats, _Floats], list[Index]]
    least_samples: int = 2


_RBD_FAST = Method("first-order Sobol indices by RBD-FAST", of_independent, 64)
# The design "sobol" is missing, because RBD-FAST would report false effects. If its points are
# sorted by one axis, the values of another axis follow too regular a pattern.
METHODS: Mapping[str, Method] = {
    RANDOM: _RBD_FAST,
    LATIN_HYPERCUBE: _RBD_FAST,
    SALTELLI: Method("Sobol indices by Saltelli's design", of_saltelli, 16),
    MORRIS: Method("elementary effects by Morris's design", of_morris, 4),
}
