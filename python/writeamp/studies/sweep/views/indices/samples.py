"""Indices of designs that draw samples, by SALib, with its bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp.studies.sweep.designs import LATIN_HYPERCUBE, RANDOM
from writeamp.studies.sweep.sensitivity_designs import (
    MORRIS,
    MORRIS_LEVELS,
    SALTELLI,
    salib,
    unit_problem,
)
from writeamp.studies.sweep.views.indices.index import Index

_Floats: TypeAlias = npt.NDArray[np.float64]

# Of the resamples: the same results give the same intervals.
_SEED = 1
_RESAMPLES = 1000


def of_saltelli(names: Sequence[str], shares: _Floats, y: _Floats) -> list[Index]:
    """Return first-order and total Sobol indices.

    Args:
        names: of the d axes.
        shares: of the design, shape (samples·(d + 2), d).
        y: what was found there, in the same order; it varies.
    """
    found = salib("analyze.sobol").analyze(
        unit_problem(len(names)), y, calc_second_order=False, num_resamples=_RESAMPLES, seed=_SEED
    )
    return [
        index
        for at, name in enumerate(names)
        for index in (
            Index.around(name, "first_order", found["S1"][at], found["S1_conf"][at]),
            Index.around(name, "total", found["ST"][at], found["ST_conf"][at]),
        )
    ]


def of_morris(names: Sequence[str], shares: _Floats, y: _Floats) -> list[Index]:
    """Return the mean absolute elementary effect μ* of the whole range of each axis, and σ.

    Campolongo, Cariboni & Saltelli, Environ. Model. Softw. 22 (2007) 1509.

    Args:
        names: of the d axes.
        shares: of the design, shape (trajectories·(d + 1), d).
        y: what was found there, in the same order.
    """
    found = salib("analyze.morris").analyze(
        unit_problem(len(names)),
        shares,
        y,
        num_levels=MORRIS_LEVELS,
        num_resamples=_RESAMPLES,
        seed=_SEED,
    )
    return [
        index
        for at, name in enumerate(names)
        for index in (
            Index.around(name, "mu_star", found["mu_star"][at], found["mu_star_conf"][at]),
            Index(name, "sigma", float(found["sigma"][at])),
        )
    ]


def of_independent(names: Sequence[str], shares: _Floats, y: _Floats) -> list[Index]:
    """Return first-order Sobol indices by RBD-FAST, which takes any independent samples.

    Tarantola, Gatelli & Mara, Reliab. Eng. Syst. Saf. 91 (2006) 717, with the bias correction of
    Tissot & Prieur, 107 (2012) 205.

    Args:
        names: of the d axes.
        shares: of the design, shape (samples, d).
        y: what was found there, in the same order; it varies.
    """
    found = salib("analyze.rbd_fast").analyze(
        unit_problem(len(names)), shares, y, num_resamples=_RESAMPLES, seed=_SEED
    )
    return [
        Index.around(name, "first_order", found["S1"][at], found["S1_conf"][at])
        for at, name in enumerate(names)
    ]


@dataclass(frozen=True)
class Method:
    """Method of analysis of a design, in words, and the fewest samples that it needs."""

    words: str
    indices: Callable[[Sequence[str], _Floats, _Floats], list[Index]]
    least_samples: int = 2


_RBD_FAST = Method("first-order Sobol indices by RBD-FAST", of_independent, 64)
# Not for "sobol": its points sorted by one axis follow another one too regularly, which RBD-FAST
# takes for an effect.
METHODS: Mapping[str, Method] = {
    RANDOM: _RBD_FAST,
    LATIN_HYPERCUBE: _RBD_FAST,
    SALTELLI: Method("Sobol indices by Saltelli's design", of_saltelli, 16),
    MORRIS: Method("elementary effects by Morris's design", of_morris, 4),
}
