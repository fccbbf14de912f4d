"""Workload classes: the eight special cases of paper 2, section III.C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Columns = dict[str, F64]

# What the cases are told by.
NEEDS = (
    "write_ratio",
    "write_randomness",
    "read_randomness",
    "write_stride_bytes",
    "read_stride_bytes",
)


@dataclass(frozen=True)
class WorkloadClass:
    """A kind of workload.

    Attributes:
        name: its name.
        symbol: the name that paper 2's Table IV has for it.
        holds: which rows of characteristics are of it.
    """

    name: str
    symbol: str
    holds: Callable[[Columns], Flags]


def _is(column: F64, value: float) -> Flags:
    return np.equal(column, value)


def _reads(columns: Columns) -> Flags:
    return _is(columns["write_ratio"], 0)


def _writes(columns: Columns) -> Flags:
    return _is(columns["write_ratio"], 1)


def _random(columns: Columns) -> Flags:
    """Return which rows have only random requests in the directions that they have."""
    random = {one: _is(columns[f"{one}_randomness"], 1) for one in ("write", "read")}
    return (random["write"] | _reads(columns)) & (random["read"] | _writes(columns))


def _sequential(columns: Columns) -> Flags:
    """Return which rows have only sequential requests.

    Strides are a pattern of their own.
    """
    found: Flags = np.all([_is(columns[name], 0) for name in NEEDS[1:]], axis=0)
    return found


def _both(
    first: Callable[[Columns], Flags], second: Callable[[Columns], Flags]
) -> Callable[[Columns], Flags]:
    return lambda columns: first(columns) & second(columns)


# Those of two conditions come first: a workload is predicted by the first that it is of.
WORKLOAD_CLASSES = (
    WorkloadClass("random-read", "rand_rd", _both(_random, _reads)),
    WorkloadClass("random-write", "rand_wr", _both(_random, _writes)),
    WorkloadClass("sequential-read", "seq_read", _both(_sequential, _reads)),
    WorkloadClass("sequential-write", "seq_wr", _both(_sequential, _writes)),
    WorkloadClass("read-only", "rd_only", _reads),
    WorkloadClass("write-only", "wr_only", _writes),
    WorkloadClass("random-only", "rand_only", _random),
    WorkloadClass("sequential-only", "seq_only", _sequential),
)


def members(features: F64, names: tuple[str, ...]) -> Flags:
    """Return which rows are of which class; shape (classes, rows).

    Args:
        features: shape (rows, features).
        names: of the features, all of `NEEDS` among them; of workloads as `settled` leaves them.
    """
    columns = {name: features[:, names.index(name)] for name in NEEDS}
    return np.array([one.holds(columns) for one in WORKLOAD_CLASSES])
