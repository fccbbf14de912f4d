"""Durations and rates with units: 500ms, 2min, 10MHz."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from writeamp.errors import WriteampError
from writeamp.fields.domains import Number, finite, shown, with_unit

DAY_S = 86_400.0
# Every year of writeamp has 365 days, as drive writes per day over the years of a warranty have.
DAYS_A_YEAR = 365
YEAR_S = DAYS_A_YEAR * DAY_S

_SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "": 1.0,
    "min": 60.0,
    "m": 60.0,
    "h": 3600.0,
    "d": DAY_S,
}
_HERTZ = {"Hz": 1.0, "": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9}


@dataclass(frozen=True)
class _Quantity:
    """Valid values: numbers with a unit, above `least` up to `most`, in the base unit."""

    takes: ClassVar[str] = "float | str"

    units: dict[str, float]
    least: float
    most: float
    words: str

    def check(self, name: str, value: Any) -> float:
        """Return the number in the base unit, which is also the default unit."""
        number = with_unit(value, self.units) if isinstance(value, str) else finite(value)
        if not self.least < number <= self.most:
            raise WriteampError(f"{name} is {shown(value)}; it must be {self.words}")
        return number


@dataclass(frozen=True)
class DurationIn:
    """Valid values: durations with limits of their own, in seconds."""

    takes: ClassVar[str] = "float | str"

    limits: Number

    def check(self, name: str, value: Any) -> float:
        """Return the seconds."""
        return self.limits.check(name, DURATION.check(name, value))

    def shown(self, value: float) -> str:
        """Return a duration with a unit, without a space before it."""
        return shown_duration(value).replace(" ", "")


# Limits in seconds: just below 1 ns, and a duration that 64-bit nanoseconds can represent.
DURATION = _Quantity(
    _SECONDS, 0.99e-9, 1e9, "above 0 and at most 1e9 seconds, such as 10s, 500ms, 2min or 1.5h"
)
JITTER = _Quantity(_SECONDS, -1e-300, 1e-3, "from 0 to 1ms, such as 20ns")
RATE = _Quantity(_HERTZ, 0.99e3, 1e12, "from 1kHz to 1000GHz, such as 10MHz")


def shown_duration(seconds: float) -> str:
    """Return a duration with a suitable unit.

    >>> shown_duration(0.5), shown_duration(3e-6), shown_duration(90.0), shown_duration(0.0)
    ('500 ms', '3 µs', '90 s', '0 s')
    """
    for name in ("s", "ms", "µs", "ns"):
        if seconds >= _SECONDS[name] or seconds == 0:
            return f"{seconds / _SECONDS[name]:.4g} {name}"
    return f"{seconds / _SECONDS['ns']:.4g} ns"
