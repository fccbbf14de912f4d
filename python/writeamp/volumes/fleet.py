"""Fleets split by volume: a table of volumes, each of which can be read on its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from writeamp.errors import WriteampError, unknown
from writeamp.fields.arguments import checked
from writeamp.fields.domains import file_name
from writeamp.files import inputs
from writeamp.files.output import AnyPath
from writeamp.files.tables import read_parquet
from writeamp.text import one_line
from writeamp.traces.trace import SCHEMA, Operation, Trace
from writeamp.volumes.facts import FACTS

MARK = "writeamp-fleet.json"
TABLE = "volumes.parquet"
FORMAT, VERSION = "writeamp fleet", 1
_MOST_BYTES = 64 << 20
# Upper bound of a valid fact. Only times may be below 0.
_MOST = 2**62
_TIMES = ("first_ns", "last_ns")
# Required keys of the mark (the file that identifies a fleet) besides format and version, with
# their types.
_MARK = {"requests": int, "volumes": int, "bytes_in": int, "inputs": list, "plan": dict}
# Columns of the files that hold requests, sorted by volume.
STORED: dict[str, Any] = {
    "timestamp_ns": pl.Int64,
    "op": Operation,
    "offset": pl.UInt64,
    "length": pl.UInt32,
}
# Columns that locate a volume's requests in files. Conditions that select volumes cannot use them.
OF_STORAGE = ("digest", "file", "first_row")


@checked
@dataclass(frozen=True)
class Fleet:
    """Volumes of a fleet in a folder that `split` has written."""

    folder: Path
    mark: dict[str, Any]

    @staticmethod
    def open(path: AnyPath) -> Fleet:
        """Return the fleet in a folder.

        Raises:
            WriteampError: the folder holds no fleet, or its split was not finished.
        """
        folder = Path(file_name(path))
        try:
            mark = json.loads(inputs.read_bytes(folder / MARK, _MOST_BYTES, "mark"))
        except NotADirectoryError:
            raise WriteampError(
                f"{folder} is a file, and a fleet is a folder; make one from traces with "
                "`writeamp volumes split`"
            ) from None
        except FileNotFoundError:
            raise WriteampError(
                f"{folder} holds no fleet, or its split was not finished; give a folder that "
                "`writeamp volumes split` wrote"
            ) from None
        except (OSError, ValueError, RecursionError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not JSON"
            raise WriteampError(f"cannot read {folder / MARK}: {why}") from None
        if not isinstance(mark, dict) or mark.get("format") != FORMAT:
            raise WriteampError(
                f"{folder / MARK} is not the mark of a fleet; split the fleet again"
            )
        if mark.get("version") != VERSION:
            raise WriteampError(
                f"{folder} is a fleet of version {mark.get('version')!r}, but this writeamp reads "
                f"version {VERSION}; split it again"
            )
        if any(not isinstance(mark.get(name), kind) for name, kind in _MARK.items()):
            raise WriteampError(f"{folder / MARK} is damaged; split the fleet again")
        return Fleet(folder, mark)

    @cached_property
    def volumes(self) -> pl.DataFrame:
        """Table with a row for each volume, in natural order of the names.

        Columns: `volume`, `requests`, `reads`, `writes`, `bytes_read`, `bytes_written`.
        `page_writes` counts writes to pages of 4 KiB, `written_set_bytes` is the size of the
        written set: all pages that are written at least once. `drive_writes` is the mean number of
        writes per page of that set. `hottest_1pct_share` and `hottest_10pct_share` are shares of
        the page writes. Further: `median_update_interval_s`, `sequential_share`, `first_ns`,
        `last_ns`, `span_s`, and the columns that locate the requests: `digest`, `file` and
        `first_row`.

        Raises:
            WriteampError: the table cannot be read.
        """
        table = _read(self.folder / TABLE, None)
        if dict(table.schema) != {name: kind() for name, kind in FACTS.items()}:
            raise WriteampError(
                f"{self.folder / TABLE} is not a fleet's table; split the fleet again"
            )
        counts = [name for name, kind in FACTS.items() if kind.is_numeric() and name not in _TIMES]
        is_valid = pl.all_horizontal(pl.col(counts).is_between(0, _MOST).fill_null(True))
        if not table.select(is_valid.all()).item():
            raise WriteampError(f"{self.folder / TABLE} is damaged; split the fleet again")
        return table

    def volume(self, name: str) -> Trace:
        """Return the requests of a volume as a trace.

        Raises:
            WriteampError: the fleet has no such volume, or its requests cannot be read.
        """
        rows = self.volumes.filter(pl.col("volume") == name)
        if rows.is_empty():
            raise unknown("volume", name, self.volumes["volume"].to_list())
        row = rows.row(0, named=True)
        file = requests_file(self.folder, row["file"])
        return read_volume(file, name, row["first_row"], row["requests"])


def requests_file(folder: Path, number: int) -> Path:
    """Return the path of a file that holds requests."""
    return folder / f"requests-{number:06}.parquet"


def read_volume(file: Path, name: str, first_row: int, requests: int) -> Trace:
    """Return the trace of a volume, given the file and the rows that hold its requests.

    Raises:
        WriteampError: the rows cannot be read.
    """
    stored = _read(file, (first_row, requests))
    if stored.height != requests or dict(stored.schema) != _stored_types():
        raise WriteampError(f"{file} does not match {TABLE}; split the fleet again")
    return Trace(
        stored.with_columns(device=pl.lit(0, pl.UInt32)).select(*SCHEMA),
        "parquet",
        str(file.parent / name),
        [name],
    )


def _stored_types() -> dict[str, Any]:
    return {name: kind if isinstance(kind, pl.Enum) else kind() for name, kind in STORED.items()}


def _read(path: Path, rows: tuple[int, int] | None) -> pl.DataFrame:
    try:
        return read_parquet(path, rows=rows)
    except (OSError, pl.exceptions.PolarsError) as error:
        why = getattr(error, "strerror", None) or one_line(error)
        raise WriteampError(f"cannot read {path}: {why}") from None
