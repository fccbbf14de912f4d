"""Measurement files: those of `blackbox collect`, and tables with the same columns."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

from writeamp.blackbox.features.characteristics import CHARACTERISTICS
from writeamp.blackbox.measurements import TARGETS
from writeamp.errors import WriteampError, unknown

# Columns that are there in files of `blackbox collect`.
DRIVE = "target"
_ERROR = "error"


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


def drives_of(measurements: pl.DataFrame) -> list[str]:
    """Return the names of the drives that were measured, as far as the table has them."""
    if DRIVE not in measurements.columns:
        return []
    return [str(name) for name in measurements[DRIVE].drop_nulls().unique(maintain_order=True)]


def _table(name: str) -> pl.DataFrame:
    if not Path(name).is_file():
        raise WriteampError(
            f"there is no file {name!r} of measurements; `writeamp blackbox collect` makes one"
        )
    try:
        if Path(name).suffix.lower() == ".csv":
            return pl.read_csv(name, infer_schema_length=None)
        return pl.read_parquet(name)
    except (OSError, pl.exceptions.PolarsError) as error:
        why = str(error).splitlines()[0]
        raise WriteampError(f"{name!r} cannot be read as a file of measurements: {why}") from None
