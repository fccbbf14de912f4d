"""Read a trace file, whose format is named by the caller or certain from the content."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from writeamp.errors import WriteampError, unknown
from writeamp.traces.detection import detect
from writeamp.traces.format import Format, ReadOptions
from writeamp.traces.plausibility import absurdities
from writeamp.traces.quoting import quoted
from writeamp.traces.registry import FORMATS, find_format
from writeamp.traces.source import file_path
from writeamp.traces.trace import Trace


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
    entry = format_of(file, format, action)
    trace = entry.read(file, ReadOptions(action=action))
    # Formats without rows begin with a magic or a header, or name the action in each line.
    absurd = absurdities(trace.requests, trace.devices) if entry.rows else []
    if not absurd:
        return trace
    doubt = f"the file may be of another format than {entry.name}: {'; '.join(absurd)}"
    return replace(trace, doubts=[*trace.doubts, doubt])


def format_of(path: Path, format: str | None, action: str | None) -> Format:
    """Return the format that is named, or that a file shows.

    Raises:
        WriteampError: it is unknown or not certain, or has no such action.
    """
    entry = find_format(format) if format else FORMATS[detect(path)]
    if action is None:
        return entry
    if not entry.actions:
        takers = ", ".join(name for name, other in FORMATS.items() if other.actions)
        raise WriteampError(
            f"action {quoted(action)} does not apply to format {entry.name}, only to {takers}"
        )
    if action not in entry.actions:
        raise unknown("action", action, entry.actions)
    return entry
