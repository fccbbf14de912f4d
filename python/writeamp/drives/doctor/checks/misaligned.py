"""Check of writes that cover pages partially."""

from __future__ import annotations

from typing import Any

import numpy as np

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.job_loads import Request, corrected, of_job, of_requests
from writeamp.drives.doctor.traces import TraceFacts
from writeamp.fio.job import FioJob
from writeamp.fio.job_file import UNIT_BYTES, FioJobs
from writeamp.units.byte_sizes import shown_bytes

# Shares of the writes that cover pages partially. A trace is reported from the first share on.
# Below the second share, a trace or a job with several block sizes gets a note instead of a
# warning.
_MATERIAL, _MOSTLY = 0.05, 0.5
_SECTOR_BYTES = 512


def _of_jobs(fio: FioJobs) -> Judgements:
    unit = fio.unit_bytes
    for job in fio.writers:
        block, places = job.write_blocks[0], {}
        for name in ("offset", "blockalign", "offset_increment"):
            at = job.size(name)
            if at is not None and at % unit:
                places[name] = at
        if job.has("bs_unaligned") and block != job.write_blocks[1]:
            places["blocks (bs_unaligned) from"] = block
        if block % unit:
            places["block size"] = block
        if unit > UNIT_BYTES and not job.is_random and not block % UNIT_BYTES:
            continue  # the drive's cache merges sequential writes into whole units
        shares = job.write_block_shares
        partly = sum(share for size, share in shares.items() if size % unit)
        if set(places) == {"block size"} and shares and partly < _MOSTLY:
            yield Mistake(
                f"{partly:.0%} of the blocks of bssplit are not a multiple of {unit:,} bytes",
                (job.name,),
                severity="note",
                **_words(unit),
            )
        elif places:
            sizes = ", ".join(f"{name} {at:,}" for name, at in places.items())
            offset = places.get("offset", 0) % unit
            # The drive's cache may merge small sequential writes into whole pages.
            is_known = job.is_random and not job.has("bs_unaligned")
            page_span = _whole(block, offset, unit) if is_known else None
            yield Mistake(
                f"{sizes} bytes: not in multiples of {unit:,}",
                (job.name,),
                now=None if page_span is None else of_job(fio, job, page_bytes=unit),
                fixed=None if page_span is None else _aligned(fio, job, page_span),
                **_words(unit),
            )


def _aligned(fio: FioJobs, job: FioJob, block: int) -> Request:
    """Return the request for the job with another block size, and offsets at page borders."""
    offsets = {
        name: str((job.size(name) or 0) // fio.unit_bytes * fio.unit_bytes)
        for name in ("offset", "offset_increment")
        if job.size(name) is not None
    }
    sizes = ("bssplit", "bsrange", "blockalign")
    changes = {"bs": str(block), **offsets}
    return corrected(fio, job, page_bytes=fio.unit_bytes, without=sizes, changes=changes)


def _words(unit: int) -> dict[str, Any]:
    """Return the texts of the finding for mapping units that are larger than usual pages."""
    if unit <= UNIT_BYTES:
        return {}
    shown = shown_bytes(unit)
    return {
        "message": f"Writes cover mapping units of {shown} partially: the drive reads and programs "
        "the whole unit, so its counters show more flash bytes per host byte",
        "advice": f"use block sizes and offsets that are multiples of {shown}",
    }


def _of_trace(trace: TraceFacts) -> Judgements:
    if trace.partly < _MATERIAL:
        return
    unit = trace.unit_bytes
    lengths, offsets = np.unique(trace.lengths, return_counts=True), trace.offsets % unit
    usual = int(lengths[0][np.argmax(lengths[1])])
    offset = int(np.bincount(offsets[trace.lengths == usual]).argmax())
    page_span = _whole(usual, offset, unit)
    yield Mistake(
        f"{trace.partly:.1%} of the writes cover a page of {unit:,} bytes partially, most "
        f"of them {usual:,} bytes at {offset:,} bytes into a page",
        severity="warning" if trace.partly >= _MOSTLY else "note",
        now=None if page_span is None else of_requests(usual, offset, unit),
        fixed=None if page_span is None else of_requests(page_span, 0, unit),
        **_words(unit),
    )


def _whole(block: int, offset: int, unit: int) -> int | None:
    """Return the bytes of the pages that a block touches; None if it cannot be simulated."""
    is_known = 0 < block <= 64 * unit and not (block | offset) % _SECTOR_BYTES
    return -(-block // unit) * unit if is_known else None


CHECK = DoctorCheck(
    "misaligned",
    "warning",
    "Writes cover pages of 4 KiB partially: the drive reads and programs the whole page, so its "
    "counters show more flash bytes per host byte",
    "use block sizes and offsets that are multiples of 4 KiB, and align partitions to 1 MiB",
    "OCP's counter of unaligned I/O; docs/traces.md",
    {"fio job": _of_jobs, "trace": _of_trace},
)
