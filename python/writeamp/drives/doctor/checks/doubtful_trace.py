"""Check of traces that lack requests, or hold them twice."""

from __future__ import annotations

import numpy as np

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.traces import TraceFacts

_NS_PER_S = 1e9
_FEWEST = 1000
# Most requests that say the same as the one before, of a trace that holds each once.
_REPEATED = 0.3
# A pause of so great a share of the time, of a trace that goes on all the time otherwise.
_GAP, _BUSY = 0.25, 1e-3
_OF_CLOCKS = ("times jump", "may be no times", "is doubtful")


def _of_trace(trace: TraceFacts) -> Judgements:
    if trace.capacity_bytes is not None and trace.extent_bytes > trace.capacity_bytes:
        yield Mistake(
            f"a request ends at {trace.extent_bytes:,} bytes, and the drive has "
            f"{trace.capacity_bytes:,}",
            message="The trace is of another drive, or of several",
            severity="error",
        )
    if trace.requests >= _FEWEST and trace.repeated > _REPEATED:
        yield Mistake(
            f"{trace.repeated:.0%} of the requests say the same as the one before",
            message="Requests stand twice, as where two events of each were recorded",
            advice="take one event of each request: --action Q, D or C of blkparse",
        )
    yield from _gap(trace)
    words = ("lost", "dropped", "missing")
    lost = [one for one in trace.notes if any(word in one for word in words)]
    if lost:
        yield Mistake(lost[0])
    clock = [one for one in trace.notes if any(words in one for words in _OF_CLOCKS)]
    if clock:
        yield Mistake(
            clock[0],
            message="The times of the trace are wrong, which matters where time counts",
            advice="state the columns and their units, or trace on one clock",
            severity="note",
        )


def _gap(trace: TraceFacts) -> Judgements:
    times = trace.times_ns
    span = int(times[-1] - times[0]) if times.size >= _FEWEST else 0
    if not span:
        return
    steps = np.diff(times)
    longest = int(steps.max())
    if longest > _GAP * span and float(np.percentile(steps, 99)) < _BUSY * span:
        yield Mistake(
            f"no request for {longest / _NS_PER_S:,.4g} s of {span / _NS_PER_S:,.4g} s",
            severity="note",
        )


CHECK = DoctorCheck(
    "doubtful-trace",
    "warning",
    "The trace may lack requests: WA of what is left is another",
    "record it again with larger buffers (blktrace -b, -n), on one device, below all caches",
    "docs/traces.md",
    {"trace": _of_trace},
)
