"""Sizes in bytes with units: 100GB is 100·10⁹ bytes, 100GiB is 100·2³⁰."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

from writeamp.errors import WriteampError
from writeamp.fields.domains import MOST, finite, shown, with_unit

_LETTERS = "KMGTPE"
# A single letter is a power of 1024, as in fio and data sheets of memories: 4k is 4096 bytes.
_UNITS = (
    {"": 1, "B": 1, "kB": 1000, "k": 1024}
    | {letter: 1024 ** (power + 1) for power, letter in enumerate(_LETTERS)}
    | {f"{letter}i": 1024 ** (power + 1) for power, letter in enumerate(_LETTERS)}
    | {f"{letter}B": 1000 ** (power + 1) for power, letter in enumerate(_LETTERS)}
    | {f"{letter}iB": 1024 ** (power + 1) for power, letter in enumerate(_LETTERS)}
)
_TERABYTES = {name: size / 1e12 for name, size in _UNITS.items()} | {"": 1.0}
# A size is exact in a unit if it is a multiple of 1/1000 of the unit, so three decimals suffice.
_THREE_PLACES = 1000
# Maximum digits of whole numbers; Python rejects very long numbers.
_MOST_DIGITS = 100


def parse_bytes(name: str, text: str) -> float:
    """Return the bytes of a size that is written with or without a unit.

    Args:
        name: name of the size, for errors.
        text: a size such as "100GB", "1.5 TiB", "5e11 B" or "64G"; without a unit, in bytes.

    Raises:
        WriteampError: not a number, a fraction without a unit, or a size that is not above 0.
    """
    size = with_unit(text, _UNITS)
    is_fraction = with_unit(text, {"": 1}) % 1 > 0  # with a unit, NaN > 0 is False
    if not 0 < size < math.inf or is_fraction:
        raise WriteampError(
            f"{name} is {shown(text)}; it must be whole bytes above 0, or a number with a unit: B, "
            "kB, MB, GB, TB, PB or EB (powers of 1000), KiB, MiB, GiB, TiB, PiB or EiB (powers of "
            "1024), or k, M, G, T, P or E (powers of 1024 too)"
        )
    return size


def shown_bytes(size: int) -> str:
    """Return a size with a unit, in powers of 1024, or of 1000 if only these are exact.

    Exact means with at most three decimals. A size that is exact in neither is rounded.

    >>> shown_bytes(64 * 2**30), shown_bytes(65536), shown_bytes(1_920_000_000_000)
    ('64 GiB', '64 KiB', '1.92 TB')
    >>> shown_bytes(70_000_000_007), shown_bytes(700)
    ('65.19 GiB', '700 B')
    """
    power = min(max(size.bit_length() - 1, 0) // 10, len(_LETTERS))
    if power == 0:
        return f"{size} B"
    is_binary = size * _THREE_PLACES % 1024**power == 0
    decimal = min((len(str(size)) - 1) // 3, len(_LETTERS))
    if not is_binary and size * _THREE_PLACES % 1000**decimal == 0:
        return f"{size / 1000**decimal:.4g} {'k' if decimal == 1 else _LETTERS[decimal - 1]}B"
    return binary_bytes(size)


def binary_bytes(size: int) -> str:
    """Return a size with a unit in powers of 1024, as columns of sizes need.

    >>> binary_bytes(1_920_000_000_000), binary_bytes(700)
    ('1.746 TiB', '700 B')
    """
    power = min(max(size.bit_length() - 1, 0) // 10, len(_LETTERS))
    return f"{size / 1024**power:.4g} {_LETTERS[power - 1]}iB" if power else f"{size} B"


@dataclass(frozen=True)
class ByteAmount:
    """Valid values: amounts in bytes, as for `parse_bytes`; fractions are allowed.

    `least` is the smallest valid amount. It is far below all meaningful values, to find numbers
    whose unit was forgotten.
    """

    least: float = 0.0

    def check(self, name: str, value: Any) -> float:
        """Return the bytes."""
        number = finite(value)
        amount = number if number > 0 else parse_bytes(name, str(value))
        if amount < self.least:
            raise WriteampError(
                f"{name} is {value}, which is {amount:g} bytes; it must be at least "
                f"{self.least:,.0f} bytes. Give a unit, as in {value}GB"
            )
        return amount


@dataclass(frozen=True)
class Terabytes:
    """Valid values: amounts in TB (10**12 bytes), also as text with a unit.

    >>> Terabytes().check("rated_tbw", "1.2PB"), Terabytes().check("rated_tbw", "600 TBW")
    (1200.0, 600.0)
    """

    takes: ClassVar[str] = "float | str"

    def check(self, name: str, value: Any) -> float:
        """Return the terabytes."""
        number = finite(value)
        if isinstance(value, str):
            number = with_unit(value.removesuffix("W"), _TERABYTES)
        if not 0 < number < math.inf:
            raise WriteampError(
                f"{name} is {shown(value)}; it must be above 0, in TB (10^12 bytes) or with a "
                "unit, such as 600, 600TB or 1.2PB"
            )
        return number


@dataclass(frozen=True)
class ByteSize:
    """Valid values: sizes in whole bytes, and optionally one word such as "off".

    Text has a unit as for `parse_bytes`, or a letter: k, M, G, T, P or E, powers of 1024.

    >>> ByteSize("off").check("write_cache", "64k"), ByteSize("off").check("write_cache", "off")
    (65536, 'off')
    """

    takes: ClassVar[str] = "SizeLike"

    word: str = ""
    most: int = MOST

    def check(self, name: str, value: Any) -> int | str:
        """Return the bytes, or the word."""
        if self.word and isinstance(value, str) and value == self.word:
            return self.word
        size = value
        if isinstance(value, str):
            size = _whole_bytes(value, self.most)
        elif not isinstance(value, Integral) and finite(value).is_integer():
            size = int(finite(value))  # floats such as 1.92e12 are whole numbers, too
        is_whole = isinstance(size, Integral) and not isinstance(size, bool)
        if not is_whole or not 0 < int(size) <= self.most:
            word = f"{self.word}, or " if self.word else ""
            raise WriteampError(
                f"{name} is {shown(value)}; it must be {word}whole bytes {self._range}, such as "
                "64GiB, 500GB or 64k (k, M, G, T, P and E alone are powers of 1024)"
            )
        return int(size)

    @property
    def _range(self) -> str:
        return "above 0" if self.most == MOST else f"from 1 to {self.most}"


def _whole_bytes(text: str, most: int) -> int | None:
    """Return the whole bytes of a text; None if it is invalid or above `most`."""
    # `int` would accept digits of all alphabets, and very long numbers.
    if len(text) < _MOST_DIGITS and re.fullmatch(r"\+?[0-9]+(_[0-9]+)*", text):
        return int(text)
    size = with_unit(text, _UNITS)
    # 1.92TB is a whole number of bytes, but 1.92·10¹² may be rounded in floating point.
    return round(size) if 0 < size <= most and _is_near_whole(size) else None


def _is_near_whole(size: float) -> bool:
    return abs(size - round(size)) <= 1e-12 * size
