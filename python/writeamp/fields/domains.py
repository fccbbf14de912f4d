"""Domains of settings: which values are valid, how they are checked and described in errors."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Protocol

from writeamp.errors import WriteampError, unknown
from writeamp.text import fault_of_text
from writeamp.text import shown as shown  # noqa: PLC0414 (also from here)

_LEAST_SIZE = 1e-60
# Largest whole number, since the engine counts in signed 64-bit integers.
MOST = 2**63 - 1


def finite(value: object) -> float:
    """Return a real number as a float; NaN for texts, other values, and numbers such as 10**400."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def file_name(name: object) -> str | os.PathLike[str]:
    """Return a file name unchanged, after checking that it is a text or a path.

    Raises:
        WriteampError: the value is neither a text nor a path, or its text is not usable as a name.
    """
    if not isinstance(name, str | os.PathLike) or not isinstance(os.fspath(name), str):
        raise WriteampError(f"{shown(name)} is not a file name; it must be a text or a Path")
    if fault := fault_of_text(os.fspath(name)):
        raise WriteampError(f"{shown(os.fspath(name))} is not a file name: it {fault}")
    return name


def several(value: Any) -> list[Any]:
    """Return the items of a list; a single value, such as a text or a path, becomes a list.

    >>> several("fifo"), several(("fifo", "markov")), several(5)
    (['fifo'], ['fifo', 'markov'], [5])
    """
    if isinstance(value, str | bytes | os.PathLike):
        return [value]
    try:
        return list(value)
    except TypeError:
        return [value]


def file_names(names: object) -> list[str]:
    """Return one or several file names as a list of texts.

    Raises:
        WriteampError: one of the values is neither a text nor a path.
    """
    return [str(os.fspath(file_name(name))) for name in several(names)]


def with_unit(text: str, units: Mapping[str, float]) -> float:
    """Return a number with a unit, converted to the base unit; NaN for other texts.

    >>> with_unit("1.5 kB", {"B": 1, "kB": 1000})
    1500.0
    """
    match = re.fullmatch(r"\s*+([0-9.]++(?:[eE][+-]?[0-9]++)?)\s*+([A-Za-zµ]*+)\s*+", text)
    unit = units.get(match.group(2)) if match else None
    try:
        return float(match.group(1)) * unit if match and unit else math.nan
    except ValueError:
        return math.nan


class PerCent(float):
    """Ratio given as a percentage; `text` is the user's spelling."""

    text: str

    def __new__(cls, text: str) -> PerCent:
        """Return the ratio of a text such as "7.3%"."""
        # The text is parsed with exponent -2 instead of dividing by 100, so that 7.3% equals 0.073.
        number = super().__new__(cls, f"{text[:-1]}e-2")
        number.text = text
        return number

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]
        """Return the arguments of `__new__` for copies."""
        return (self.text,)


# A sign is accepted here, so that the error on a negative ratio can name the valid range. The
# quantifiers are possessive (`++`). Otherwise, time would grow with the square of the text's
# length.
_NUMBER = r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)"


def ratio_of(value: object) -> float:
    """Return a ratio given as a number, or as text such as "0.15" or "15%"; else NaN.

    >>> ratio_of("15%"), ratio_of("0.15"), ratio_of(0.15), ratio_of("15 %")
    (0.15, 0.15, 0.15, nan)
    """
    if not isinstance(value, str):
        return finite(value)
    if re.fullmatch(f"{_NUMBER}%", value):
        number = PerCent(value)
        return number if math.isfinite(number) else math.nan
    is_number = re.fullmatch(rf"{_NUMBER}(?:[eE][+-]?[0-9]+)?", value)
    return finite(float(value)) if is_number else math.nan


def as_ratio(name: str, value: Any) -> Any:
    """Return the number of a ratio given as text; return other values unchanged.

    Raises:
        WriteampError: the text is neither a number nor a percentage.
    """
    if not isinstance(value, str):
        return value
    number = ratio_of(value)
    if math.isnan(number):
        raise WriteampError(
            f"{name} is {shown(value)}; it must be a number such as 0.15, or a percentage such as "
            "15% (without a space)"
        )
    return number


