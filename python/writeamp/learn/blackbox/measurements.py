"""Tables of measurements: characteristics of workloads, and targets measured under them.

A row has a column for each characteristic of the workload (`features.CHARACTERISTICS`), one for
each target that was measured, and optionally `workload`, which names the workload so that its
repeats belong together.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.errors import WriteampError, unknown
from writeamp.learn.blackbox.features.characteristics import CHARACTERISTICS, settled

I64 = npt.NDArray[np.int64]

# The column, with its unit, of each target.
TARGETS = {
    "latency": "latency_us",
    "bandwidth": "bandwidth_mb_s",
    "throughput": "throughput_iops",
    "wa": "wa",
}
UNITS = {"latency": "µs", "bandwidth": "MB/s", "throughput": "requests/s", "wa": ""}
WORKLOAD = "workload"


def targets_in(measurements: pl.DataFrame) -> list[str]:
    """Return the targets that a table has values of; a `WriteampError` if there are none."""
    found = [name for name in TARGETS if not _with_values(measurements, name).is_empty()]
    if not found:
        raise WriteampError(
            "the measurements have no value of a target; valid columns are "
            f"{', '.join(TARGETS.values())}"
        )
    return found


def observed(measurements: pl.DataFrame, target: str) -> pl.DataFrame:
    """Return the rows in which a target was measured: a drive that is not written to has no WA.

    Raises:
        WriteampError: there is no such target, no row has it, or a value is not above 0.
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
    """Return the rows with a value of a target; WA only of workloads that write."""
    if TARGETS[target] not in measurements.columns:
        return measurements.clear()
    is_known = pl.col(TARGETS[target]).cast(pl.Float64).is_not_nan()
    if target == "wa" and "write_ratio" in measurements.columns:
        is_known &= pl.col("write_ratio") > 0
    return measurements.filter(is_known)


def workloads(measurements: pl.DataFrame) -> I64:
    """Return a number for the workload of each row; shape (rows,).

    Rows without a name in the column `workload` are of one workload if their characteristics agree.
    """
    if WORKLOAD in measurements.columns:
        names = pl.col(WORKLOAD)
    else:
        known = [name for name in CHARACTERISTICS if name in measurements.columns]
        names = pl.struct(known)
    ranked = settled(measurements).select(names.rank("dense"))
    return ranked.to_series().to_numpy().astype(np.int64)


def fingerprints(measurements: pl.DataFrame, target: str) -> list[str]:
    """Return a fingerprint of each row: a hash of its characteristics and its target."""
    known = [name for name in CHARACTERISTICS if name in measurements.columns]
    columns = [*known, TARGETS[target]]
    values = settled(measurements).select(pl.col(columns).cast(pl.Float64)).to_numpy()
    return [hashlib.blake2b(row.tobytes(), digest_size=8).hexdigest() for row in values]
