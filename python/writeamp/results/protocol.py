"""Protocol of the results of `simulate`: names that each has, whatever its type."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import polars as pl

    from writeamp.plots.spec import FigureSpec
    from writeamp.results.card import Card
    from writeamp.results.drawn import Picture


class SimulationResult(Protocol):
    """A result of `simulate`: `Result`, `TimedResult` or `Mixture`.

    `Result` is of one drive, `TimedResult` of one in virtual time, and `Mixture` of all candidates
    of a learnt profile. Where a caller needs more than this protocol has, it calls
    `simulate_untimed` or `simulate_timed` (`studies/simulation.py`), whose results have one type.
    """

    @property
    def wa(self) -> float:
        """Write amplification."""

    @property
    def ci(self) -> tuple[float, float] | None:
        """The 95% confidence interval of `wa`; NaN of a short run, None of a learnt profile."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Interval of `wa` of a learnt profile; None of one drive."""

    @property
    def level(self) -> float | None:
        """Probability of `interval`; None without one."""

    @property
    def steady(self) -> bool:
        """True if this WA lasts."""

    @property
    def elapsed_s(self) -> float:
        """Seconds that it took to compute."""

    @property
    def load(self) -> Any:
        """The workload or the trace in pages; None of several drives, each with its own."""

    @property
    def series(self) -> pl.DataFrame | None:
        """One row for each sampling interval; None of several drives."""

    @property
    def warnings(self) -> list[str]:
        """Sentences that a reader of `wa` should know."""

    @property
    def notes(self) -> list[str]:
        """Sentences on what was assumed, left out or rounded."""

    def to_dict(self, *, series: bool = False, theory: bool = True) -> dict[str, Any]:
        """Return the result as JSON types, with the keys of `writeamp simulate --json`.

        Args:
            series: add the `series`, if there is one.
            theory: have "theory", if there is one, which may take longer than a short run.
        """

    def to_frame(self) -> pl.DataFrame:
        """Return the result as a data frame."""

    def card(self) -> Card:
        """Return the main facts in words, as a notebook and the command show them."""

    def beside(self) -> dict[str, Any]:
        """Return what a report draws that is in no document."""

    def figure(self) -> FigureSpec:
        """Describe the figure."""

    def plot(self, path: str | PathLike[str] | None = None) -> Picture | None:
        """Draw the figure to a file, or without a path return it for the notebook."""
