"""Summary of a trace in numbers."""

from __future__ import annotations

from typing import Any

from writeamp.traces.from_memory import of
from writeamp.traces.request_facts import facts_of
from writeamp.traces.trace import Trace


def info(trace: Trace | Any) -> dict[str, Any]:
    """Return the figures of a trace, or of data that `traces.of` takes for one, ready for JSON.

    Counts are of requests; ``write_fraction`` is writes ÷ (reads + writes).
    ``unique_bytes_written`` and ``footprint_bytes`` are exact unions of the byte ranges that are
    written, and that are read or written; each device is an address space of its own.
    ``extent_bytes`` is the highest end offset, summed over the devices. ``duration_s`` is latest
    minus earliest time, None if ``warnings`` doubt that. ``drive_writes`` is ``bytes_written`` over
    ``unique_bytes_written``, the space that is written at all, which ``drive_writes_of`` names.
    ``page_writes`` go to ``pages_written`` pages of ``page_bytes``, a
    page that is written in part counting as a whole;
    ``hottest_1pct_share`` and ``hottest_10pct_share`` are the shares of them to the most written 1%
    and 10% of these pages (their number rounded up), exact. A ratio over no request is None.

    >>> import writeamp as wa
    >>> wa.traces.info(wa.traces.read("examples/postgres-tpcb.parquet"))["requests"]
    604279
    """
    trace = of(trace)
    return {
        "format": trace.format,
        **facts_of(trace.requests, trace.path),
        "devices": list(trace.devices),
        "warnings": trace.warnings,
        "notes": list(trace.notes),
    }
