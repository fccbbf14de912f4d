"""Check of fio's zipf and pareto on spans where they do not reach all blocks."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.unknowns import unknown_size
from writeamp.fio.job import FioJob
from writeamp.fio.job_file import FioJobs, counted, fills
from writeamp.fio.values import meant_size_of
from writeamp.fio.zipf import FioSkew, is_skewed

# Smallest share of the blocks that must be reached for a span to count as covered.
_COVERED = 0.95


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
            drawn = (skew.kind, skew.parameter, skew.blocks)
            filled = True in [fills(other, job) for other in fio.writers_before(job)]
            state = "full" if filled else "none"
            yield Mistake(
                f"{_evidence(job, skew)}; {'after a fill' if filled else 'on an empty drive'}",
                (job.name,),
                now=("skewed", *drawn, True, state),
                fixed=("skewed", *drawn, False, state),
            )


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
