"""Values and names of options as fio 3.33 reads them, and bounds on the speed of writes."""

from __future__ import annotations

import re
import tomllib
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
# fio reads numbers of 64 bits, which have at most 20 digits.
_DIGITS = "[0-9]{1,30}"
_SIZE = re.compile(rf"(0x[0-9a-f]{{1,25}}|{_DIGITS})\s*(?:([kmgtp])(ib|b|i)?|b|s)?")
_TIMES_S = {"us": 1e-6, "usec": 1e-6, "ms": 1e-3, "msec": 1e-3, "": 1.0, "s": 1.0, "sec": 1.0,
            "m": 60.0, "h": 3600.0, "d": 86400.0}  # fmt: skip
_TIME = re.compile(rf"({_DIGITS})\s*([a-z]*)")
_NO = {"0", "false", "no", "off"}
# PCIe 5.0 with four lanes carries 15.8 GB/s, and drives on PCIe 6 write no faster than that.
FASTEST_BYTES_S = 16e9
# Limits of writes that end in the page cache: copying within memory, and the memory of a server.
MEMORY_BYTES_S = 100e9
MEMORY_BYTES = 1e12
# A plan that asks for less than this is taken to be completed.
SLOWEST_BYTES_S = 100e6
# Of a shorter name, one letter is most of it.
_ALIKE = 0.8


def size_of(text: str, kb_base: int = 1024) -> int | None:
    """Return a size in bytes; None of what is no size.

    A unit with "ib" is of the other base, as fio's documentation says of kb_base: by default 4k and
    4kb are 4096 bytes, and 4kib is 4000.

    >>> size_of("4k"), size_of("4KiB"), size_of("1m", 1000), size_of("1mib", 1000), size_of("10%")
    (4096, 4000, 1000000, 1048576, None)
    """
    found = _SIZE.fullmatch(text.strip().lower())
    if found is None:
        return None
    digits, letter, rest = found.groups()
    base = kb_base
    if rest == "ib":
        base = 1000 if kb_base == 1024 else 1024
    number = int(digits, 16 if digits.startswith("0x") else 10)
    return number * int(base ** _POWERS.get(letter or "", 0))


def meant_size_of(text: str, kb_base: int = 1024) -> int | None:
    """Return the bytes that a size with a decimal point means to a reader, though not to fio.

    >>> meant_size_of("1.8T"), meant_size_of("1.8"), meant_size_of("2g")
    (1979120929996, None, None)
    """
    found = re.fullmatch(rf"({_DIGITS}\.[0-9]+)(.*)", text.strip())
    unit = size_of(f"1{found[2]}", kb_base) if found is not None else None
    if found is None or unit is None or unit <= 1:
        return None
    return int(float(found[1]) * unit)


def share_of(text: str) -> float | None:
    """Return the share that a percentage is, such as of a device; None of what is none."""
    found = re.fullmatch(rf"({_DIGITS})\s*%", text.strip())
    return int(found[1]) / 100 if found else None


def seconds_of(text: str) -> float | None:
    """Return a time in seconds; None of what is none.

    >>> seconds_of("90"), seconds_of("2m"), seconds_of("500ms")
    (90.0, 120.0, 0.5)
    """
    found = _TIME.fullmatch(text.strip().lower())
    if found is None or found[2] not in _TIMES_S:
        return None
    return int(found[1]) * _TIMES_S[found[2]]


def is_set(text: str | None) -> bool:
    """Return whether a flag or a number that means yes is set; an option without a value is."""
    return text is not None and text.strip().lower() not in _NO


def in_direction(text: str, direction: int) -> str:
    """Return the part of a value for a direction: 0 reads, 1 writes, 2 trims.

    >>> in_direction("1m", 1), in_direction("1m,500k", 1), in_direction("1m,", 1)
    ('1m', '500k', '')
    """
    parts = text.split(",")
    return parts[min(direction, len(parts) - 1)]


def block_sizes(text: str, kb_base: int = 1024, default: int = 4096) -> list[tuple[int, int]]:
    """Return the least and the most bytes of a block by direction, of `bs` or `bsrange`.

    Directions are read, write and trim. One part is for all, two are for reads and for writes and
    trims; one that is empty keeps the default.

    >>> block_sizes("4k,8k")
    [(4096, 4096), (8192, 8192), (8192, 8192)]
    >>> block_sizes("8k,"), block_sizes("1k-4k")[1]
    ([(8192, 8192), (4096, 4096), (4096, 4096)], (1024, 4096))
    """
    found = [_range(part, kb_base, default) for part in text.split(",")[:3]]
    while len(found) < 3:
        found.append(found[-1])
    return found


def _range(text: str, kb_base: int, default: int) -> tuple[int, int]:
    ends = [size_of(part, kb_base) for part in text.split("-", 1)]
    low, high = ends[0], ends[-1]
    # fio refuses blocks of 0 bytes.
    return (low, high) if low and high else (default, default)


def split_sizes(text: str, kb_base: int = 1024) -> list[dict[int, float]]:
    """Return the shares of block sizes by direction, of `bssplit`.

    Sizes without a percentage share what the others leave.

    >>> split_sizes("4k/25:64k/")[1], split_sizes("2k/50:4k/50,8k/100")[1]
    ({4096: 0.25, 65536: 0.75}, {8192: 1.0})
    """
    found = []
    for part in text.split(",")[:3]:
        pairs = [one.partition("/") for one in part.split(":")]
        shares = {
            size: share_of(f"{percent}%")
            for text_of_size, _, percent in pairs
            if (size := size_of(text_of_size, kb_base))
        }
        open_ones = sum(one is None for one in shares.values())
        rest = max(0.0, 1 - sum(one or 0.0 for one in shares.values()))
        found.append(
            {size: rest / open_ones if one is None else one for size, one in shares.items()}
        )
    while len(found) < 3:
        found.append(found[-1])
    return found


class Limits(NamedTuple):
    """The fewest and the most of something."""

    low: float
    high: float

    def times(self, factor: float) -> Limits:
        """Return both, multiplied."""
        return Limits(self.low * factor, self.high * factor)


UNKNOWN = Limits(0.0, float("inf"))


def shown_speed(bytes_s: float) -> str:
    """Return a speed in words.

    >>> shown_speed(21.99e9), shown_speed(3.2e6)
    ('22 GB/s', '3.2 MB/s')
    """
    return f"{bytes_s / 1e9:.3g} GB/s" if bytes_s >= 1e9 else f"{bytes_s / 1e6:.3g} MB/s"


@cache
def _names() -> dict[str, frozenset[str]]:
    text = files("writeamp.drives.doctor.fio").joinpath("options.toml").read_text("utf-8")
    return {key: frozenset(found) for key, found in tomllib.loads(text).items()}


def option_names() -> frozenset[str]:
    """Return the names of options, those of engines among them."""
    return _names()["options"]


def engine_names() -> frozenset[str]:
    """Return the names of I/O engines."""
    return _names()["engines"]


def directions() -> frozenset[str]:
    """Return the values of `rw`."""
    return _names()["directions"]


def nearest(name: str, known: frozenset[str]) -> str | None:
    """Return the known name that one is most like; None if none is near.

    >>> nearest("filenam", option_names()), nearest("spdk_core_mask", option_names())
    ('filename', None)
    """
    return next(iter(get_close_matches(name, sorted(known), 1, _ALIKE)), None)
