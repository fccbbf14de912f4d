"""Tables of measurements: workloads' characteristics, and targets such as latency and WA.

A row has a column for each characteristic of the workload (`features.CHARACTERISTICS`), one for
each measured target, and optionally `workload`, a name that repeats of a workload share.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.errors import WriteampError, unknown
from writeamp.learn.blackbox.features.characteristics import CHARACTERISTICS, settled

I64 = npt.NDArray[np.int64]

# Column of each target (measured quantity); the column's name holds the unit.
TARGETS = {
    "latency": "latency_us",
    "bandwidth": "bandwidth_mb_s",
    "throughput": "throughput_iops",
    "wa": "wa",
}
UNITS = {"latency": "µs", "bandwidth": "MB/s", "throughput": "requests/s", "wa": ""}
WORKLOAD = "workload"


def targets_in(measurements: pl.DataFrame) -> list[str]:
    """Return the targets that have values in a table; a table without any is a `WriteampError`."""
    targets = [name for name in TARGETS if not _with_values(measurements, name).is_empty()]
    if not targets:
        raise WriteampError(
            "the measurements have no values of a target; at least one of these columns needs "
            f"values: {', '.join(TARGETS.values())}"
        )
    return targets


def observed(measurements: pl.DataFrame, target: str) -> pl.DataFrame:
    """Return the rows in which a target was measured; for WA, only rows with writes.

    Raises:
        WriteampError: the target is unknown, no row has it, or a value is not above 0.
    """
    if target not in TARGETS:
        raise unknown("target", target, TARGETS)
    column = TARGETS[target]
    if column not in measurements.columns:
        raise WriteampError(f"the measurements lack the column {column} of the target {target}")
    rows = _with_values(measurements, target)
    if rows.is_empty():
        raise WriteampError(f"no row of the measurements has a value of {column}")
    values = rows[column].to_numpy()
    if not (np.isfinite(values) & (values > 0)).all():
        row = int(np.argmin(np.isfinite(values) & (values > 0)))
        raise WriteampError(
            f"row {row} has a {column} of {values[row]:g}; it must be a finite number above 0"
        )
    return rows


def _with_values(measurements: pl.DataFrame, target: str) -> pl.DataFrame:
    """Return the rows with a value of a target; for WA only those with writes."""
    if TARGETS[target] not in measurements.columns:
        return measurements.clear()
    is_known = pl.col(TARGETS[target]).cast(pl.Float64).is_not_nan()
    if target == "wa" and "write_ratio" in measurements.columns:
        is_known &= pl.col("write_ratio") > 0
    return measurements.filter(is_known)


def workloads(measurements: pl.DataFrame) -> I64:
    """Return a workload number for each row, equal for rows of the same workload; shape (rows,).

    Without a column `workload`, rows with equal characteristics are of the same workload.
    """
    if WORKLOAD in measurements.columns:
        names = pl.col(WORKLOAD)
    else:
        present = [name for name in CHARACTERISTICS if name in measurements.columns]
        names = pl.struct(present)
    ranked = settled(measurements).select(names.rank("dense"))
    return ranked.to_series().to_numpy().astype(np.int64)


def fingerprints(measurements: pl.DataFrame, target: str) -> list[str]:
    """Return a fingerprint of each row: a hash of its characteristics and its target's value."""
    present = [name for name in CHARACTERISTICS if name in measurements.columns]
    columns = [*present, TARGETS[target]]
    values = settled(measurements).select(pl.col(columns).cast(pl.Float64)).to_numpy()
    return [hashlib.blake2b(row.tobytes(), digest_size=8).hexdigest() for row in values]
