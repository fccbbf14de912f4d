"""Check of random writes that write all blocks once before any block again."""

from __future__ import annotations

import numpy as np

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake, Severity
from writeamp.drives.doctor.job_loads import OTHER_ORDER, SAME_ORDER, UNIFORM, corrected, of_job
from writeamp.drives.doctor.traces import TraceFacts
from writeamp.drives.doctor.unknowns import unknown_size, unknown_speed
from writeamp.fio.job import FioJob
from writeamp.fio.job_file import FioJobs

_SAME_ORDER = (
    "Each pass over the span writes the same random addresses in the same order: whole flash "
    "blocks become invalid together, and WA approaches 1"
)
_OTHER_ORDER = (
    "no address is rewritten before all addresses are written once, so WA is lower than with "
    "independent random addresses"
)
# Fewest writes per address, and fewest addresses, for which passes can be detected in a trace.
_FEWEST_PASSES, _FEWEST_ADDRESSES = 1.9, 64
# Concurrent requests overtake each other by less than the first share of a pass. At most the second
# share of the rewrites may deviate by more.
_SLACK, _MOST_OTHERS = 0.02, 0.1


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.jobs:
        if not job.writes or not job.has_map:
            continue
        moved, is_same = job.spans_moved, job.passes == "same order"
        if job.passes == "once":
            if moved.high > 1:
                yield unknown_size(job)
        elif job.has_runtime and job.whole_span_bytes and moved.low <= 1:
            yield unknown_speed(job, job.copies)
        else:
            yield Mistake(
                _evidence(job, moved.low),
                (job.name,),
                message=_message(job, is_same=is_same),
                severity=_severity(job, is_same=is_same),
                now=of_job(fio, job),
                fixed=corrected(fio, job),
            )


def _message(job: FioJob, *, is_same: bool) -> str:
    problem = (
        _SAME_ORDER
        if is_same
        else f"Random writes with fio's map of written blocks: {_OTHER_ORDER}"
    )
    hidden = "Unless the flag norandommap was set, which this output of fio omits: "
    return hidden + problem if job.hides_flags else problem


def _severity(job: FioJob, *, is_same: bool) -> Severity:
    if not job.hides_flags:
        return "error" if is_same else "warning"
    # fio's output omits the flag norandommap unless it has a value, so the flag may be set.
    return "warning" if is_same else "note"


def _evidence(job: FioJob, moved: float) -> str:
    settings = ", ".join(
        f"{name}={job.options[name]}" if job.options[name] else name
        for name in ("rw", "loops", "io_size", "size", "time_based", "runtime", "randrepeat",
                     "random_generator")
        if name in job.options
    )  # fmt: skip
    times = f", {moved:.3g} passes over the span" if moved and not job.has_runtime else ""
    return f"{settings}, no norandommap{times}"


def _of_trace(trace: TraceFacts) -> Judgements:
    counts = trace.writes_of_addresses
    if counts.size < _FEWEST_ADDRESSES or trace.is_sequential:
        return
    passes = trace.offsets.size / counts.size
    if passes < _FEWEST_PASSES:
        return
    gap = float(np.median(trace.gaps))
    others = float(np.mean(np.abs(trace.gaps - gap) > max(_FEWEST_ADDRESSES, _SLACK * gap)))
    if others <= _MOST_OTHERS and gap >= (1 - _SLACK) * counts.size:
        yield Mistake(
            f"{1 - others:.1%} of the rewrites come about {gap:,.0f} writes after the previous "
            f"write of their address, with {counts.size:,} addresses",
            now=SAME_ORDER,
            fixed=UNIFORM,
        )
    elif counts.max() - counts.min() <= 1 and passes > _FEWEST_PASSES:
        yield Mistake(
            f"each of {counts.size:,} addresses is written {counts.min()} or {counts.max()} times",
            message=f"Random writes in passes: {_OTHER_ORDER}",
            severity="warning",
            now=OTHER_ORDER,
            fixed=UNIFORM,
        )


CHECK = DoctorCheck(
    "looped-permutation",
    "error",
    _SAME_ORDER,
    "set norandommap, so that every address is drawn independently",
    "fio's HOWTO (norandommap, randrepeat); docs/steady-state.md",
    {"fio job": _of_jobs, "trace": _of_trace},
)
