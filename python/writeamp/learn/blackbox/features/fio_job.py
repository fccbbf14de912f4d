"""Characteristics of a fio job: its options as `man fio` (3.33) defines them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import finite, shown
from writeamp.fio.job import SYNCHRONOUS, FioJob, canonical
from writeamp.fio.job_file import read_job_file
from writeamp.fio.values import size_of
from writeamp.learn.blackbox.features.characteristics import Characteristics, DriveUse
from writeamp.learn.blackbox.features.footprints import (
    HOTTEST_SHARE,
    skew_of_zipf,
)

# For each value of `rw`: whether it is random, and its share of writes. The share is None if the
# option `rwmixwrite` sets it.
_PATTERNS: dict[str, tuple[bool, float | None]] = {
    "read": (False, 0.0),
    "write": (False, 1.0),
    "rw": (False, None),
    "readwrite": (False, None),
    "randread": (True, 0.0),
    "randwrite": (True, 1.0),
    "randrw": (True, None),
}
# Options that change sizes or offsets of requests in ways that the characteristics cannot express.
# A job with one of them is rejected.
_NOT_FOLLOWED = ("bssplit", "bsrange", "zonemode", "read_iolog", "rw_sequencer")


def read_fio_jobs(text: str) -> dict[str, dict[str, str]]:
    """Return the options of each job of a fio job file.

    The options of [global] before a job are included.

    Raises:
        WriteampError: the text is not a job file, or has no job.

    >>> read_fio_jobs("[global]\\nbs=8k\\n[job]\\nrw=randread\\n")
    {'job': {'bs': '8k', 'rw': 'randread'}}
    """
    jobs = read_job_file(text, "the fio job file").jobs
    options = {job.name: dict(job.options) for job in jobs}
    if len(options) < len(jobs):
        raise WriteampError("the fio job file has several jobs of one name; give them other names")
    return options


def of_fio_job(options: Mapping[str, object], use: DriveUse | None = None) -> Characteristics:
    """Return the characteristics of a fio job.

    If an option has two values (`bs=8k,32k`), the first is for reads, the second for writes. A
    number after a sequential pattern (`rw=read:64k`) is a stride; after a random one
    (`randread:8`) it is the number of requests per random offset. Missing options have fio's
    defaults: `rw=read`, 4 KiB, and the engine `psync` with one outstanding request per job.

    Args:
        options: name and value of each option; options without effect here are ignored.
        use: the state of the drive; None leaves all but paper 2's characteristics unknown. The
            job's own `size`, in bytes, overrides its space.

    Raises:
        WriteampError: a value that fio would reject, or an option that is not supported here.

    >>> job = of_fio_job({"rw": "randrw", "bs": "16k,4k", "rwmixread": 70, "iodepth": 8,
    ...                   "ioengine": "libaio"})
    >>> job.write_ratio, job.queue_depth, job.write_size_bytes, job.read_size_bytes
    (0.3, 8, 4096.0, 16384.0)
    """
    job_options = {canonical(name): str(value).strip() for name, value in options.items()}
    job = FioJob("job", job_options)
    for name in _NOT_FOLLOWED:
        if name in job_options:
            raise WriteampError(
                f"the fio option {name} is not supported; give rw, bs, iodepth, numjobs, "
                "rwmixwrite and percentage_random"
            )
    pattern, _, modifier = job_options.get("rw", "read").partition(":")
    if pattern not in _PATTERNS:
        raise unknown("fio pattern", pattern, _PATTERNS)
    is_random, share = _PATTERNS[pattern]
    write_ratio = _mixed(job_options) if share is None else share

    def bytes_of(text: str) -> float:
        return _bytes(text, job.kb_base)

    reads, writes = _of_both(job_options.get("bs", "4096"), 4096.0, bytes_of)
    random = _random_shares(job_options, is_random, modifier)
    stride = bytes_of(modifier) if modifier and not is_random else 0.0
    space = _space(job, use) if use else None
    skew = None if space is None else _skew(job_options, space, writes, random[1])
    return Characteristics(
        write_ratio=write_ratio,
        queue_depth=_depth(job),
        write_size_bytes=writes,
        read_size_bytes=reads,
        write_randomness=random[1],
        read_randomness=random[0],
        write_stride_bytes=stride,
        read_stride_bytes=stride,
        working_set_bytes=space,
        fill=use.fill if use else None,
        recent_write_bytes=use.recent_write_bytes if use else None,
        skew=skew,
    )


def _mixed(options: Mapping[str, str]) -> float:
    if "rwmixwrite" in options:
        return _number("rwmixwrite", options["rwmixwrite"], 0, 100) / 100
    return (100 - _number("rwmixread", options.get("rwmixread", "50"), 0, 100)) / 100


def _depth(job: FioJob) -> int:
    copies = int(_number("numjobs", job.options.get("numjobs", "1"), 1, 2**20))
    depth = int(_number("iodepth", job.options.get("iodepth", "1"), 1, 2**20))
    return copies * (1 if job.engine in SYNCHRONOUS else depth)


def _random_shares(
    options: Mapping[str, str], is_random: bool, modifier: str
) -> tuple[float, float]:
    """Return the share of random requests among the reads and among the writes."""
    if not is_random:
        return 0.0, 0.0

    def share(text: str) -> float:
        return _number("percentage_random", text, 0, 100) / 100

    reads, writes = _of_both(options.get("percentage_random", "100"), 1.0, share)
    requests_per_place = _number("the number after rw", modifier or "1", 1, 2**31)
    return reads / requests_per_place, writes / requests_per_place


def _space(job: FioJob, use: DriveUse) -> float:
    size = job.options.get("size", "")
    is_share = not size or size.endswith("%")
    return float(use.space_bytes) if is_share else _bytes(size, job.kb_base)


def _skew(options: Mapping[str, str], space: float, size_bytes: float, random: float) -> float:
    """Return the skew of the writes; sequential writes reach every page equally often."""
    kind, *numbers = options.get("random_distribution", "random").split(":")
    if kind == "random":
        return HOTTEST_SHARE
    if kind != "zipf" or len(numbers) != 1:
        raise WriteampError(
            f"random_distribution is {shown(options['random_distribution'])}; valid are random and "
            "zipf:THETA"
        )
    exponent = _number("random_distribution", numbers[0], 0, 100)
    slots = max(int(space // size_bytes), 1)
    return random * skew_of_zipf(exponent, slots) + (1 - random) * HOTTEST_SHARE


def _of_both(text: str, default: float, read: Callable[[str], float]) -> tuple[float, float]:
    """Return the values for reads and for writes; a single value applies to both."""
    parts = text.split(",")
    reads = read(parts[0]) if parts[0] else default
    if len(parts) == 1:
        return reads, reads
    return reads, read(parts[1]) if parts[1] else default


def _bytes(text: str, kb_base: int) -> float:
    number = size_of(text, kb_base)
    if not number:
        raise WriteampError(
            f"{shown(text)} is not a size of fio; valid are 4096, 4k, 4kb or 1m, above 0"
        )
    return float(number)


def _number(name: str, text: str, least: float, most: float) -> float:
    try:
        number = finite(float(text))
    except ValueError:
        number = -1.0
    if not least <= number <= most:
        raise WriteampError(f"{name} is {shown(text)}; it must be a number from {least} to {most}")
    return number
