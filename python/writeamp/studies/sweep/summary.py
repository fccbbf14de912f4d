"""Mean of a column over the replicas of each combination of settings, with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.results.any_result import AnyResult
from writeamp.statistics.replicas import student_interval
from writeamp.studies.sweep.tidy import ALIKE, ORIGINS, STUDY, Tidy


@dataclass(frozen=True)
class Group(AnyResult):
    """Replicas of one combination of settings: their number, and the mean of a column over them.

    `choice` has the settings. `study`, a hash of all inputs, distinguishes groups with equal
    `choice`. `low` to `high` is the 95% interval: Student's t interval over replicas, or the
    interval of a single run; None without an interval. `steady` is whether all runs are steady;
    None for models, or if all runs failed. `not_steady` is the number of runs that are not steady.
    """

    choice: dict[str, Any]
    kind: str
    version: str
    study: str
    column: str
    runs: int
    failed: int
    mean: float | None
    low: float | None
    high: float | None
    steady: bool | None
    not_steady: int

    @property
    def ci(self) -> tuple[float, float] | None:
        """The 95% confidence interval of the mean, `low` to `high`, or None."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def value(self, name: str) -> Any:
        """Return the value of a setting, or of kind, version or study."""
        return vars(self)[name] if name in (*ORIGINS, STUDY) else self.choice[name]

    def to_dict(self) -> dict[str, Any]:
        """Return the group as JSON types, with the axes first."""
        return self.choice | {
            "version": self.version,
            "study": self.study,
            "runs": self.runs,
            "failed": self.failed,
            self.column: self.mean,
            f"{self.column}_low": self.low,
            f"{self.column}_high": self.high,
            "steady": self.steady,
            "not_steady": self.not_steady,
        }


def groups_of(tidy: Tidy, column: str = "wa", names: Sequence[str] = ()) -> tuple[Group, ...]:
    """Return a group of replicas for each combination of settings, sorted by the settings.

    Args:
        tidy: the results.
        column: column to average over replicas.
        names: further settings to include in `choice`.

    Raises:
        WriteampError: no numeric column has the name.
    """
    if tidy.frame.is_empty():
        return ()
    number = pl.col(tidy.number(column))
    choice_names = [*dict.fromkeys((*tidy.parameters, *names))]
    by = [*dict.fromkeys((*choice_names, *ORIGINS, ALIKE))]
    low, high = (
        pl.col(f"{column}_{end}") if f"{column}_{end}" in tidy.frame.columns else pl.lit(None)
        for end in ("low", "high")
    )
    rows = (
        tidy.frame.sort(by, nulls_last=True)
        .group_by(by, maintain_order=True)
        .agg(
            pl.col(STUDY).first(),
            _runs=pl.len(),
            _failed=pl.col("error").count(),
            _values=number.drop_nulls(),
            _low=low.filter(number.is_not_null()).first(),
            _high=high.filter(number.is_not_null()).first(),
            _steady=pl.col("steady").drop_nulls(),
        )
    )
    return tuple(_group(row, choice_names, column) for row in rows.iter_rows(named=True))


def _group(row: dict[str, Any], names: Sequence[str], column: str) -> Group:
    values = np.array(row["_values"], np.float64)
    low, high = _interval(values, (row["_low"], row["_high"]))
    return Group(
        choice={name: row[name] for name in names if name not in ORIGINS},
        kind=row["kind"],
        version=row["version"],
        study=row[STUDY],
        column=column,
        runs=row["_runs"],
        failed=row["_failed"],
        mean=float(values.mean()) if values.size else None,
        low=low,
        high=high,
        steady=all(row["_steady"]) if row["_steady"] else None,
        not_steady=row["_steady"].count(False),
    )


def _interval(
    values: npt.NDArray[np.float64], own: tuple[float | None, float | None]
) -> tuple[float | None, float | None]:
    # Replicas of a run without random draws are equal, so they do not show the noise of a run.
    if values.size == 0 or np.all(values == values[0]):
        return own
    low, high = student_interval(values)
    return (None, None) if math.isnan(low) else (float(low), float(high))
