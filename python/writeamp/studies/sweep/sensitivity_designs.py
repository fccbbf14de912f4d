"""Designs whose samples belong together: those of Saltelli and of Morris, drawn by SALib.

What they found is analysed in the order in which they were drawn. SALib is an extra, which is
imported when it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError

SALTELLI, MORRIS = "saltelli", "morris"
# Of each axis; SALib's default, and Morris's.
MORRIS_LEVELS = 4


def saltelli(samples: int, dimensions: int, seed: int) -> npt.NDArray[np.float64]:
    """Return Saltelli's design: samples·(dimensions + 2) shares from 0 to 1.

    They are each base sample, and those that differ from it in one axis.

    Saltelli et al., Comput. Phys. Commun. 181 (2010) 259, without second-order indices; the base
    samples are a scrambled Sobol sequence, of a power of 2.
    """
    drawn = salib("sample.sobol").sample(
        unit_problem(dimensions),
        samples,
        calc_second_order=False,
        seed=np.random.default_rng(seed),
    )
    return np.asarray(drawn)


def morris(samples: int, dimensions: int, seed: int) -> npt.NDArray[np.float64]:
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
