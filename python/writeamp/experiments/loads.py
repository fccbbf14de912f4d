"""A trace as the engine takes it."""

from __future__ import annotations

from writeamp import traces
from writeamp._engine import Load as EngineLoad


def load_of_trace(trace: traces.PageTrace, *, passes: int) -> EngineLoad:
    """Return a trace for the engine to replay."""
    return EngineLoad.trace(
        ops=trace.op,
        first_pages=trace.start,
        counts=trace.count,
        at_ns=trace.at_ns,
        head_bytes=trace.head_bytes,
        tail_bytes=trace.tail_bytes,
        page_bytes=trace.page_bytes,
        passes=passes,
    )
