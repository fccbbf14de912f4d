"""Measurement files: written by `blackbox collect`, or tables with the same columns."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import polars as pl

from writeamp.errors import WriteampError, unknown
from writeamp.files import inputs, output
from writeamp.files.tables import read_csv, read_parquet
from writeamp.learn.blackbox.features import DriveUse, characteristics, of_workload
from writeamp.learn.blackbox.measurements import TARGETS
from writeamp.learn.blackbox.space import CHARACTERISTICS, SECTOR_BYTES, WorkloadPoint
from writeamp.learn.blackbox.targets.target import (
    SIMULATED,
    MeasurementOutcome,
    MeasurementTarget,
    Performance,
)
from writeamp.results.frames import names_as_given

_WHOLE = ("queue_depth", "requests")
_TRUTHS = ("steady",)
# Characteristics that depend on the drive. Recent writes depend on it, too, but are a column of
# `MEASURES`, because they are measured.
_ON_DRIVE = ("working_set_bytes", "fill", "skew")

Row = dict[str, Any]


def _type_of(name: str) -> Any:
    if name in _TRUTHS:
        return pl.Boolean
    return pl.Int64 if name in _WHOLE or name.endswith("_bytes") else pl.Float64


MEASURES = tuple(measure.name for measure in fields(Performance))

SCHEMA: Mapping[str, Any] = {
    "target": pl.String,
    "target_kind": pl.String,
    "space_bytes": pl.Int64,
    "design": pl.String,
    "workload": pl.String,
    **{name: _type_of(name) for name in CHARACTERISTICS},
    **{name: _type_of(name) for name in _ON_DRIVE},
    "burst_s": pl.Float64,
    **{name: _type_of(name) for name in MEASURES},
    "seed": pl.Int64,
    "elapsed_s": pl.Float64,
    "error": pl.String,
    "target_hash": pl.String,
    "hash": pl.String,
}


@dataclass(frozen=True)
class TargetRows:
    """Rows of one target, and the hashes that identify them.

    The hash of each row covers the settings of the measurement.
    """

    target: MeasurementTarget

    @property
    def target_hash(self) -> str:
        """Hash of the target's settings; these and the point determine a measurement."""
        return _hash({"target": self.target.kind, **self.target.meaning})

    def hash_of(self, point: WorkloadPoint) -> str:
        """Return the hash that identifies the result of a point."""
        return _hash({"of": self.target_hash, **point.to_dict()})

    def row(self, outcome: MeasurementOutcome, design: str) -> Row:
        """Return an outcome as a row; missing values are null."""
        measures = {} if outcome.measured is None else asdict(outcome.measured)
        return dict.fromkeys(SCHEMA) | {
            "target": self.target.name,
            "target_kind": self.target.kind,
            "space_bytes": self.target.space_bytes,
            "design": design,
            "workload": outcome.point.spec,
            **outcome.point.to_dict(),
            **self._on_drive(outcome.point),
            "burst_s": outcome.point.burst_s,
            **measures,
            "seed": self.target.seed,
            "elapsed_s": outcome.elapsed_s,
            "error": outcome.error,
            "target_hash": self.target_hash,
            "hash": self.hash_of(outcome.point),
        }

    def _on_drive(self, point: WorkloadPoint) -> Row:
        """Return the state of the drive at a point; the fill of a real drive is unknown."""
        space_bytes = max(SECTOR_BYTES, round(point.fill * self.target.space_bytes))
        workload = asdict(of_workload(point.spec, use=DriveUse(space_bytes)))
        fill = point.fill if self.target.kind == SIMULATED else None
        skew = workload["skew"] if point.has_writes else 0.0
        return {"working_set_bytes": space_bytes, "fill": fill, "skew": skew}


def point_of(row: Row) -> WorkloadPoint:
    """Return the point of a row, with the recent writes that were actually made."""
    return WorkloadPoint(
        **{name: row[name] for name in CHARACTERISTICS},
        fill=1.0 if row["fill"] is None else row["fill"],
        recent_write_bytes=row["recent_write_bytes"] or 0,
        burst_s=row["burst_s"],
    )


def table_of(rows: Iterable[Row]) -> pl.DataFrame:
    """Return rows as a table with one row per hash: the last success, or else the last failure."""
    best: dict[str, Row] = {}
    for row in rows:
        previous = best.get(row["hash"])
        if previous is None or row["error"] is None or previous["error"] is not None:
            best[row["hash"]] = row
    return pl.DataFrame(list(best.values()), schema=SCHEMA, orient="row")


