"""Trace files that tests write and read."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from places import ROOT, TINY
from writeamp import traces

# Traces as users have them, of many tools.
CASES = ROOT / "tests" / "data" / "cases" / "traces"
# Actions of records of blktrace: queued, issued and completed writes.
WRITE_Q, WRITE_D, WRITE_C = 2 << 16 | 1, 2 << 16 | 7, 2 << 16 | 8

# tiny.NAME or tiny.NAME.csv: the same three requests in each text format.
TEXT_SAMPLES = {path.name.split(".")[1]: path.name for path in sorted(TINY.glob("tiny.*"))}


def tick_ns(name: str) -> int:
    """Return the nanoseconds of the unit to which a format cuts times."""
    rows = traces.FORMATS[name].rows
    if rows is None or name == "iolog":
        return {"iolog": 1000}.get(name, 1)
    return rows(TINY / TEXT_SAMPLES[name]).tick[0]


def written(folder: Path, content: bytes | str) -> Path:
    """Write `trace.txt` into a folder."""
    path = folder / "trace.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read_as(
    folder: Path, content: bytes | str, format: str | None = None, **how: Any
) -> traces.Trace:
    """Read a file of some content, in a format or in the one that is detected."""
    return traces.read(written(folder, content), format, **how)


def record(
    at_ns: int,
    action: int,
    sector: int = 8,
    length: int = 4096,
    *,
    cpu: int = 0,
    sequence: int = 1,
    order: str = "<",
    data: bytes = b"",
) -> bytes:
    """Return a record of blktrace, of device 8,16."""
    head = (0x65617407, sequence, at_ns, sector, length, action, 9, 8 << 20 | 16, cpu, 0)
    return struct.pack(f"{order}IIQQIIIIIHH", *head, len(data)) + data
