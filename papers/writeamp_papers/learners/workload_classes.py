"""Workload classes: the eight special cases of paper 2, section III.C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Columns = dict[str, F64]

# Features that define the classes.
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
        name: name of the class.
        symbol: name of the class in Table IV of paper 2.
        holds: returns which rows of features belong to the class.
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
    """Return which rows have only random requests, in each direction that has requests."""
    random = {
        direction: _is(columns[f"{direction}_randomness"], 1) for direction in ("write", "read")
    }
    return (random["write"] | _reads(columns)) & (random["read"] | _writes(columns))


def _sequential(columns: Columns) -> Flags:
    """Return which rows have only sequential requests.

    Requests with strides are not sequential.
    """
    is_sequential: Flags = np.all([_is(columns[name], 0) for name in NEEDS[1:]], axis=0)
    return is_sequential


def _both(
    first: Callable[[Columns], Flags], second: Callable[[Columns], Flags]
) -> Callable[[Columns], Flags]:
    return lambda columns: first(columns) & second(columns)


# Classes with two conditions come first, because a workload is predicted by the model of the first
# class that it belongs to.
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
    """Return which rows belong to which class; shape (classes, rows).

    Args:
        features: shape (rows, features).
        names: names of the features, including all of `NEEDS`.
    """
    columns = {name: features[:, names.index(name)] for name in NEEDS}
    return np.array([workload_class.holds(columns) for workload_class in WORKLOAD_CLASSES])
