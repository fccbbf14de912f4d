"""A trace to a file: whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import polars as pl

from writeamp.errors import WriteampError
from writeamp.traces.format import Format
from writeamp.traces.quoting import one_line
from writeamp.traces.registry import FORMATS, find_format
from writeamp.traces.source import file_path
from writeamp.traces.trace import Trace

_COMPRESSED = (".gz", ".zst", ".xz", ".bz2")


def write(trace: Trace, path: str | os.PathLike[str], format: str | None = None) -> list[str]:
    """Write a trace; the file appears whole, or stays as it was.

    Args:
        trace: the trace.
        path: the file to make or replace.
        format: name of a format in ``FORMATS``; None to take the suffix for it.

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
    target = file_path(path)
    if target.suffix in _COMPRESSED:
        raise WriteampError(f"{target}: traces are written uncompressed; leave out {target.suffix}")
    entry = find_format(format) if format else _format_of_suffix(target)
    with _replacing(target) as file:
        return entry.write(trace, file)


def _format_of_suffix(path: Path) -> Format:
    name = path.suffix.removeprefix(".").lower()
    if name not in FORMATS:
        suffixes = ", ".join(f".{name}" for name in FORMATS)
        raise WriteampError(
            f"{path}: the name does not tell the format to write, end it in one of {suffixes} or "
            "name the format (--to)"
        )
    return FORMATS[name]


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write in the same directory; it takes the path's place if all goes well."""
    draft: Path | None = None
    try:
        if path.is_dir():
            raise WriteampError(f"{path}: is a directory, a trace is written to a file")
        if path.exists() and not path.is_file():
            raise WriteampError(f"{path}: is not a regular file, and would be replaced by one")
        target = path.resolve()  # a symbolic link stays one
        draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
        with draft.open("xb") as file:
            yield file
        draft.replace(target)
    except OSError as error:
        raise WriteampError(f"{path}: cannot be written ({error.strerror or error})") from None
    except pl.exceptions.PolarsError as error:
        # Its Parquet writer reports a full disk as an error of its own.
        raise WriteampError(f"{path}: cannot be written ({one_line(error)})") from None
    finally:
        if draft:
            with suppress(OSError):  # it was renamed, or never made
                draft.unlink()