def _hash(meaning: Mapping[str, Any]) -> str:
    text = json.dumps(meaning, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


# Columns of files of `blackbox collect`: the drive's name, and the error of a failed point.
DRIVE = "target"
_ERROR = "error"
_WHAT = "measurements"
_MOST_BYTES = 256 << 20


def read_measurements(path: str | os.PathLike[str], drive: str | None = None) -> pl.DataFrame:
    """Return the rows of one drive in a file that were measured successfully.

    Args:
        path: a Parquet file, or with the suffix .csv a table with a header.
        drive: the drive, by its name in the column ``target``; None if there is only one.

    Returns:
        A Polars data frame, a row for each measured point: characteristics and targets.

    Raises:
        WriteampError: the file cannot be read, has no column of measurements, has several drives
            and none was chosen, or has no row of the chosen drive.
    """
    name = os.fspath(path)
    table = _table(name)
    columns = (*characteristics.CHARACTERISTICS, *TARGETS.values())
    if not set(columns) & set(table.columns):
        raise WriteampError(
            f"{name!r} holds no measurements: all of these columns are missing: "
            f"{', '.join(columns)}"
        )
    if _ERROR in table.columns:
        table = table.filter(pl.col(_ERROR).is_null())
    for column in set(columns) & set(table.columns):
        if not table[column].dtype.is_numeric() and table[column].dtype != pl.Null:
            raise WriteampError(f"{name!r}: the column {column} must hold numbers")
    drives = drives_of(table)
    if drive is not None:
        if drive not in drives:
            raise unknown("drive", drive, drives)
        table = table.filter(pl.col(DRIVE) == drive)
    elif len(drives) > 1:
        raise WriteampError(
            f"{name!r} has measurements of {len(drives)} drives; choose one with --drive: "
            f"{', '.join(drives)}"
        )
    if table.is_empty():
        raise WriteampError(f"{name!r} has no successful measurement")
    return table


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file that a collection has written; none if the file does not exist.

    Raises:
        WriteampError: the file has other content, or is damaged.
    """
    if not path.exists():
        return []
    try:
        table = read_parquet(inputs.read_bytes(path, _MOST_BYTES, _WHAT))
    except (OSError, pl.exceptions.PolarsError) as error:
        runs = runs_folder(path)
        cure = f"; remove it to make it again from {runs}" if runs.is_dir() else ""
        raise _unreadable(str(path), error, cure) from None
    if dict(table.schema) != dict(SCHEMA):
        raise WriteampError(
            f"{path} does not have the columns of measurements; give the name of a new file, or a "
            "file that `blackbox collect` has made"
        )
    return table.to_dicts()


def runs_folder(path: Path) -> Path:
    """Return the folder beside a file in which each measurement is saved at once."""
    return path.with_name(f"{path.name}.runs")


def add_rows(path: Path, rows: Sequence[Row]) -> None:
    """Add rows to a file, which is created if missing, and written completely or not at all.

    Raises:
        WriteampError: the file has other content, or the disk is full.
    """
    previous = read_rows(path)
    table = table_of([*previous, *rows])
    if not table.equals(table_of(previous)):
        with output.replacing(path, _WHAT) as file:
            table.write_parquet(file)


def drives_of(measurements: pl.DataFrame) -> list[str]:
    """Return the names of the measured drives; empty if the table does not have them."""
    if DRIVE not in measurements.columns:
        return []
    return [str(name) for name in measurements[DRIVE].drop_nulls().unique(maintain_order=True)]


def _table(name: str) -> pl.DataFrame:
    if not Path(name).exists():
        raise WriteampError(
            f"the file of measurements {name!r} does not exist; make one with "
            "`writeamp blackbox collect`"
        )
    try:
        content = inputs.read_bytes(name, _MOST_BYTES, _WHAT)
        if Path(name).suffix.lower() == ".csv":
            return names_as_given(read_csv(content, infer_schema_length=None))
        return read_parquet(content)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _unreadable(repr(name), error) from None


def _unreadable(name: str, error: Exception, cure: str = "") -> WriteampError:
    why = getattr(error, "strerror", None) or str(error).splitlines()[0]
    return WriteampError(f"{name} cannot be read as a file of measurements: {why}{cure}")
