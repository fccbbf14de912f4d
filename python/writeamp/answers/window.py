"""Window: the part of a load that slow simulators replay, on a drive aged by the same load.

The untimed simulation runs until the interval of WA is narrow. Timed runs and runs through NBD are
about 100 times slower, so they replay a part of the load, the window.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from writeamp._engine import UNTAGGED
from writeamp._engine import Load as EngineLoad
from writeamp.devices.device import Device
from writeamp.registry.specs import Spec
from writeamp.runs.loads import engine_load
from writeamp.runs.plan import Plan
from writeamp.settings.precondition import Precondition
from writeamp.settings.settings import LoadSettings
from writeamp.traces.pages import PageTrace
from writeamp.traces.touching import OPS

# Synthetic loads: drive writes in the window and in the ageing before it, and limits of both in
# pages.
_DRIVE_WRITES = 2
_AGEING_DRIVE_WRITES = 16
_MOST_PAGES = 1 << 22
_MOST_AGEING_PAGES = 1 << 22
# If the user gives a number of writes, the ageing has at most so many times this number.
_AGEING = 8
# Traces: number of passes that age the drive, and the limit of requests in all passes.
AGEING_PASSES = 4
_MOST_REQUESTS = 1 << 23


@dataclass(frozen=True, eq=False)
class LoadWindow:
    """Requests of the window, and the plan of a run with ageing before them.

    `is_whole` is True if the window has all requests of the simulation. `words` describe the
    length of the window.
    """

    plan: Plan
    requests: PageTrace
    is_whole: bool
    words: str


def window_of(plan: Plan, drive: Device, passes: int) -> LoadWindow:
    """Return the window of a load.

    Args:
        plan: plan of the simulation.
        drive: drive of the simulation.
        passes: number of passes of the simulation over the trace; 0 for a synthetic load.
    """
    if isinstance(plan.load, Spec):
        return _of_spec(plan, plan.load, drive)
    return _of_trace(plan, plan.load, passes)


def _of_spec(plan: Plan, spec: Spec, drive: Device) -> LoadWindow:
    used = plan.used_pages(drive)
    # If the user gave a number of writes, the window has at most so many page writes.
    most = plan.run.writes or _MOST_PAGES
    pages = min(_DRIVE_WRITES * drive.logical_pages, _MOST_PAGES, most)
    ageing = min(_AGEING_DRIVE_WRITES * drive.logical_pages, _MOST_AGEING_PAGES, _AGEING * most)
    load = engine_load(spec.text, used, drive)
    earlier = drawn(load, seed=plan.seed + 1, pages=ageing, used=used, page_bytes=drive.page_bytes)
    requests = drawn(load, seed=plan.seed, pages=pages, used=used, page_bytes=drive.page_bytes)
    run = replace(plan.run, writes=requests.host_pages, warmup=0, replicas=1)
    drive_writes = requests.host_pages / drive.logical_pages
    return LoadWindow(
        plan=replace(plan, run=run, earlier=joined(plan.earlier, earlier)),
        requests=requests,
        is_whole=False,
        words=f"{drive_writes:.3g} drive writes, after {ageing / drive.logical_pages:.3g} that age "
        "the drive",
    )


def _of_trace(plan: Plan, trace: PageTrace, passes: int) -> LoadWindow:
    ageing = min(passes - 1, AGEING_PASSES, max(1, _MOST_REQUESTS // max(1, trace.op.size)))
    earlier = repeated(trace, ageing) if ageing > 0 else None
    run = replace(plan.run, writes=None, warmup=0, replicas=1)
    words = "one pass over the trace"
    if earlier is not None:
        words += f", after {ageing} that age the drive"
    return LoadWindow(
        plan=replace(
            plan,
            run=run,
            host=replace(plan.host, repeat=1),
            earlier=joined(plan.earlier, earlier),
        ),
        requests=trace,
        is_whole=passes <= 1,
        words=words,
    )


def as_trace(plan: Plan, load: PageTrace, earlier: PageTrace | None) -> Plan:
    """Return the plan that replays a trace once, on a drive aged by another trace."""
    host = LoadSettings(precondition=Precondition.of(plan.host.precondition).fill)
    run = replace(plan.run, writes=None, warmup=0, replicas=1)
    return replace(plan, load=load, earlier=earlier, host=host, run=run, uncounted=None)


def drawn(load: EngineLoad, *, seed: int, pages: int, used: int, page_bytes: int) -> PageTrace:
    """Return the first requests of a synthetic load that write `pages` pages."""
    op, start, count, head, tail = load.requests(seed=seed, pages=pages)
    is_partial = head.any() or tail.any()
    return page_trace(
        op, start, count, used, page_bytes, head=head if is_partial else None, tail=tail
    )


def page_trace(
    op: npt.NDArray[np.uint8],
    start: npt.NDArray[np.uint32],
    count: npt.NDArray[np.uint32],
    logical_pages: int,
    page_bytes: int,
    *,
    head: npt.NDArray[np.uint32] | None = None,
    tail: npt.NDArray[np.uint32] | None = None,
) -> PageTrace:
    """Return requests as a trace of pages, with a footprint of `logical_pages` pages."""
    return PageTrace(
        op=op,
        start=start,
        count=count,
        logical_pages=logical_pages,
        footprint_pages=logical_pages,
        host_pages=int(count[op == OPS["write"]].sum(dtype=np.int64)),
        partial_pages=0,
        page_bytes=page_bytes,
        mapping="as-is",
        head_bytes=head,
        tail_bytes=None if head is None else tail,
    )


def page_writes(pages: npt.NDArray[np.uint32], logical_pages: int, page_bytes: int) -> PageTrace:
    """Return a trace that writes single pages in the given order."""
    op = np.broadcast_to(np.uint8(OPS["write"]), pages.shape)
    count = np.broadcast_to(np.uint32(1), pages.shape)
    return page_trace(op, pages, count, logical_pages, page_bytes)


def repeated(trace: PageTrace, times: int) -> PageTrace:
    """Return a trace repeated several times, without timestamps."""

    def tiled(column: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
        return None if column is None else np.tile(column, times)

    return replace(
        trace,
        op=np.tile(trace.op, times),
        start=np.tile(trace.start, times),
        count=np.tile(trace.count.astype(np.uint32), times),
        host_pages=trace.host_pages * times,
        partial_pages=trace.partial_pages * times,
        at_ns=None,
        head_bytes=tiled(trace.head_bytes),
        tail_bytes=tiled(trace.tail_bytes),
        fua=tiled(trace.fua),
        tags=tiled(trace.tags),
    )


def joined(first: PageTrace | None, second: PageTrace | None) -> PageTrace | None:
    """Return two traces one after the other, without timestamps; either may be None."""
    if first is None or second is None:
        return second if first is None else first

    def column(name: str, missing: int = 0) -> npt.NDArray[Any] | None:
        columns = [getattr(trace, name) for trace in (first, second)]
        types = [values.dtype for values in columns if values is not None]
        if not types:
            return None
        return np.concatenate(
            [
                np.full(trace.op.size, missing, types[0]) if values is None else values
                for values, trace in zip(columns, (first, second), strict=True)
            ]
        )

    return replace(
        first,
        op=np.concatenate([first.op, second.op]),
        start=np.concatenate([first.start, second.start]),
        count=np.concatenate([first.count.astype(np.uint32), second.count.astype(np.uint32)]),
        logical_pages=max(first.logical_pages, second.logical_pages),
        host_pages=first.host_pages + second.host_pages,
        partial_pages=first.partial_pages + second.partial_pages,
        at_ns=None,
        head_bytes=column("head_bytes"),
        tail_bytes=column("tail_bytes"),
        fua=column("fua"),
        tags=column("tags", UNTAGGED),
    )
