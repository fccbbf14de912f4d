"""Check of traces with missing or duplicate requests."""

from __future__ import annotations

import numpy as np

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.traces import TraceFacts

_NS_PER_S = 1e9
_FEWEST = 1000
# Largest share of requests that equal the previous one, in a trace without duplicates.
_REPEATED = 0.3
# A pause above the first share of the trace's duration is suspicious, if 99% of all pauses are
# below the second share.
_GAP, _BUSY = 0.25, 1e-3
_OF_CLOCKS = ("times jump", "may be no times", "is doubtful")


def _of_trace(trace: TraceFacts) -> Judgements:
    if trace.capacity_bytes is not None and trace.extent_bytes > trace.capacity_bytes:
        yield Mistake(
            f"a request ends at {trace.extent_bytes:,} bytes, but the drive has "
            f"{trace.capacity_bytes:,}",
            message="The trace is of another drive, or of several",
            severity="error",
        )
    if trace.requests >= _FEWEST and trace.repeated > _REPEATED:
        yield Mistake(
            f"{trace.repeated:.0%} of the requests equal the previous request",
            message="Requests are duplicated: two events of each may have been recorded",
            advice="select one event per request: --action Q, D or C of blkparse",
        )
    yield from _gap(trace)
    words = ("lost", "dropped", "missing")
    lost = [note for note in trace.notes if any(word in note for word in words)]
    if lost:
        yield Mistake(lost[0])
    clock = [note for note in trace.notes if any(words in note for words in _OF_CLOCKS)]
    if clock:
        yield Mistake(
            clock[0],
            message="The times of the trace are wrong, which affects time-dependent results",
            advice="state the columns and their units, or record with one clock",
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
            f"no request for {longest / _NS_PER_S:,.4g} s of the trace's {span / _NS_PER_S:,.4g} s",
            severity="note",
        )


CHECK = DoctorCheck(
    "doubtful-trace",
    "warning",
    "The trace may lack requests, so WA computed from it may be wrong",
    "record again with larger buffers (blktrace -b, -n), on one device, below all caches",
    "docs/traces.md",
    {"trace": _of_trace},
)