def _check_size(name: str, number: float) -> None:
    """Reject numbers so large or small that their products or quotients could overflow."""
    if number and not _LEAST_SIZE <= abs(number) <= 1 / _LEAST_SIZE:
        raise WriteampError(
            f"{name} is {shown(number)}; its absolute value must be 0, or from {_LEAST_SIZE:g} to "
            f"{1 / _LEAST_SIZE:g}"
        )


class Domain(Protocol):
    """Domain of a setting: its valid values.

    If `check` accepts more types than it returns, `takes` is the type annotation of the keyword
    argument.
    """

    def check(self, name: str, value: Any) -> Any:
        """Return the value in its stored form, or raise a `WriteampError` that names it."""


@dataclass(frozen=True)
class Whole:
    """Domain of whole numbers from `least` to `most`."""

    least: int
    most: int = MOST

    @property
    def words(self) -> str:
        """Description of the valid numbers."""
        return f"a whole number from {self.least} to {self.most}"

    def check(self, name: str, value: Any) -> int:
        """Return the number as an int."""
        if not self.holds(value):
            raise WriteampError(f"{name} is {shown(value)}; it must be {self.words}")
        return int(value)

    def holds(self, value: Any) -> bool:
        """Return whether a value is in the domain; 1e5 counts as a whole number."""
        if isinstance(value, bool):
            return False
        is_whole = isinstance(value, Integral) or finite(value).is_integer()
        return is_whole and self.least <= int(value) <= self.most


@dataclass(frozen=True)
class WholeOr:
    """Domain of whole numbers and one word, such as "auto"."""

    word: str
    number: Whole

    def check(self, name: str, value: Any) -> int | str:
        """Return the number as an int, or the word."""
        if isinstance(value, str) and value == self.word:
            return self.word
        if not self.number.holds(value):
            raise WriteampError(
                f"{name} is {shown(value)}; it must be {self.word} or {self.number.words}"
            )
        return int(value)


@dataclass(frozen=True)
class Number:
    """Domain of the numbers for which `holds` is true; `words` describes them for errors.

    If `is_ratio`, the value may also be text: a number or a percentage.
    """

    words: str
    holds: Callable[[float], bool]
    is_ratio: bool = False

    @property
    def takes(self) -> str:
        """Type of the accepted values."""
        return "RatioLike" if self.is_ratio else "float"

    def check(self, name: str, value: Any) -> float:
        """Return the number as a float."""
        number = finite(as_ratio(name, value) if self.is_ratio else value)
        if math.isnan(number) or not self.holds(number):
            raise WriteampError(f"{name} is {shown(value)}; it must {self.words}")
        _check_size(name, number)
        return number


@dataclass(frozen=True)
class RatioText:
    """Domain of ratios, also as text; the code that uses the ratio checks its range."""

    takes: ClassVar[str] = "RatioLike"

    def check(self, name: str, value: Any) -> Any:
        """Return the ratio as a number; a percentage also keeps the user's spelling."""
        ratio = as_ratio(name, value)
        number = finite(ratio)
        if math.isnan(number):
            raise WriteampError(f"{name} is {shown(value)}; it must be a finite number")
        _check_size(name, number)
        return ratio if isinstance(ratio, int | float) else number


@dataclass(frozen=True)
class OneOf:
    """Domain of a few fixed words."""

    words: tuple[str, ...]

    def check(self, name: str, value: Any) -> str:
        """Return the word if it is valid."""
        if not isinstance(value, str) or value not in self.words:
            raise unknown(name, value, self.words)
        return value


@dataclass(frozen=True)
class Flag:
    """Domain of true and false."""

    def check(self, name: str, value: Any) -> bool:
        """Return the value if it is true or false."""
        if not isinstance(value, bool):
            raise WriteampError(f"{name} is {shown(value)}; it must be true or false")
        return value


@dataclass(frozen=True)
class Text:
    """Domain of any text."""

    def check(self, name: str, value: Any) -> str:
        """Return the value if it is text."""
        if not isinstance(value, str):
            raise WriteampError(f"{name} is {shown(value)}; it must be text")
        if fault := fault_of_text(value):
            raise WriteampError(f"{name} is {shown(value)}, which {fault}")
        return value


POSITIVE_COUNT = Whole(1)
SHARE = Number("be above 0 and at most 1", lambda value: 0 < value <= 1, is_ratio=True)
BELOW_ONE = Number("lie between 0 and 1, both excluded", lambda value: 0 < value < 1, is_ratio=True)
RATIO = RatioText()
