"""What the host does, as the engine takes it."""

from __future__ import annotations

from writeamp import traces
from writeamp._engine import Load as EngineLoad
from writeamp.devices.device import Device
from writeamp.errors import WriteampError
from writeamp.registry.specs import Spec


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


def load_of_spec(spec: Spec, pages: int, drive: Device) -> EngineLoad:
    """Return a workload over the first `pages` pages of a drive, for a run that counts its writes.

    Raises:
        WriteampError: the workload never writes.
    """
    load = EngineLoad.spec(spec.text, pages, drive.page_bytes)
    if not load.has_writes():
        raise WriteampError(
            f"workload {spec} only reads, so there is no write to count; give it a share of writes "
            "above 0, as in write=0.5"
        )
    return load
