"""Intervals, rows and unfinished parts: what every result has, each by one name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from writeamp.fields.arguments import checked
from writeamp.results.frames import frame_of

if TYPE_CHECKING:
    import polars as pl


class AnyResult:
    """A result: its interval, `to_frame` and `unfinished`, whatever it is of.

    A class with an interval has one of `ci`, `bounds` and `interval` of its own: a property, or a
    field with a default. So has a class with parts that may be missing its own `unfinished`.
    """

    def __init_subclass__(cls) -> None:
        """Have the methods of every kind of result refuse wrong arguments by a sentence."""
        super().__init_subclass__()
        checked(cls)

    @property
    def ci(self) -> tuple[float, float] | None:
        """The 95% confidence interval, low and high, of `wa` or of the `op` searched for.

        NaN of a run too short for one. None of results without one: computed numbers, those with
        `bounds` or `interval`, and tables, whose rows have one each.
        """
        return None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Least and greatest value that the resolution of the counters allows; None if unknown."""
        return None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Interval that holds the value with a probability, which a `level` beside it states."""
        return None

    @property
    def error_bar(self) -> tuple[float, float]:
        """Ends of the error bar of figures and tables: `ci`, `bounds` or `interval`; else NaN."""
        return self.ci or self.bounds or self.interval or (math.nan, math.nan)

    @property
    def unfinished(self) -> tuple[Any, ...]:
        """Parts that were asked for and not finished, each as it was asked for; empty if none.

        None stands for a part that was not chosen yet.
        """
        return ()

    def beside(self) -> dict[str, Any]:
        """Return what a report draws that is in no document, as `results/beside.py` has it."""
        return {}

    def _records(self) -> Iterable[Mapping[str, Any]]:
        """Return the record of each row of `to_frame`, as JSON types."""
        return [self.to_dict()]  # type: ignore[attr-defined]  # or a class has records of its own

    def to_frame(self) -> pl.DataFrame:
        """Return the result as a Polars data frame with the keys of `--json` as columns.

        Nested keys are joined by "_", and an interval `wa_ci95` is `wa_low` and `wa_high`.
        """
        return frame_of(self._records())


class OneLine:
    """A result that a shell shows as the line of `str`, in brackets: arrays would fill a page."""

    def __repr__(self) -> str:
        """Return the line, with the name of the class."""
        return f"<{type(self).__name__}: {self}>"
