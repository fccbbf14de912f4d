"""Little's law: latency, bandwidth and throughput of a workload determine each other.

Outstanding requests are throughput times latency (Little 1961), and bandwidth is throughput times
the mean size of a request. So three models, of latency, bandwidth and throughput, predict the same
quantity with separate errors; the median of their predictions is more accurate.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.learn.blackbox.features.characteristics import settled
from writeamp.learn.blackbox.measurements import TARGETS

F64 = npt.NDArray[np.float64]

RELATED = ("latency", "bandwidth", "throughput")

_PER_MILLION = 1e6
_SIZES = ("write_size_bytes", "read_size_bytes")
_NEEDS = ("queue_depth", "write_ratio", *_SIZES)
# Measurements follow the law if at least this share of the rows does. A row follows it if the
# logarithms of throughput that its three values imply differ by at most this tolerance. Rows with
# long latencies compared to the measured time do not, because requests end after this time.
_SHARE = 0.95
_TOLERANCE = 0.1


def follow(measurements: pl.DataFrame) -> bool:
    """Return whether latency, bandwidth and throughput of 95% of the rows follow Little's law.

    The result is False unless all three were measured in the same rows.
    """
    if not {*_NEEDS, *(TARGETS[target] for target in RELATED)} <= set(measurements.columns):
        return False
    values = {
        target: measurements[TARGETS[target]].cast(pl.Float64).to_numpy() for target in RELATED
    }
    is_finite = np.isfinite(list(values.values()))
    if not is_finite.any() or not (is_finite == is_finite[0]).all():
        return False
    rows = measurements.filter(pl.Series(is_finite[0]))
    each = _log_throughputs({name: column[is_finite[0]] for name, column in values.items()}, rows)
    apart = each.max(axis=0) - each.min(axis=0)
    return bool(np.mean(apart <= _TOLERANCE) >= _SHARE)


def joined(values: Mapping[str, F64], characteristics: pl.DataFrame) -> dict[str, F64]:
    """Return latency, bandwidth and throughput, made consistent by Little's law.

    All three follow from the median of the throughputs that they imply.

    Args:
        values: predictions by target of `RELATED`, above 0; shape (rows,).
        characteristics: characteristics of the workloads, in the same rows.
    """
    median = np.median(_log_throughputs(values, characteristics), axis=0)
    shifts = _shifts(characteristics)
    return {name: np.exp((median - shifts[name]) * _sign(name)) for name in RELATED}


def _log_throughputs(values: Mapping[str, F64], characteristics: pl.DataFrame) -> F64:
    """Return the logarithm of the throughput that each target implies; shape (3, rows)."""
    shifts = _shifts(characteristics)
    return np.array([_sign(name) * np.log(values[name]) + shifts[name] for name in RELATED])


def _sign(target: str) -> int:
    return -1 if target == "latency" else 1


def _shifts(characteristics: pl.DataFrame) -> dict[str, F64]:
    """Return the offset from each target's logarithm to that of throughput; shape (rows,)."""
    needed = settled(characteristics).select(pl.col(_NEEDS).cast(pl.Float64))
    column = {name: needed[name].to_numpy() for name in _NEEDS}
    writes = column["write_ratio"]
    size_bytes = writes * column["write_size_bytes"] + (1 - writes) * column["read_size_bytes"]
    return {
        "latency": np.log(column["queue_depth"] * _PER_MILLION),
        "bandwidth": np.log(_PER_MILLION / size_bytes),
        "throughput": np.zeros(len(writes)),
    }
