"""Common interface of results: intervals, rows and unfinished steps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from writeamp.fields.arguments import checked
from writeamp.results.frames import frame_of

if TYPE_CHECKING:
    import polars as pl


class AnyResult:
    """Base class of results: intervals, `to_frame` and `unfinished`.

    A class with an interval overrides one of `ci`, `bounds` and `interval` by a property or by a
    field with a default. A class that Ctrl-C may leave incomplete overrides `unfinished`.
    """

    def __init_subclass__(cls) -> None:
        """Check the arguments of methods of all result classes."""
        super().__init_subclass__()
        checked(cls)

    @property
    def ci(self) -> tuple[float, float] | None:
        """The 95% confidence interval, low and high, of `wa` or of the required `op`.

        NaN if the run is too short. None for computed numbers, for results with `bounds` or
        `interval`, and for tables, which have an interval in each row.
        """
        return None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Lowest and highest value within the resolution of the counters; None if unknown."""
        return None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Interval that contains the value with the probability `level`; None if there is none."""
        return None

    @property
    def error_bar(self) -> tuple[float, float]:
        """Ends of the error bar in figures and tables: `ci`, `bounds` or `interval`; else NaN."""
        return self.ci or self.bounds or self.interval or (math.nan, math.nan)

    @property
    def unfinished(self) -> tuple[Any, ...]:
        """Requested steps, such as policies, that were not finished; empty if complete.

        Each unfinished step is an element in the form in which it was requested. An element is None
        if its step was not determined before Ctrl-C.
        """
        return ()

    def beside(self) -> dict[str, Any]:
        """Return data for drawings that is not in the document, see `results/beside.py`."""
        return {}

    def _records(self) -> Iterable[Mapping[str, Any]]:
        """Return the record of each row of `to_frame`, as JSON types."""
        return [self.to_dict()]  # type: ignore[attr-defined]  # unless the class overrides this

    def to_frame(self) -> pl.DataFrame:
        """Return the result as a Polars data frame with the keys of `--json` as columns.

        Nested keys are joined by "_", and an interval `wa_ci95` becomes `wa_low` and `wa_high`.
        """
        return frame_of(self._records())


class OneLine:
    """Mixin for results with large arrays: `repr` is the line of `str` in brackets."""

    def __repr__(self) -> str:
        """Return the name of the class and the line of `str`."""
        return f"<{type(self).__name__}: {self}>"
