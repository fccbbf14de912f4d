"""Write a trace to a file, completely or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

from writeamp.errors import WriteampError
from writeamp.files import output
from writeamp.text import one_line
from writeamp.traces.format import Format
from writeamp.traces.packed import SUFFIXES
from writeamp.traces.registry import FORMATS, find_format
from writeamp.traces.source import file_path
from writeamp.traces.trace import Trace, check_trace


def write(
    trace: Trace,
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    replace: bool = True,
) -> list[str]:
    """Write a trace; the file is written completely or not at all.

    Args:
        trace: the trace.
        path: the file to make or replace; never the one that the trace was read from.
        format: name of a format in ``FORMATS``; None to take it from the suffix.
        replace: replace an existing file rather than raise.

    Returns:
        Notes on values that the format required to round, rename or reorder.

    Raises:
        WriteampError: the format cannot represent a request, or the file cannot be written.

    >>> import tempfile
    >>> import writeamp as wa
    >>> trace = wa.traces.read("examples/postgres-tpcb.parquet")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     notes = wa.traces.write(trace, f"{folder}/copy.parquet")
    ...     wa.traces.read(f"{folder}/copy.parquet").requests.equals(trace.requests)
    True
    """
    check_trace(trace)
    entry = _format_of(path, format)
    with output.replacing(path, "trace", inputs=[trace.path], may_replace=replace) as file:
        try:
            return [*entry.write(trace, file), *_lost_origins(trace, entry)]
        except pl.exceptions.PolarsError as error:
            # Errors of Polars' Parquet writer; `replacing` reports those of the disk.
            raise WriteampError(
                f"cannot write trace {os.fspath(path)!r}: {one_line(error)}"
            ) from None


def _lost_origins(trace: Trace, entry: Format) -> list[str]:
    """Return a note on the columns that only Parquet holds."""
    if not trace.origins or entry.name == "parquet":
        return []
    return [f"{', '.join(trace.origins)} of the requests are not written; only parquet holds them"]


def check_target(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    source: str | os.PathLike[str],
    replace: bool = True,
) -> None:
    """Check before a trace is read that `write` can write the file after it.

    Args:
        path: as in `write`.
        format: as in `write`.
        source: the file that the trace will be read from.
        replace: as in `write`.

    Raises:
        WriteampError: as `write` raises, except for errors that depend on the requests.
    """
    _format_of(path, format)
    output.check_target(path, "trace", inputs=[source], may_replace=replace)


def _format_of(path: str | os.PathLike[str], name: str | None) -> Format:
    target = file_path(path)
    if target.suffix in SUFFIXES:
        raise WriteampError(f"{target}: traces are written uncompressed; leave out {target.suffix}")
    return find_format(name) if name else _format_of_suffix(target)


def _format_of_suffix(path: Path) -> Format:
    name = path.suffix.removeprefix(".").lower()
    if name not in FORMATS:
        suffixes = ", ".join(f".{name}" for name in FORMATS)
        raise WriteampError(
            f"{path}: the format does not follow from the name; end it in one of {suffixes} or "
            "give the format (--to)"
        )
    return FORMATS[name]
