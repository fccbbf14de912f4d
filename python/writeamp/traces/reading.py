"""Read a trace file, whose format is named by the caller or certain from the content."""

from __future__ import annotations

import os
import shlex

import numpy as np

from writeamp.errors import WriteampError, unknown
from writeamp.traces.format import ReadOptions
from writeamp.traces.header_lines import spec_of
from writeamp.traces.quoting import quoted
from writeamp.traces.registry import FORMATS, find_format
from writeamp.traces.source import Head, file_path, read_head
from writeamp.traces.trace import Trace
from writeamp.traces.words import EXAMPLE


def read(
    path: str | os.PathLike[str], format: str | None = None, *, action: str | None = None
) -> Trace:
    """Read a trace file.

    Args:
        path: the file, or "-" for standard input; text may be compressed (gzip, zstd, xz, bzip2).
        format: name of a format in ``FORMATS``, or what the columns of a text mean, such as
            "columns:time=1:ms,offset=3:bytes,length=4:bytes,op=5:0=read/1=write"
            (docs/traces.md); None to detect it.
        action: for blkparse and blktrace, the action that counts: Q (default), D or C;
            for ftrace also I, and by default the first of C, D, Q and I that the file has.

    Raises:
        WriteampError: the file cannot be read, its format is not certain, or a row is not valid.

    >>> import writeamp as wa
    >>> trace = wa.traces.read("examples/postgres-tpcb.parquet")
    >>> trace.format, trace.requests.columns
    ('parquet', ['timestamp_ns', 'device', 'op', 'offset', 'length'])
    """
    file = file_path(path)
    entry = find_format(format) if format else FORMATS[detect(file)]
    if action is not None:
        if not entry.actions:
            takers = ", ".join(name for name, other in FORMATS.items() if other.actions)
            raise WriteampError(
                f"action {quoted(action)} does not apply to format {entry.name}, only to {takers}"
            )
        if action not in entry.actions:
            raise unknown("action", action, entry.actions)
    return entry.read(file, ReadOptions(action=action))


def detect(path: str | os.PathLike[str]) -> str:
    """Return the name of the file's format.

    Raises:
        WriteampError: no format or more than one fits; names the candidates and what sets them
            apart.

    >>> import writeamp as wa
    >>> wa.traces.detect("examples/postgres-tpcb.parquet")
    'parquet'
    """
    head = read_head(file_path(path))
    candidates = [entry for entry in FORMATS.values() if entry.matches(head)]
    if len(candidates) == 1 and candidates[0].certain:
        return candidates[0].name
    if candidates:
        choices = "; ".join(f"{entry.name} ({entry.units})" for entry in candidates)
        raise WriteampError(
            f"{path}: the rows alone do not tell the format, name it with --format "
            f"(--from in convert): {choices}"
        )
    _refuse_without_operations(path, head)
    suggested = spec_of(head)
    if suggested is not None:
        raise WriteampError(
            f"{path}: its first line names columns of no known format; if the units and the words "
            f"of the operations are right, this reads it: --format {shlex.quote(suggested)}"
        )
    # The content of a file that is perhaps none for others to see is not shown.
    why = "its first line is no row of a known format" if head.lines else "it has only blank lines"
    raise WriteampError(
        f"{path}: {why}; name the format with "
        f"--format (--from in convert) from {', '.join(FORMATS)}, or state its columns: {EXAMPLE}"
    )


# A record of libCacheSim's oracleGeneral: time in s, object, size, next access (-1 or 2^63 - 1 of
# none), little-endian.
_ORACLE_GENERAL = np.dtype([("time", "<u4"), ("id", "<u8"), ("size", "<u4"), ("next", "<i8")])
_LOOKED_AT = 64
_NO_NEXT = (-1, 2**63 - 1)


def _refuse_without_operations(path: str | os.PathLike[str], head: Head) -> None:
    """Refuse oracleGeneral, whose records do not say what is written."""
    count = min(_LOOKED_AT, len(head.start) // _ORACLE_GENERAL.itemsize)
    records = np.frombuffer(head.start, _ORACLE_GENERAL, count)
    looks_so = (
        count >= 2
        and b"\0" in head.start
        and bool((np.diff(records["time"].astype(np.int64)) >= 0).all())
        and bool((records["size"] > 0).all())
        and bool((np.isin(records["next"], _NO_NEXT) | (records["next"] > np.arange(count))).all())
        and bool((records["next"] < 2**48).all() | np.isin(records["next"], _NO_NEXT).any())
    )
    if looks_so or ".oraclegeneral" in os.fspath(path).lower():
        raise WriteampError(
            f"{path}: is libCacheSim's oracleGeneral, whose records say neither read nor write, so "
            "that what is written cannot be told; give the trace that it was made from (its VSCSI "
            "file or CSV)"
        )
