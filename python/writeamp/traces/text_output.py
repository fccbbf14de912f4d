"""Writer of requests as lines of text; requests that a format cannot represent are an error."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import BinaryIO

import polars as pl

from writeamp.errors import WriteampError
from writeamp.traces.trace import SECTOR_BYTES, Trace

_SLICE_ROWS = 2**20
DEVICE = pl.col("label")
"""Label of each request's device, for `write_columns`."""
_PLAIN_NUMBER = re.compile("0|[1-9][0-9]{0,17}")


def write_columns(
    requests: pl.DataFrame,
    columns: Sequence[pl.Expr],
    separator: str,
    file: BinaryIO,
    *,
    labels: Sequence[str],
) -> None:
    """Write the columns as lines without a header, in slices.

    The column `DEVICE` is the label of the request's device; each device has one label.
    """
    names = pl.lit(pl.Series(list(labels), dtype=pl.String))
    for chunk in requests.iter_slices(_SLICE_ROWS):
        chunk.with_columns(label=names.gather(pl.col("device"))).select(
            column.alias(str(position)) for position, column in enumerate(columns)
        ).write_csv(file, include_header=False, separator=separator, quote_style="never")


def refuse_operations(trace: Trace, format_name: str, valid: Sequence[str]) -> None:
    """Raise WriteampError if a request has an operation that the format does not have."""
    _refuse_first(
        trace,
        ~pl.col("op").is_in(list(valid)),
        f"a {{op}}, but {format_name} has only {' and '.join(valid)} "
        "(parquet, blkparse and iolog have all operations)",
    )


def refuse_early_times(trace: Trace, format_name: str) -> None:
    """Raise WriteampError if a request is before time 0."""
    _refuse_first(
        trace,
        pl.col("timestamp_ns") < 0,
        f"at {{timestamp_ns}} ns, but times in {format_name} cannot be negative",
    )


def refuse_part_sectors(trace: Trace, format_name: str, columns: Sequence[str]) -> None:
    """Raise WriteampError if one of the byte columns is not a multiple of 512."""
    for column in columns:
        _refuse_first(
            trace,
            pl.col(column) % SECTOR_BYTES != 0,
            f"at {column} {{{column}}}, but {format_name} counts sectors of {SECTOR_BYTES} bytes",
        )


def decimal_time(nanoseconds_per_unit: int) -> pl.Expr:
    """Return the time as text, a decimal number of a unit, exact to the nanosecond."""
    digits = len(str(nanoseconds_per_unit)) - 1
    time = pl.col("timestamp_ns")
    fraction = (time % nanoseconds_per_unit).cast(pl.String).str.zfill(digits)
    return pl.format("{}.{}", time // nanoseconds_per_unit, fraction)


def sectors(column: str) -> pl.Expr:
    """Return a byte column in sectors of 512 bytes."""
    return pl.col(column) // SECTOR_BYTES


def read_or_write(read: str, write: str) -> pl.Expr:
    """Return the column of words for reads and for writes."""
    return pl.when(pl.col("op") == "read").then(pl.lit(read)).otherwise(pl.lit(write))


def renaming_notes(trace: Trace, names: Sequence[str]) -> list[str]:
    """Return a note if devices have other names in the file than in the trace."""
    renamed = [
        f"{ours} becomes {theirs}"
        for ours, theirs in zip(trace.devices, names, strict=True)
        if ours != theirs
    ]
    return [f"device names do not fit the format: {', '.join(renamed)}"] if renamed else []


def cut_times_notes(trace: Trace, tick_ns: int, tick: str, format_name: str) -> list[str]:
    """Return a note if the format's coarser tick changes times."""
    is_cut = trace.requests.select((pl.col("timestamp_ns") % tick_ns != 0).any()).item()
    return [f"times are cut to {tick}, the tick of {format_name}"] if is_cut else []


def numeric_labels(trace: Trace) -> list[str]:
    """Return the device names if all are plain numbers, otherwise their positions from 0."""
    if all(_PLAIN_NUMBER.fullmatch(name) for name in trace.devices):
        return list(trace.devices)
    return [str(position) for position in range(len(trace.devices))]


def _refuse_first(trace: Trace, faulty: pl.Expr, sentence: str) -> None:
    rows = trace.requests.with_row_index("row", offset=1).filter(faulty).head(1)
    if not rows.is_empty():
        request = rows.row(0, named=True)
        raise WriteampError(
            f"{trace.path}: request {request['row']} is {sentence.format(**request)}"
        )
