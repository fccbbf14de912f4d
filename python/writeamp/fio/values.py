"""Values and names of options as fio 3.33 reads them, and speed limits of writes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
# fio reads 64-bit numbers, which have at most 20 digits.
_DIGITS = "[0-9]{1,30}"
_SIZE = re.compile(rf"(0x[0-9a-f]{{1,25}}|{_DIGITS})\s*(?:([kmgtp])(ib|b|i)?|b|s)?")
_TIMES_S = {"us": 1e-6, "usec": 1e-6, "ms": 1e-3, "msec": 1e-3, "": 1.0, "s": 1.0, "sec": 1.0,
            "m": 60.0, "h": 3600.0, "d": 86400.0}  # fmt: skip
_TIME = re.compile(rf"({_DIGITS})\s*([a-z]*)")
_NO = {"0", "false", "no", "off"}
# Fastest writes of a drive. PCIe 5.0 x4 carries 15.8 GB/s, and drives on PCIe 6 do not write
# faster.
FASTEST_BYTES_S = 16e9
# Largest assumed speed of writes to the page cache (memory copies of a server), and size of memory.
MEMORY_BYTES_S = 100e9
MEMORY_BYTES = 1e12
# Slowest speed that is assumed: a job that needs a lower speed is taken as completed in its
# runtime.
SLOWEST_BYTES_S = 100e6
# Least similarity of a suggested name to the misspelled one, from 0 to 1. Short names may differ
# only by a single letter.
_ALIKE = 0.8


def size_of(text: str, kb_base: int = 1024) -> int | None:
    """Return a size in bytes, or None if it is invalid.

    A unit with "ib" has the other base, as documented for kb_base of fio: by default 4k and 4kb are
    4096 bytes, and 4kib is 4000.

    >>> size_of("4k"), size_of("4KiB"), size_of("1m", 1000), size_of("1mib", 1000), size_of("10%")
    (4096, 4000, 1000000, 1048576, None)
    """
    match = _SIZE.fullmatch(text.strip().lower())
    if match is None:
        return None
    digits, letter, rest = match.groups()
    base = kb_base
    if rest == "ib":
        base = 1000 if kb_base == 1024 else 1024
    number = int(digits, 16 if digits.startswith("0x") else 10)
    return number * int(base ** _POWERS.get(letter or "", 0))


def meant_size_of(text: str, kb_base: int = 1024) -> int | None:
    """Return the bytes meant by a size with a decimal point, which fio reads differently.

    >>> meant_size_of("1.8T"), meant_size_of("1.8"), meant_size_of("2g")
    (1979120929996, None, None)
    """
    match = re.fullmatch(rf"({_DIGITS}\.[0-9]+)(.*)", text.strip())
    unit = size_of(f"1{match[2]}", kb_base) if match is not None else None
    if match is None or unit is None or unit <= 1:
        return None
    return int(float(match[1]) * unit)


def share_of(text: str) -> float | None:
    """Return a percentage, such as a size of 50% of a device, as a ratio; None if it is invalid."""
    match = re.fullmatch(rf"({_DIGITS})\s*%", text.strip())
    return int(match[1]) / 100 if match else None


def seconds_of(text: str) -> float | None:
    """Return a time in seconds, or None if it is invalid.

    >>> seconds_of("90"), seconds_of("2m"), seconds_of("500ms")
    (90.0, 120.0, 0.5)
    """
    match = _TIME.fullmatch(text.strip().lower())
    if match is None or match[2] not in _TIMES_S:
        return None
    return int(match[1]) * _TIMES_S[match[2]]


def is_set(text: str | None) -> bool:
    """Return whether a flag or a boolean number is set; an option without a value is set."""
    return text is not None and text.strip().lower() not in _NO


def in_direction(text: str, direction: int) -> str:
    """Return the part of a value for one direction: 0 reads, 1 writes, 2 trims.

    >>> in_direction("1m", 1), in_direction("1m,500k", 1), in_direction("1m,", 1)
    ('1m', '500k', '')
    """
    parts = text.split(",")
    return parts[min(direction, len(parts) - 1)]


def block_sizes(text: str, kb_base: int = 1024, default: int = 4096) -> list[tuple[int, int]]:
    """Return the smallest and largest block size in bytes by direction, from `bs` or `bsrange`.

    Directions are read, write and trim. One value applies to all; of two, the second applies to
    writes and trims. An empty value keeps the default.

    >>> block_sizes("4k,8k")
    [(4096, 4096), (8192, 8192), (8192, 8192)]
    >>> block_sizes("8k,"), block_sizes("1k-4k")[1]
    ([(8192, 8192), (4096, 4096), (4096, 4096)], (1024, 4096))
    """
    ranges = [_range(value, kb_base, default) for value in text.split(",")[:3]]
    while len(ranges) < 3:
        ranges.append(ranges[-1])
    return ranges


def _range(text: str, kb_base: int, default: int) -> tuple[int, int]:
    ends = [size_of(end, kb_base) for end in text.split("-", 1)]
    low, high = ends[0], ends[-1]
    # fio rejects blocks of 0 bytes.
    return (low, high) if low and high else (default, default)


def split_sizes(text: str, kb_base: int = 1024) -> list[dict[int, float]]:
    """Return the shares of block sizes by direction, from `bssplit`.

    Sizes without a percentage divide the remaining share.

    >>> split_sizes("4k/25:64k/")[1], split_sizes("2k/50:4k/50,8k/100")[1]
    ({4096: 0.25, 65536: 0.75}, {8192: 1.0})
    """
    shares_by_direction = []
    for value in text.split(",")[:3]:
        pairs = [pair.partition("/") for pair in value.split(":")]
        shares = {
            size: share_of(f"{percent}%")
            for text_of_size, _, percent in pairs
            if (size := size_of(text_of_size, kb_base))
        }
        open_ones = sum(share is None for share in shares.values())
        rest = max(0.0, 1 - sum(share or 0.0 for share in shares.values()))
        shares_by_direction.append(
            {size: rest / open_ones if share is None else share for size, share in shares.items()}
        )
    while len(shares_by_direction) < 3:
        shares_by_direction.append(shares_by_direction[-1])
    return shares_by_direction


class Limits(NamedTuple):
    """Lower and upper limit of a number."""

    low: float
    high: float

    def times(self, factor: float) -> Limits:
        """Return both limits multiplied by a factor."""
        return Limits(self.low * factor, self.high * factor)


UNKNOWN = Limits(0.0, float("inf"))


def shown_speed(bytes_s: float) -> str:
    """Return a speed in words.

    >>> shown_speed(21.99e9), shown_speed(3.2e6)
    ('22 GB/s', '3.2 MB/s')
    """
    return f"{bytes_s / 1e9:.3g} GB/s" if bytes_s >= 1e9 else f"{bytes_s / 1e6:.3g} MB/s"


# Options whose values are sizes, and those whose values are counts.
SIZES = (
    *("bs", "size", "io_size", "filesize", "offset", "offset_increment", "blockalign"),
    "zonesize",
)
COUNTS = (
    *("numjobs", "iodepth", "loops", "rwmixread", "rwmixwrite", "number_ios", "randseed"),
    *("rate", "rate_iops"),
)
_BY_DIRECTION = ("rate", "rate_iops")
# Sizes per direction, ranges, zones, and sizes from the end are valid in fio.
_BETWEEN = re.compile(r"[,:/-]")
_OTHER_SIZE = re.compile(r"[0-9]+z|-1|")


def wrong_amounts(options: Mapping[str, str], kb_base: int) -> Iterator[tuple[str, str]]:
    """Yield options whose size or count fio does not read as intended, with the wrong value."""
    for name in sorted(options.keys() & {*SIZES, *COUNTS}):
        is_of_several = name in SIZES or name in _BY_DIRECTION
        values = _BETWEEN.split(options[name]) if is_of_several else [options[name]]
        wrong = [value.strip() for value in values if not _is_amount(name, value, kb_base)]
        if wrong:
            yield name, wrong[0]


def _is_amount(name: str, text: str, kb_base: int) -> bool:
    size = size_of(text, kb_base)
    is_size = size is not None and (size > 0 or name != "bs")
    if name in SIZES:
        return is_size or share_of(text) is not None or bool(_OTHER_SIZE.fullmatch(text.strip()))
    return is_size or text.strip() == ""


@cache
def _names() -> dict[str, frozenset[str]]:
    text = files("writeamp.fio").joinpath("options.toml").read_text("utf-8")
    return {key: frozenset(names) for key, names in tomllib.loads(text).items()}


def option_names() -> frozenset[str]:
    """Return the names of all options, including those of engines."""
    return _names()["options"]


def engine_names() -> frozenset[str]:
    """Return the names of I/O engines."""
    return _names()["engines"]


def directions() -> frozenset[str]:
    """Return the valid values of the option `rw`."""
    return _names()["directions"]


def nearest(name: str, valid: frozenset[str]) -> str | None:
    """Return the valid name that is most similar to a misspelled name, or None.

    >>> nearest("filenam", option_names()), nearest("spdk_core_mask", option_names())
    ('filename', None)
    """
    return next(iter(get_close_matches(name, sorted(valid), 1, _ALIKE)), None)
