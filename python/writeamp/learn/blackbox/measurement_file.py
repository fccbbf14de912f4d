"""Measurement files: those that `blackbox collect` writes, and tables with the same columns."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from writeamp.errors import WriteampError, unknown
from writeamp.files import inputs, output
from writeamp.files.tables import read_csv, read_parquet
from writeamp.learn.blackbox.features.characteristics import CHARACTERISTICS
from writeamp.learn.blackbox.measurements import TARGETS
from writeamp.learn.blackbox.rows import SCHEMA, Row, table_of
from writeamp.results.frames import names_as_given

# Columns that are there in files of `blackbox collect`.
DRIVE = "target"
_ERROR = "error"
_WHAT = "measurements"
_MOST_BYTES = 256 << 20


def read_measurements(path: str | os.PathLike[str], drive: str | None = None) -> pl.DataFrame:
    """Return the rows of a file in which something was measured, of one drive.

    Args:
        path: a Parquet file, or with the suffix .csv a table with a header.
        drive: the drive, as the column ``target`` names it; None if there is but one.

    Raises:
        WriteampError: the file cannot be read, has no such columns as measurements have, is of
            several drives of which none was chosen, or holds no row of the one that was.
    """
    name = os.fspath(path)
    table = _table(name)
    known = (*CHARACTERISTICS, *TARGETS.values())
    if not set(known) & set(table.columns):
        raise WriteampError(
            f"{name!r} holds no measurements: it has none of the columns {', '.join(known)}"
        )
    if _ERROR in table.columns:
        table = table.filter(pl.col(_ERROR).is_null())
    for column in set(known) & set(table.columns):
        if not table[column].dtype.is_numeric() and table[column].dtype != pl.Null:
            raise WriteampError(f"{name!r}: the column {column} holds no numbers")
    drives = drives_of(table)
    if drive is not None:
        if drive not in drives:
            raise unknown("drive", drive, drives)
        table = table.filter(pl.col(DRIVE) == drive)
    elif len(drives) > 1:
        raise WriteampError(
            f"{name!r} has measurements of {len(drives)} drives; --drive chooses one of "
            f"{', '.join(drives)}"
        )
    if table.is_empty():
        raise WriteampError(f"{name!r} holds no row in which something was measured")
    return table


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file that a collection has written; none if there is no file.

    Raises:
        WriteampError: it is something else, or damaged.
    """
    if not path.exists():
        return []
    try:
        table = read_parquet(inputs.read_bytes(path, _MOST_BYTES, _WHAT))
    except (OSError, pl.exceptions.PolarsError) as error:
        runs = runs_folder(path)
        cure = f"; remove it, and it is made again from {runs}" if runs.is_dir() else ""
        raise _unreadable(str(path), error, cure) from None
    if dict(table.schema) != dict(SCHEMA):
        raise WriteampError(
            f"{path} has other columns than measurements have; give another file, or one that "
            "`blackbox collect` has made"
        )
    return table.to_dicts()


def runs_folder(path: Path) -> Path:
    """Return the folder beside a file in which each measurement is kept at once."""
    return path.with_name(f"{path.name}.runs")


def add_rows(path: Path, rows: Sequence[Row]) -> None:
    """Add rows to a file, made if there is none: it is whole, or as it was.

    Raises:
        WriteampError: the file is something else, or the disk is full.
    """
    before = read_rows(path)
    table = table_of([*before, *rows])
    if not table.equals(table_of(before)):
        with output.replacing(path, _WHAT) as file:
            table.write_parquet(file)


def drives_of(measurements: pl.DataFrame) -> list[str]:
    """Return the names of the drives that were measured, as far as the table has them."""
    if DRIVE not in measurements.columns:
        return []
    return [str(name) for name in measurements[DRIVE].drop_nulls().unique(maintain_order=True)]


def _table(name: str) -> pl.DataFrame:
    if not Path(name).exists():
        raise WriteampError(
            f"there is no file {name!r} of measurements; `writeamp blackbox collect` makes one"
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
