"""Characteristics of a fio job: its options as `man fio` (3.33) defines them."""

from __future__ import annotations

import configparser
import re
from collections.abc import Callable, Mapping

from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import finite, shown
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
_ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "direct_io": "direct",
    "perc_rand": "percentage_random",
}
# These engines wait for each request, so that iodepth has no effect.
_SYNCHRONOUS = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice")
# Options that change sizes or offsets of requests in ways that the characteristics cannot express.
# A job with one of them is rejected.
_NOT_FOLLOWED = ("bssplit", "bsrange", "blocksize_range", "zonemode", "read_iolog", "rw_sequencer")
_BINARY_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


def read_fio_jobs(text: str) -> dict[str, dict[str, str]]:
    """Return the options of each job of a fio job file.

    The options of [global] before a job are included.

    Raises:
        WriteampError: the text is not a job file, or has no job.

    >>> read_fio_jobs("[global]\\nbs=8k\\n[job]\\nrw=randread\\n")
    {'job': {'bs': '8k', 'rw': 'randread'}}
    """
    parser = configparser.RawConfigParser(
        allow_no_value=True, delimiters=("=",), default_section="global", strict=True
    )
    try:
        parser.read_string(text)
    except configparser.Error as error:
        line = " ".join(str(error).split())
        raise WriteampError(f"the text is not a fio job file: {line}") from None
    jobs = {
        name: {key: value or "1" for key, value in parser.items(name)} for name in parser.sections()
    }
    if not jobs:
        raise WriteampError("the fio job file has no job; a job is a section [name] with options")
    return jobs


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
    job_options = {_ALIASES.get(name, name): str(value).strip() for name, value in options.items()}
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
    reads, writes = _of_both(job_options.get("bs", "4096"), 4096.0, _bytes)
    random = _random_shares(job_options, is_random, modifier)
    stride = _bytes(modifier) if modifier and not is_random else 0.0
    skew = _skew(job_options, use, writes, random[1]) if use else None
    return Characteristics(
        write_ratio=write_ratio,
        queue_depth=_depth(job_options),
        write_size_bytes=writes,
        read_size_bytes=reads,
        write_randomness=random[1],
        read_randomness=random[0],
        write_stride_bytes=stride,
        read_stride_bytes=stride,
        working_set_bytes=_space(job_options, use) if use else None,
        fill=use.fill if use else None,
        recent_write_bytes=use.recent_write_bytes if use else None,
        skew=skew,
    )


def _mixed(options: Mapping[str, str]) -> float:
    if "rwmixwrite" in options:
        return _number("rwmixwrite", options["rwmixwrite"], 0, 100) / 100
    return (100 - _number("rwmixread", options.get("rwmixread", "50"), 0, 100)) / 100


def _depth(options: Mapping[str, str]) -> int:
    jobs = int(_number("numjobs", options.get("numjobs", "1"), 1, 2**20))
    depth = int(_number("iodepth", options.get("iodepth", "1"), 1, 2**20))
    return jobs * (1 if options.get("ioengine", "psync") in _SYNCHRONOUS else depth)


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


def _space(options: Mapping[str, str], use: DriveUse) -> float:
    size = options.get("size", "")
    return float(use.space_bytes) if not size or size.endswith("%") else _bytes(size)


def _skew(options: Mapping[str, str], use: DriveUse, size_bytes: float, random: float) -> float:
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
    slots = max(int(_space(options, use) // size_bytes), 1)
    return random * skew_of_zipf(exponent, slots) + (1 - random) * HOTTEST_SHARE


def _of_both(text: str, default: float, read: Callable[[str], float]) -> tuple[float, float]:
    """Return the values for reads and for writes; a single value applies to both."""
    parts = text.split(",")
    reads = read(parts[0]) if parts[0] else default
    if len(parts) == 1:
        return reads, reads
    return reads, read(parts[1]) if parts[1] else default


def _bytes(text: str) -> float:
    match = re.fullmatch(r"([0-9]{1,20})([kmgtp]?)(i?b?)", text.lower())
    if not match or (number := int(match[1]) * 1024 ** _BINARY_POWERS[match[2]]) == 0:
        raise WriteampError(
            f"{shown(text)} is not a size of fio; valid are 4096, 4k, 4KiB or 1m, above 0"
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
