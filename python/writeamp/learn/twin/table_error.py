"""Error of a table of candidates: what lies between its nodes, and the draws of its runs.

Each node is foretold by its neighbours: over spare space, where what curves between nodes at twice
their distance is seen, and over the erase unit, where what is left is mostly the luck of a run.
Families differ a hundredfold in both, so that one number for all would trust FIFO too much and
greedy too little.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.interpolate import PchipInterpolator  # type: ignore[import-untyped]
from scipy.ndimage import uniform_filter1d  # type: ignore[import-untyped]

from writeamp.learn.twin.table import Table

Floats = npt.NDArray[np.float64]

# Keeps the logarithm of WA - 1 finite where nothing was collected yet.
SHIFT = 0.02
# Of what a node is off by when its neighbours foretell it, how much is left between nodes: halving
# the distance leaves a quarter of what is smooth, more of what is not.
_LEFT_OF_OP = 0.35
_LEFT_OF_UNIT = 1.0
_LEAST = 0.003
# Where no neighbours tell it.
_UNKNOWN = 0.009


def table_error(table: Table) -> Floats:
    """Return the standard error of the logarithm of WA at each node, in the shape of `table.wa`."""
    shifted = np.log(np.maximum(table.wa - 1, 0) + SHIFT)
    of_log_wa = (np.maximum(table.wa - 1, 0) + SHIFT) / np.maximum(table.wa, 1)
    over_op = _smooth(_over_op(table.log_op, shifted) * of_log_wa)
    over_unit = _smooth(_over_unit(table.log_op, shifted) * of_log_wa)
    squares = _LEFT_OF_OP**2 * np.nan_to_num(over_op, nan=_UNKNOWN**2)
    squares += _LEFT_OF_UNIT**2 * np.nan_to_num(over_unit, nan=_UNKNOWN**2)
    return np.asarray(np.sqrt(squares + _LEAST**2))


def _over_op(log_op: Floats, values: Floats) -> Floats:
    """Return what each node is off by from the cubic through two neighbours on each side."""
    found = np.full(values.shape, np.nan)
    nodes = log_op.shape[2]
    for at in range(2, nodes - 2):
        others = (at - 2, at - 1, at + 1, at + 2)
        guess = np.zeros_like(values[:, :, at])
        with np.errstate(divide="ignore", invalid="ignore"):  # two nodes of one spare space
            for one in others:
                share = np.ones(log_op.shape[:2])
                for other in others:
                    if other != one:
                        share *= log_op[:, :, at] - log_op[:, :, other]
                        share /= log_op[:, :, one] - log_op[:, :, other]
                guess += share[:, :, None] * values[:, :, one]
        found[:, :, at] = values[:, :, at] - guess
    return np.where(np.isfinite(found), found, np.nan)


def _over_unit(log_op: Floats, values: Floats) -> Floats:
    found = np.full(values.shape, np.nan)
    for variant, unit in np.ndindex(log_op.shape[0], log_op.shape[1]):
        if not 0 < unit < log_op.shape[1] - 1:
            continue
        sides = [(variant, unit - 1), (variant, unit + 1)]
        curves = []
        for side in sides:
            known = _known(log_op[side])
            if known.size > 1:
                curves.append(
                    PchipInterpolator(log_op[side][known], values[side][known], extrapolate=False)
                )
        own = _known(log_op[variant, unit])
        if len(curves) == len(sides):
            guess = np.mean([curve(log_op[variant, unit][own]) for curve in curves], axis=0)
            found[variant, unit, own] = values[variant, unit, own] - guess
    return found


def _known(log_op: Floats) -> npt.NDArray[np.int64]:
    """Return the nodes at which there can be a drive, each spare space once."""
    nodes = np.flatnonzero(~np.isnan(log_op))
    _, first = np.unique(log_op[nodes], return_index=True)
    return nodes[first]


def _smooth(errors: Floats) -> Floats:
    """Return the mean of squares over neighbouring erase units and spare spaces."""
    known = ~np.isnan(errors)
    squares, counts = np.where(known, errors**2, 0.0), known.astype(float)
    for axis in (1, 2):
        squares = uniform_filter1d(squares, 3, axis=axis, mode="constant")
        counts = uniform_filter1d(counts, 3, axis=axis, mode="constant")
    return np.where(counts > 1e-9, squares / np.maximum(counts, 1e-9), np.nan)
