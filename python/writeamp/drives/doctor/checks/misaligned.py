"""Check of writes that cover pages partially."""

from __future__ import annotations

import numpy as np

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.job_loads import Request, corrected, of_job, of_requests
from writeamp.drives.doctor.traces import TraceFacts
from writeamp.fio.job import FioJob
from writeamp.fio.job_file import FioJobs

_PAGE_BYTES = 4096
# Shares of the writes that cover pages partially. A trace is reported from the first share on.
# Below the second share, a trace or a job with several block sizes gets a note instead of a
# warning.
_MATERIAL, _MOSTLY = 0.05, 0.5
_SECTOR_BYTES = 512


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        block, places = job.write_blocks[0], {}
        for name in ("offset", "blockalign", "offset_increment"):
            at = job.size(name)
            if at is not None and at % _PAGE_BYTES:
                places[name] = at
        if job.has("bs_unaligned") and block != job.write_blocks[1]:
            places["blocks (bs_unaligned) from"] = block
        if block % _PAGE_BYTES:
            places["block size"] = block
        shares = job.write_block_shares
        partly = sum(share for size, share in shares.items() if size % _PAGE_BYTES)
        if set(places) == {"block size"} and shares and partly < _MOSTLY:
            yield Mistake(
                f"{partly:.0%} of the blocks of bssplit are not a multiple of {_PAGE_BYTES:,} "
                "bytes",
                (job.name,),
                severity="note",
            )
        elif places:
            sizes = ", ".join(f"{name} {at:,}" for name, at in places.items())
            offset = places.get("offset", 0) % _PAGE_BYTES
            # The drive's cache may merge small sequential writes into whole pages.
            is_known = job.is_random and not job.has("bs_unaligned")
            page_span = _whole(block, offset) if is_known else None
            yield Mistake(
                f"{sizes} bytes: not in multiples of {_PAGE_BYTES:,}",
                (job.name,),
                now=None if page_span is None else of_job(fio, job, page_bytes=_PAGE_BYTES),
                fixed=None if page_span is None else _aligned(fio, job, page_span),
            )


def _aligned(fio: FioJobs, job: FioJob, block: int) -> Request:
    """Return the request for the job with another block size, and offsets at page borders."""
    offsets = {
        name: str((job.size(name) or 0) // _PAGE_BYTES * _PAGE_BYTES)
        for name in ("offset", "offset_increment")
        if job.size(name) is not None
    }
    sizes = ("bssplit", "bsrange", "blockalign")
    changes = {"bs": str(block), **offsets}
    return corrected(fio, job, page_bytes=_PAGE_BYTES, without=sizes, changes=changes)


def _of_trace(trace: TraceFacts) -> Judgements:
    if trace.partly < _MATERIAL:
        return
    lengths, offsets = np.unique(trace.lengths, return_counts=True), trace.offsets % _PAGE_BYTES
    usual = int(lengths[0][np.argmax(lengths[1])])
    offset = int(np.bincount(offsets[trace.lengths == usual]).argmax())
    page_span = _whole(usual, offset)
    yield Mistake(
        f"{trace.partly:.1%} of the writes cover a page of {_PAGE_BYTES:,} bytes partially, most "
        f"of them {usual:,} bytes at {offset:,} bytes into a page",
        severity="warning" if trace.partly >= _MOSTLY else "note",
        now=None if page_span is None else of_requests(usual, offset),
        fixed=None if page_span is None else of_requests(page_span, 0),
    )


def _whole(block: int, offset: int) -> int | None:
    """Return the bytes of the pages that a block touches; None if it cannot be simulated."""
    is_known = 0 < block <= 64 * _PAGE_BYTES and not (block | offset) % _SECTOR_BYTES
    return -(-block // _PAGE_BYTES) * _PAGE_BYTES if is_known else None


CHECK = DoctorCheck(
    "misaligned",
    "warning",
    "Writes cover pages of 4 KiB partially: the drive reads and programs the whole page, so its "
    "counters show more flash bytes per host byte",
    "use block sizes and offsets that are multiples of 4 KiB, and align partitions to 1 MiB",
    "OCP's counter of unaligned I/O; docs/traces.md",
    {"fio job": _of_jobs, "trace": _of_trace},
)
