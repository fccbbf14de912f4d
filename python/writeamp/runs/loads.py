"""Loads of the host, converted to the form of the engine."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from writeamp import traces
from writeamp._engine import UNTAGGED
from writeamp._engine import Load as EngineLoad
from writeamp.devices.device import Device
from writeamp.errors import WriteampError
from writeamp.registry.specs import Spec
from writeamp.runs.refusals import refusals

# The engine stores a group's number in one byte, so there are at most this many groups.
MOST_GROUPS = 256


def load_of_trace(trace: traces.PageTrace, *, passes: int) -> EngineLoad:
    """Return a trace in the engine's form, to be replayed `passes` times."""
    return EngineLoad.trace(
        ops=_unless_all(trace.op, 0),
        first_pages=np.ascontiguousarray(trace.start),
        counts=_unless_all(trace.count, 1),
        at_ns=trace.at_ns,
        head_bytes=_unless_all(trace.head_bytes, 0),
        tail_bytes=_unless_all(trace.tail_bytes, 0),
        fua=_unless_all(trace.fua, 0),
        page_bytes=trace.page_bytes,
        passes=passes,
        group_ends=_group_ends(trace),
        tags=_unless_all(trace.tags, UNTAGGED),
    )


def _group_ends(trace: traces.PageTrace) -> list[int] | None:
    """Return the end page of each device, which becomes a group of the engine.

    None for a trace of one device, or of more than 256 devices, which has no groups.
    """
    ends = trace.device_ends
    return None if ends is None or len(ends) > MOST_GROUPS else list(ends)


def _unless_all(column: npt.NDArray[Any] | None, value: int) -> npt.NDArray[Any] | None:
    """Return the column for the engine, or None if it is None or `value` broadcast to all rows."""
    if column is None or (column.strides == (0,) and column.size and column[0] == value):
        return None
    return np.ascontiguousarray(column)


def writes_in_all(load: Spec | traces.PageTrace, pages: int, drive: Device) -> int | None:
    """Return the page writes after which a workload ends; None if it has no end, or for a trace.

    Args:
        load: workload or trace.
        pages: number of logical pages that it uses.
        drive: drive that it writes to.
    """
    return _end_of(load.text, pages, drive) if isinstance(load, Spec) else None


# All requests of fio jobs are drawn to count them, so they are counted once.
@lru_cache(maxsize=64)
def _end_of(text: str, pages: int, drive: Device) -> int | None:
    with refusals():
        return engine_load(text, pages, drive).writes_in_all()


def drive_writes_of_jobs(load: Spec, pages: int, drive: Device) -> float | None:
    """Return the drive writes of one run of fio jobs; None if only time ends them."""
    params = ",".join(f"{name}={value}" for name, value in load.values if name != "runs")
    once = Spec.of("workloads", f"{load.name}:{params},runs=1")
    writes = writes_in_all(once, pages, drive)
    return None if writes is None else writes / drive.logical_pages


def engine_load(text: str, pages: int, drive: Device) -> EngineLoad:
    """Return a workload over a drive's first `pages` pages in the engine's form."""
    return EngineLoad.spec(text, pages, drive.page_bytes, drive.host_page_bytes or None)


def load_of_spec(spec: Spec, pages: int, drive: Device) -> EngineLoad:
    """Return a workload over a drive's first `pages` pages, for a run that counts writes.

    Raises:
        WriteampError: the workload never writes.
    """
    with refusals():
        load = engine_load(spec.text, pages, drive)
    if not load.has_writes():
        raise WriteampError(
            f"workload {spec} only reads, so that its WA is undefined; give it a share of writes "
            "above 0, such as write=0.5"
        )
    return load
