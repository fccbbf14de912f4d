"""Recordings of the virtual drive that no drive had to serve."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import writeamp as wa
from writeamp.traces import recording

PAGE = 4096
WRITE, TRIM, READ, FLUSH = range(4)
DRIVE = wa.device("tlc-datacenter", size="32MiB")
POLICY = {"manager": "sepgc", "victims": "d-choices:d=3", "wear_leveling": None, "seed": 7}

Rows = npt.NDArray[np.void]


def checked(rows: Rows) -> Rows:
    """Return rows with their numbers and checksums."""
    rows["sequence"] = np.arange(rows.size)
    for row in rows:
        row["crc32"] = zlib.crc32(row.tobytes()[:28])
    return rows


def requests(count: int = 60_000, seed: int = 1) -> Rows:
    """Return requests of all kinds: many small and unaligned writes, trims, reads, flushes."""
    rng = np.random.default_rng(seed)
    rows = np.zeros(count, recording.ROW)
    op = rng.choice([WRITE, TRIM, READ, FLUSH], count, p=[0.8, 0.05, 0.1, 0.05])
    sectors = DRIVE.capacity_bytes // 512
    length = 512 * np.where(rng.random(count) < 0.3, 1, rng.integers(1, 33, count))
    offset = 512 * rng.integers(0, sectors - 64, count)
    trimmed = op == TRIM
    offset[trimmed] = offset[trimmed] // PAGE * PAGE
    length[trimmed] = PAGE * rng.integers(1, 8, trimmed.sum())
    rows["at_ns"] = np.cumsum(rng.integers(1, 10_000, count))
    rows["op"], rows["offset"], rows["length"] = op, offset, length
    rows["flags"] = (op == WRITE) & (rng.random(count) < 0.1)
    # A recording begins and ends as it likes.
    rows["op"][:3], rows["op"][-3:] = (READ, FLUSH, WRITE), (TRIM, READ, FLUSH)
    rows["offset"][-3:], rows["length"][-3:] = PAGE, PAGE
    return checked(rows)


def metadata(**changes: Any) -> dict[str, str]:
    known = {
        "version": 1,
        "device": DRIVE.to_dict(),
        "policy": POLICY,
        "precondition": "none",
        "count_from_request": 0,
        "timed": False,
    }
    return {"writeamp_recording": json.dumps(known | changes)}


def recorded(folder: Path, rows: Rows, **changes: Any) -> Path:
    """Return the trace of a raw recording."""
    raw, target = folder / "raw", folder / "t.parquet"
    rows.tofile(raw)
    assert recording.write_parquet(raw, target, metadata(**changes)) == rows.size
    return target
