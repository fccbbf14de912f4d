"""Write a trace to a file: whole or not at all."""

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
    """Write a trace; the file appears whole, or stays as it was.

    Args:
        trace: the trace.
        path: the file to make or replace; never the one that the trace was read from.
        format: name of a format in ``FORMATS``; None to take the suffix for it.
        replace: replace a file that exists, rather than raise.

    Returns:
        Notes on what the format made us round, rename or reorder.

    Raises:
        WriteampError: the format cannot carry a request, or the file cannot be written.

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
            return entry.write(trace, file)
        except pl.exceptions.PolarsError as error:
            # Errors of its Parquet writer: `replacing` has the reason of those of the disk.
            raise WriteampError(
                f"cannot write trace {os.fspath(path)!r}: {one_line(error)}"
            ) from None


def check_target(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    source: str | os.PathLike[str],
    replace: bool = True,
) -> None:
    """Refuse early, before a trace is read, a file that `write` could not write after it.

    Args:
        path: as `write` takes it, like format and replace.
        format: see `path`.
        source: the file that the trace will be read from.
        replace: see `path`.

    Raises:
        WriteampError: as `write` raises, but for what only the requests show.
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
            f"{path}: the name does not tell the format to write, end it in one of {suffixes} or "
            "name the format (--to)"
        )
    return FORMATS[name]
