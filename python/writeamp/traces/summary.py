"""What a trace holds, in numbers."""

from __future__ import annotations

from typing import Any

import polars as pl

from writeamp.traces.intervals import end_to_end, union
from writeamp.traces.trace import OPERATIONS, Trace

_NS_PER_S = 1e9


def info(trace: Trace) -> dict[str, Any]:
    """Return the trace's figures, ready for JSON.

    Counts are of requests; ``write_fraction`` is writes ÷ (reads + writes).
    ``unique_bytes_written`` and ``footprint_bytes`` are exact unions of the byte ranges that are
    written, and that are read or written; each device is an address space of its own.
    ``extent_bytes`` is the highest end offset, summed over the devices. ``duration_s`` is latest
    minus earliest time. A ratio over no request is None.

    >>> import writeamp as wa
    >>> wa.traces.info(wa.traces.read("examples/postgres-tpcb.parquet"))["requests"]
    604279
    """
    requests = trace.requests
    counts = dict.fromkeys(OPERATIONS, 0) | dict(requests["op"].value_counts().rows())
    moved_bytes = {name: _sum_of_lengths(requests, name) for name in ("read", "write")}
    ends = requests.select("device", end=pl.col("offset") + pl.col("length"))
    extents = end_to_end(ends.with_columns(start=requests["offset"]), trace.path)
    extents = extents.with_columns(requests["op"])
    written = extents.filter(pl.col("op") == "write")
    accessed = extents.filter(pl.col("op").is_in(["read", "write"]))
    times = requests["timestamp_ns"]
    return {
        "format": trace.format,
        "requests": requests.height,
        "writes": counts["write"],
        "reads": counts["read"],
        "trims": counts["trim"],
        "flushes": counts["flush"],
        "write_fraction": _ratio(counts["write"], counts["read"] + counts["write"]),
        "bytes_written": moved_bytes["write"],
        "bytes_read": moved_bytes["read"],
        "unique_bytes_written": union(written).total,
        "footprint_bytes": union(accessed).total,
        "extent_bytes": sum(ends.group_by("device").max()["end"].to_list()),
        "duration_s": (int(times.max()) - int(times.min())) / _NS_PER_S,  # type: ignore[arg-type]
        "mean_write_bytes": _ratio(moved_bytes["write"], counts["write"]),
        "mean_read_bytes": _ratio(moved_bytes["read"], counts["read"]),
        "devices": list(trace.devices),
        "notes": list(trace.notes),
    }


def _sum_of_lengths(requests: pl.DataFrame, op: str) -> int:
    lengths = requests.filter(pl.col("op") == op)["length"]
    return int(lengths.cast(pl.UInt64).sum())


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
