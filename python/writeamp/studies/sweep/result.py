"""Result of a sweep: how many points were run, and their results as a table."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from writeamp.plots.spec import FigureSpec
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn, Picture
from writeamp.studies.study import StoreStats
from writeamp.studies.sweep.designs import Choice
from writeamp.studies.sweep.plan import SweepPlan
from writeamp.studies.sweep.results import SweepResults


@dataclass(frozen=True, repr=False, eq=False)
class Sweep(Drawn):
    """Result of a sweep: how many of its points were done, skipped or failed.

    Attributes:
        plan: what was asked for.
        kept: the folder in which the results are, and how many were there before.
        elapsed_s: seconds that all took.
        unfinished: the values of the axes, and the replica, of each point that an interruption left
            without a result; None stands for one that a search had not chosen yet.
    """

    plan: SweepPlan
    kept: StoreStats
    elapsed_s: float = field(compare=False)
    unfinished: tuple[Choice | None, ...] = ()

    @property
    def points(self) -> int:
        """Number of all points, of a search of those that it chose."""
        return len(self.plan.points)

    @property
    def out(self) -> Path:
        """The folder in which the results are."""
        return self.kept.out

    @property
    def done(self) -> int:
        """Number of points that were run now and found something."""
        return self.kept.done - self.kept.failed

    @property
    def skipped(self) -> int:
        """Number of points whose results were there already, also errors."""
        return self.kept.skipped

    @property
    def failed(self) -> int:
        """Number of points that were run now and failed."""
        return self.kept.failed

    @property
    def failed_before(self) -> int:
        """Number of points among the skipped whose result is an error."""
        return self.kept.failed_before

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each point that has a result, in the order of the plan.

        Columns: the axes; every other setting by its name, and every parameter of a spec as
        `workload.s`; `replica`, `seed`; `wa`, `wa_low` and `wa_high` (its 95% interval), `steady`;
        `<cause>_programs`, pages programmed by cause; what else the kind of points finds, such as
        `host_pages` or `latency_us.read.p99`; `elapsed_s`, `version`, `study` (a hash of what the
        point means but for its seed), `hash`, `error` (null if there is none) and `warnings`.

        Raises:
            WriteampError: the results cannot be read any more.
        """
        return self.results.to_frame()

    @cached_property
    def results(self) -> SweepResults:
        """The results of the points, with the ways to look at them.

        Raises:
            WriteampError: the results cannot be read any more.
        """
        return SweepResults.of(self.out, self.plan)

    def card(self) -> Card:
        """Return how many points came to what, and their results."""
        counts = (f"{getattr(self, name)} {name}" for name in ("done", "skipped", "failed"))
        found = self.results.card()
        return replace(found, title=f"Sweep of {self.points} points ({', '.join(counts)})")

    def figure(self) -> FigureSpec:
        """Describe what `SweepResults.curves` shows without an argument."""
        return self.results.figure()

    def plot(self, path: str | PathLike[str] | None = None, **axes: Any) -> Picture | None:
        """Draw lines to a .png, .svg, .pdf or .html file, or without a path in the notebook.

        Args:
            path: the file.
            axes: the arguments of `SweepResults.curves`: x, y, hue, facet, log_x, log_y.

        Returns:
            The picture that a notebook shows, if there is no path.

        Raises:
            WriteampError: as of `SweepResults.curves`, or the file cannot be written.
        """
        return self.results.curves(**axes).plot(path)

    @property
    def best(self) -> dict[str, Any] | None:
        """Best choice that a search found, with the mean of its goal; None of other sweeps."""
        search = self.plan.search
        frame = self.to_frame()
        if search is None or search.goal not in frame.columns:
            return None
        axes = list(self.plan.axes)
        means = frame.group_by(axes, maintain_order=True).agg(
            pl.col(search.goal).mean(), _failed=pl.col("error").is_not_null().any()
        )
        known = means.filter(~pl.col("_failed") & pl.col(search.goal).is_not_null())
        ranked = known.drop("_failed").sort(
            search.goal, descending=search.maximizes, maintain_order=True
        )
        return None if ranked.is_empty() else ranked.row(0, named=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON types, with the keys of `writeamp sweep --json`."""
        best = self.best if self.plan.search else None
        return {
            "points": self.points,
            "done": self.done,
            "skipped": self.skipped,
            "failed": self.failed,
            "failed_before": self.failed_before,
            "elapsed_s": self.elapsed_s,
            "out": str(self.out),
            **({} if best is None else {"best": best}),
        }

    def __repr__(self) -> str:
        """Return the counts in brackets."""
        return (
            f"<Sweep: {self.points} points, {self.done} done, {self.skipped} skipped, "
            f"{self.failed} failed, in {self.out}>"
        )
