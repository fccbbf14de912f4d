"""fio's sprandom: its options as parameters of a stream, and jobs that fio rejects with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from writeamp.fio.job import SPR_OP, FioJob
from writeamp.fio.values import is_set


def parameters(job: FioJob) -> dict[str, object]:
    """Return the parameters of sprandom in a stream; empty if the job is not sprandom."""
    if not job.is_sprandom:
        return {}
    return {
        "spr_op": job.spr_op if "spr_op" in job.options else SPR_OP,
        "spr_regions": job.options.get("spr_num_regions") and job.count("spr_num_regions", 0),
        "spr_cache": job.size("spr_cs") or None,
    }


def faults(job: FioJob, sizes: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Yield the reasons why fio rejects a job with sprandom, or why it is not modelled.

    Args:
        job: any job.
        sizes: smallest and largest request of each direction, in bytes.
    """
    if not job.has("sprandom"):
        return
    options = job.options
    if job.rw != "randwrite":
        yield f"rw={options.get('rw', 'read')}; it must be randwrite"
    if not is_set(options.get("norandommap", "1")):
        yield f"norandommap={options['norandommap']}; it must be 1"
    if options.get("random_generator", "lfsr").strip() != "lfsr":
        yield f"random_generator={options['random_generator']}; it must be lfsr"
    if not job.draws_evenly:
        yield f"random_distribution={options['random_distribution']}; it must be random"
    if job.count("loops", 1) > 1 or options.get("zonemode", "none").strip() != "none":
        yield "loops or zonemode; it makes one pass over the whole size"
    block = sizes[1][0]
    is_one_size = all(size == block for pair in sizes for size in pair)
    is_aligned = not job.size("blockalign") or job.size("blockalign") == block
    if not (is_one_size and is_aligned and block.bit_count() == 1):
        yield "its block sizes; bs and blockalign must be one power of two"
    if "spr_op" in options and not (job.spr_op is not None and 0 < job.spr_op < 1):
        yield f"spr_op={options['spr_op']}; it must be a ratio above 0 and below 1"
    if options.get("spr_num_regions") is not None and job.count("spr_num_regions", 0) < 1:
        yield f"spr_num_regions={options['spr_num_regions']}; it must be at least 1"
    if options.get("spr_cs") is not None and job.size("spr_cs") is None:
        yield f"spr_cs={options['spr_cs']}; it must be a number of bytes"
