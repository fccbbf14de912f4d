"""Check of fio's zipf and pareto on spans where they do not reach all blocks."""

from __future__ import annotations

from dataclasses import replace

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.job_loads import Request, changed
from writeamp.drives.doctor.unknowns import unknown_size
from writeamp.fio.job import FioJob
from writeamp.fio.job_file import FioJobs, counted, fills
from writeamp.fio.values import is_set, meant_size_of
from writeamp.fio.zipf import FioSkew, is_skewed

# Smallest share of the blocks that must be reached for a span to count as covered.
_COVERED = 0.95
_PAGE_BYTES = 4096
# Options of one run without end.
_ENDLESS = {"time_based": "1", "runtime": "1"}
# Bits of the smallest number of blocks that represents a pareto.
_FEWEST_BITS = 16


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        distribution = job.options.get("random_distribution", "")
        if not job.is_random or not is_skewed(distribution):
            continue
        # fio does not read 1.8T as intended, so the intended size is examined.
        span = job.whole_span_bytes or meant_size_of(job.options.get("size", ""), job.kb_base)
        if span is None or "bs" in job.unknown:
            yield unknown_size(job)
            continue
        # A size is divided among the files; devices without a size are used in full.
        files = max(1, len(job.files)) if "size" in job.options and not job.span_share else 1
        skew = FioSkew.of(distribution, -(-span // files // job.write_blocks[0]))
        if skew is not None and skew.touched_share() < _COVERED:
            filled = True in [fills(other, job) for other in fio.writers_before(job)]
            state = "full" if filled else "none"
            yield Mistake(
                f"{_evidence(job, skew)}; {'after a fill' if filled else 'on an empty drive'}",
                (job.name,),
                now=changed(fio, job, (), _one_run(job), is_alone=True, precondition=state),
                fixed=_right(fio, job, skew, state),
            )


def _one_run(job: FioJob) -> dict[str, str]:
    """Return the options for one run if further runs would reach other blocks, by other seeds."""
    is_other = not is_set(job.options.get("randrepeat", "1")) and "randseed" not in job.options
    return _ENDLESS if is_other else {}


def _right(fio: FioJobs, job: FioJob, skew: FioSkew, state: str) -> Request | None:
    """Return the request for a distribution with a block for each rank; None if there is none."""
    block, is_partly_random = job.write_blocks[0], "percentage_random" in job.options
    if is_partly_random or block % _PAGE_BYTES:
        return None
    if skew.kind == "zipf":
        page_bytes = None if block == _PAGE_BYTES else block
        return ("of_load", f"zipf:s={skew.parameter}", skew.blocks * block, page_bytes, state)
    # Shares of the writes by shares of the blocks do not depend on the number of blocks.
    for power in range(skew.blocks.bit_length() - 1, _FEWEST_BITS, -1):
        if FioSkew(skew.kind, skew.parameter, 2**power).touched_share() > _COVERED:
            size = 2**power * block
            changes = {"size": str(size), **_ENDLESS}
            of_size = replace(fio, capacity_bytes=size)
            return changed(of_size, job, ("offset",), changes, is_alone=True, precondition=state)
    return None


def _evidence(job: FioJob, skew: FioSkew) -> str:
    reached = (
        f"random_distribution={job.options['random_distribution']}: of {skew.blocks:,} blocks, fio "
        f"reaches {skew.touched_share():.1%}"
    )
    moved = job.spans_moved
    if moved.low < moved.high or not moved.high:
        return reached
    draws = moved.high * job.write_share * skew.blocks * job.copies
    return (
        f"{reached}, and {skew.touched_share(draws):.1%} in {counted(moved.high)}, where a true "
        f"{skew.kind} touches {skew.true_touched_share(draws):.1%}"
    )


CHECK = DoctorCheck(
    "unreached-blocks",
    "warning",
    "fio's zipf and pareto leave some blocks unwritten: several ranks map to one block unless the "
    "number of blocks is a power of two, and 32-bit random numbers miss most of a long tail",
    "use a size with a power of two of blocks (such as size=1T) and a zipf below 1; "
    "or set the shares with random_distribution=zoned, which reaches all blocks",
    "fio's lib/zipf.c; fio issue 1991",
    {"fio job": _of_jobs},
)
