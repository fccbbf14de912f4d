"""Domains of settings: what a value may be, said once, checked and named in errors."""

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
# The engine counts in 64 bits; seeds use all of them but one, as all other numbers do.
MOST = 2**63 - 1


def finite(value: object) -> float:
    """Return a real number as a float, and NaN for anything else, such as 10**400."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def file_name(given: object) -> str | os.PathLike[str]:
    """Return a file's name, which is a text or a path.

    Raises:
        WriteampError: it is neither a text nor a path.
    """
    if not isinstance(given, str | os.PathLike) or not isinstance(os.fspath(given), str):
        raise WriteampError(f"{shown(given)} is no file name, which is a text or a Path")
    if fault := fault_of_text(os.fspath(given)):
        raise WriteampError(f"{shown(os.fspath(given))} is no file name, it {fault}")
    return given


def several(given: Any) -> list[Any]:
    """Return the items of a list, or a list of what has none, such as a text or a path.

    >>> several("fifo"), several(("fifo", "markov")), several(5)
    (['fifo'], ['fifo', 'markov'], [5])
    """
    if isinstance(given, str | bytes | os.PathLike):
        return [given]
    try:
        return list(given)
    except TypeError:
        return [given]


def file_names(given: object) -> list[str]:
    """Return the names of several files, or of one, as texts.

    Raises:
        WriteampError: one of them is neither a text nor a path.
    """
    return [str(os.fspath(file_name(name))) for name in several(given)]


def with_unit(text: str, units: Mapping[str, float]) -> float:
    """Return a number with one of some units in the base unit, and NaN for anything else.

    >>> with_unit("1.5 kB", {"B": 1, "kB": 1000})
    1500.0
    """
    found = re.fullmatch(r"\s*+([0-9.]++(?:[eE][+-]?[0-9]++)?)\s*+([A-Za-zµ]*+)\s*+", text)
    unit = units.get(found.group(2)) if found else None
    try:
        return float(found.group(1)) * unit if found and unit else math.nan
    except ValueError:
        return math.nan


class PerCent(float):
    """A ratio that was given in per cent; `text` is how."""

    text: str

    def __new__(cls, text: str) -> PerCent:
        """Return the number that the text, such as "7.3%", means."""
        # Not divided by 100: 7.3% is the same number as 0.073.
        found = super().__new__(cls, f"{text[:-1]}e-2")
        found.text = text
        return found

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]
        """Return the arguments that a copy is made from."""
        return (self.text,)


# Signs are for errors that say what is valid: no ratio is negative.
# Possessive: the time of texts of many digits grows with their length, not with its square.
_NUMBER = r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)"


def ratio_of(value: object) -> float:
    """Return a ratio: a number, or text such as "0.15" or "15%"; NaN for anything else.

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
    """Return a ratio that is text as a number, and what is no text as it is.

    Raises:
        WriteampError: the text is neither a number nor per cent.
    """
    if not isinstance(value, str):
        return value
    number = ratio_of(value)
    if math.isnan(number):
        raise WriteampError(
            f"{name} is {shown(value)}; it must be a number such as 0.15, or per cent without a "
            "space, such as 15%"
        )
    return number


def _check_size(name: str, number: float) -> None:
    """Refuse numbers whose products and quotients are no longer finite."""
    if number and not _LEAST_SIZE <= abs(number) <= 1 / _LEAST_SIZE:
        raise WriteampError(
            f"{name} is {shown(number)}; its absolute value must be 0, or from {_LEAST_SIZE:g} to "
            f"{1 / _LEAST_SIZE:g}"
        )


class Domain(Protocol):
    """Domain of a setting: the values that it may have.

    One that takes more than it returns names that type in `takes`, for keyword arguments.
    """

    def check(self, name: str, value: Any) -> Any:
        """Return the value as the settings keep it, or raise a `WriteampError` that names it."""


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
        """Return whether it is such a number; 1e5 is one."""
        if isinstance(value, bool):
            return False
        is_whole = isinstance(value, Integral) or finite(value).is_integer()
        return is_whole and self.least <= int(value) <= self.most


@dataclass(frozen=True)
class WholeOr:
    """Domain of whole numbers, and a word that stands for one."""

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
    """Domain of the numbers for which `holds` is true; `words` says for which it is.

    A ratio may be text, also in per cent.
    """

    words: str
    holds: Callable[[float], bool]
    is_ratio: bool = False

    @property
    def takes(self) -> str:
        """Type of the values that are checked."""
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
    """Domain of ratios, which may be text; whoever uses one checks its range."""

    takes: ClassVar[str] = "RatioLike"

    def check(self, name: str, value: Any) -> Any:
        """Return the number as Python has it; one in per cent keeps how it was given."""
        given = as_ratio(name, value)
        number = finite(given)
        if math.isnan(number):
            raise WriteampError(f"{name} is {shown(value)}; it must be a finite number")
        _check_size(name, number)
        return given if isinstance(given, int | float) else number


@dataclass(frozen=True)
class OneOf:
    """Domain of a few words."""

    words: tuple[str, ...]

    def check(self, name: str, value: Any) -> str:
        """Return the word."""
        if not isinstance(value, str) or value not in self.words:
            raise unknown(name, value, self.words)
        return value


@dataclass(frozen=True)
class Flag:
    """Domain of true and false."""

    def check(self, name: str, value: Any) -> bool:
        """Return it."""
        if not isinstance(value, bool):
            raise WriteampError(f"{name} is {shown(value)}; it must be true or false")
        return value


@dataclass(frozen=True)
class Text:
    """Domain of any text."""

    def check(self, name: str, value: Any) -> str:
        """Return it."""
        if not isinstance(value, str):
            raise WriteampError(f"{name} is {shown(value)}; it must be text")
        if fault := fault_of_text(value):
            raise WriteampError(f"{name} is {shown(value)}, which {fault}")
        return value


POSITIVE_COUNT = Whole(1)
SHARE = Number("be above 0 and at most 1", lambda value: 0 < value <= 1, is_ratio=True)
BELOW_ONE = Number("lie between 0 and 1, both excluded", lambda value: 0 < value < 1, is_ratio=True)
RATIO = RatioText()
