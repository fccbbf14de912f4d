"""Protocol of the results of `simulate`: the members that all their types have."""

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

    `Result` is the result of one drive, `TimedResult` of one drive in virtual time, and `Mixture`
    of all candidates (possible drives) of a learnt profile. For a result of a specific type, call
    `simulate_untimed` or `simulate_timed` (`studies/simulation.py`).
    """

    @property
    def wa(self) -> float:
        """Write amplification."""

    @property
    def ci(self) -> tuple[float, float] | None:
        """The 95% confidence interval of `wa`; NaN for a short run, None for a learnt profile."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Interval of `wa` for a learnt profile; None for one drive."""

    @property
    def level(self) -> float | None:
        """Probability of `interval`, or None."""

    @property
    def steady(self) -> bool:
        """True if WA reached a steady state."""

    @property
    def elapsed_s(self) -> float:
        """Run time of the computation in seconds."""

    @property
    def load(self) -> Any:
        """The workload or the trace in pages; None for several drives, each with its own."""

    @property
    def series(self) -> pl.DataFrame | None:
        """One row for each sampling interval; None for several drives."""

    @property
    def warnings(self) -> list[str]:
        """Sentences on limits of `wa`."""

    @property
    def notes(self) -> list[str]:
        """Sentences on assumptions, omissions and rounding."""

    def to_dict(self, *, series: bool = False, theory: bool = True) -> dict[str, Any]:
        """Return the result as JSON types, with the keys of `writeamp simulate --json`.

        Args:
            series: add the `series`, if any.
            theory: add the key "theory", if any; computing it may take longer than a short run.
        """

    def to_frame(self) -> pl.DataFrame:
        """Return the result as a data frame."""

    def card(self) -> Card:
        """Return the main values as text, for notebooks and the command."""

    def beside(self) -> dict[str, Any]:
        """Return data for a report's drawings that is not in the document."""

    def figure(self) -> FigureSpec:
        """Return the specification of the figure."""

    def plot(self, path: str | PathLike[str] | None = None) -> Picture | None:
        """Draw the figure to a file, or return it for the notebook if `path` is None."""
