"""Parquet in writeamp's own schema, the only format that represents all facts of a trace."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import BinaryIO

import polars as pl

from writeamp.errors import WriteampError
from writeamp.files.tables import parquet_facts, read_parquet
from writeamp.text import one_line, quoted
from writeamp.traces.assemble import count_out_of_order, observations
from writeamp.traces.format import Format, ReadOptions
from writeamp.traces.recorded import RECORDING_KEY, Recorded
from writeamp.traces.row_format import named_origins
from writeamp.traces.rows import RowCheck, first_failure
from writeamp.traces.source import PARQUET_MAGIC, Head, file_path, open_file
from writeamp.traces.trace import (
    FUA,
    MAX_END_BYTES,
    MAX_LENGTH_BYTES,
    NUMBERS,
    OPERATIONS,
    OPTIONAL,
    SCHEMA,
    Operation,
    Trace,
    is_origin,
)
from writeamp.traces.words import HINT

SCHEMA_VERSION = "1"
_VERSION_KEY = "writeamp.trace_schema"
_UNITS_KEY = "writeamp.units"
_DEVICES_KEY = "writeamp.devices"
_UNITS = {
    "timestamp_ns": "ns",
    "device": "index into writeamp.devices",
    "op": ", ".join(OPERATIONS),
    "offset": "bytes",
    "length": "bytes",
}
_INTEGER_RANGES = {
    "timestamp_ns": (-(2**63), 2**63 - 1),
    "device": (0, 2**32 - 1),
    "offset": (0, MAX_END_BYTES - MAX_LENGTH_BYTES),
    "length": (0, MAX_LENGTH_BYTES),
}


def read(path: Path, options: ReadOptions) -> Trace:
    """Read a Parquet file of writeamp's schema, or a recording's; other columns are ignored.

    The columns of `OPTIONAL` are read if the options ask for them, and hints in any case.

    Raises:
        WriteampError: the file is not Parquet, has another schema, or has a row that is not valid
            (identified by its number, from 1).
    """
    with open_file(path) as file:
        try:
            schema, metadata = parquet_facts(file)
            _check_schema(path, schema, metadata)
            has_fua = RECORDING_KEY in metadata and schema.get(FUA) == pl.Boolean()
            # Runs need the hints, which are small, and no other origins.
            wanted = [HINT] if options.origins is False else OPTIONAL
            present = [name for name in wanted if name in schema]
            origins = [name for name in present if is_origin(name, schema[name])]
            rows = read_parquet(file, [*SCHEMA, *origins, *([FUA] if has_fua else [])])
        except pl.exceptions.PolarsError as error:
            raise WriteampError(
                f"{path}: is not a readable parquet file ({one_line(error)})"
            ) from None
    if rows.is_empty():
        raise WriteampError(f"{path}: the trace holds no requests; at least one is needed")
    requests = _requests(path, rows)
    if origins:
        requests = requests.hstack(named_origins(rows.select(origins)))
    notes = [
        f"the column {name} is ignored, because it is {schema[name]}; valid is "
        f"{OPTIONAL[name] if name in NUMBERS else 'text'}"
        for name in present
        if name not in origins
    ]
    if _DEVICES_KEY in metadata:
        devices = _device_names(path, metadata[_DEVICES_KEY])
    else:
        requests, devices = _numbered_devices(requests)
        notes.append("no device names in the metadata: devices are named by their numbers")
    if _VERSION_KEY not in metadata:
        notes.append("no schema version in the metadata: units are those of the column names")
    return Trace(
        requests=requests,
        format="parquet",
        path=str(path),
        devices=devices,
        notes=[*notes, *observations(requests, len(devices))],
        recorded=_recorded(path, metadata),
        fua=rows[FUA].fill_null(False) if has_fua else None,
    )


def recorded_in(path: str | os.PathLike[str]) -> Recorded | None:
    """Return the facts of the drive that a file was recorded on, without reading its rows.

    Returns None if the file has no facts of a drive, or is not a readable Parquet file. In the
    second case, `writeamp.traces.read` raises an error with the reason.

    Raises:
        WriteampError: the facts are not valid.
    """
    try:
        with open_file(file_path(path)) as file:
            _, metadata = parquet_facts(file)
    except (WriteampError, OSError, pl.exceptions.PolarsError):
        return None
    return _recorded(Path(path), metadata)


def write(trace: Trace, file: BinaryIO) -> list[str]:
    """Write all requests, sorted by time (requests with equal times stay in order)."""
    early = count_out_of_order(trace.requests)
    # Other programs read text more easily than categories.
    rows = trace.requests.with_columns(
        pl.col(name).cast(pl.String) for name in trace.origins if name not in NUMBERS
    )
    rows = rows if trace.fua is None else rows.with_columns(trace.fua)
    rows.sort("timestamp_ns", maintain_order=True).write_parquet(
        file,
        compression="zstd",
        compression_level=9,
        metadata=metadata_of(trace.devices)
        | ({} if trace.recorded is None else {RECORDING_KEY: trace.recorded.to_text()}),
    )
    if early:
        return [
            f"{early} requests had an earlier time than the request before them: all requests are "
            "written sorted by time"
        ]
    return []


def metadata_of(devices: list[str]) -> dict[str, str]:
    """Return the metadata for a Parquet file of this schema: version, units and device names."""
    return {
        _VERSION_KEY: SCHEMA_VERSION,
        _UNITS_KEY: json.dumps(_UNITS),
        _DEVICES_KEY: json.dumps(devices),
    }


def _recorded(path: Path, metadata: dict[str, str]) -> Recorded | None:
    text = metadata.get(RECORDING_KEY)
    return None if text is None else Recorded.of_text(text, path)


def _check_schema(path: Path, schema: dict[str, pl.DataType], metadata: dict[str, str]) -> None:
    version = metadata.get(_VERSION_KEY, SCHEMA_VERSION)
    if version != SCHEMA_VERSION:
        raise WriteampError(
            f"{path}: has the trace schema {quoted(version)}, this version reads {SCHEMA_VERSION}"
        )
    missing = [name for name in SCHEMA if name not in schema]
    if missing:
        raise WriteampError(
            f"{path}: has no column {', '.join(missing)}; a trace must have {', '.join(SCHEMA)}"
        )
    if schema["op"].is_integer():
        # 0 is a write in MQSim's traces and a read in Tencent's traces, so a number for an
        # operation is rejected.
        raise WriteampError(
            f"{path}: column op is {schema['op']}, and 0 could mean a read or a write; valid are "
            f"the words {', '.join(OPERATIONS)}"
        )
    wrong = [
        f"{name} is {schema[name]}, valid is {SCHEMA[name]}"
        for name in _INTEGER_RANGES
        if not schema[name].is_integer()
    ]
    if not isinstance(schema["op"], pl.String | pl.Categorical | pl.Enum):
        wrong.append(f"op is {schema['op']}, valid is text of {', '.join(OPERATIONS)}")
    if wrong:
        raise WriteampError(f"{path}: column {'; column '.join(wrong)}")


def _requests(path: Path, rows: pl.DataFrame) -> pl.DataFrame:
    no_flush = pl.col("op").cast(pl.String) != "flush"
    checks = (
        *(
            RowCheck(
                pl.col(name).is_between(low, high).fill_null(False),
                f"{name} {{{name}}}, valid are {low} to {high}",
            )
            for name, (low, high) in _INTEGER_RANGES.items()
        ),
        RowCheck(
            pl.col("op").cast(pl.String).is_in(OPERATIONS).fill_null(False),
            f"op {{op}}, valid are {', '.join(OPERATIONS)}",
        ),
        RowCheck(
            no_flush | ((pl.col("offset") == 0) & (pl.col("length") == 0)),
            "a flush of {length} bytes at offset {offset}, but a flush must have offset and "
            "length 0",
        ),
    )
    failure = first_failure(rows, checks)
    if failure:
        row, sentence = failure
        values = {name: quoted(value) for name, value in rows.row(row, named=True).items()}
        raise WriteampError(f"{path}: row {row + 1} has {sentence.format(**values)}")
    return rows.select(
        pl.col(name).cast(Operation if name == "op" else dtype) for name, dtype in SCHEMA.items()
    )


def _device_names(path: Path, written: str) -> list[str]:
    try:
        names = json.loads(written)
    except (ValueError, RecursionError):  # also for thousands of digits or brackets
        names = None
    if not isinstance(names, list) or not all(map(_is_text, names)):
        raise WriteampError(
            f"{path}: {_DEVICES_KEY} in the metadata is {quoted(written)}, valid is a JSON list of "
            "names"
        )
    return names


def _is_text(name: object) -> bool:
    """Return whether a name is valid Unicode: JSON can hold half of a surrogate pair."""
    try:
        return isinstance(name, str) and name.encode() is not None
    except UnicodeEncodeError:
        return False


def _numbered_devices(requests: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return the requests with devices renumbered from 0, and their old numbers as names."""
    numbers = requests["device"].unique().sort()
    renumbered = numbers.search_sorted(requests["device"]).cast(pl.UInt32)
    return requests.with_columns(device=renumbered), [str(number) for number in numbers]


def _looks_like_parquet(head: Head) -> bool:
    return head.start.startswith(PARQUET_MAGIC)


FORMAT = Format(
    name="parquet",
    summary="writeamp's own schema in Parquet: nanoseconds, bytes, operations as words",
    columns=f"{','.join(SCHEMA)}[,{','.join(OPTIONAL)}]",
    units="time in ns; offset and length in bytes; op read, write, trim or flush",
    detection="begins with PAR1",
    matches=_looks_like_parquet,
    reader=read,
    writer=write,
)
