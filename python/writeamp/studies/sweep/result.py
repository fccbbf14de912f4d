"""Result of a sweep: how many points were run, and a table of their results."""

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
    """Result of a sweep: counts of points that were run, skipped or failed.

    Attributes:
        plan: plan of the sweep.
        store_stats: counts of the results in the folder.
        elapsed_s: time taken, in seconds.
        unfinished: after an interruption, the values of the axes and the replica of each point
            without a result; None for a point that a search had not chosen yet.
    """

    plan: SweepPlan
    store_stats: StoreStats
    elapsed_s: float = field(compare=False)
    unfinished: tuple[Choice | None, ...] = ()

    @property
    def points(self) -> int:
        """Number of all points; for a search, of the points chosen so far."""
        return len(self.plan.points)

    @property
    def out(self) -> Path:
        """Folder of the results."""
        return self.store_stats.out

    @property
    def done(self) -> int:
        """Number of points that this call ran successfully."""
        return self.store_stats.done - self.store_stats.failed

    @property
    def skipped(self) -> int:
        """Number of points with results stored before, including errors."""
        return self.store_stats.skipped

    @property
    def failed(self) -> int:
        """Number of points that this call ran and that failed."""
        return self.store_stats.failed

    @property
    def failed_before(self) -> int:
        """Number of skipped points whose stored result is an error."""
        return self.store_stats.failed_before

    def to_frame(self) -> pl.DataFrame:
        """Return one row for each point that has a result, in the order of the plan.

        Columns: the axes; every other setting by its name, and every parameter of a spec, such as
        `workload.s`; `replica`, `seed`; `wa`, `wa_low` and `wa_high` (its 95% interval), `steady`;
        `<cause>_programs`, pages programmed by cause; further results of the kind of points, such
        as `host_pages` or `latency_us.read.p99`; `elapsed_s`, `version`, `study` (hash of the
        point's inputs without its seed), `hash`, `error` (or null) and `warnings`.

        Raises:
            WriteampError: the results can no longer be read.
        """
        return self.results.to_frame()

    @cached_property
    def results(self) -> SweepResults:
        """Results of the points, with methods that draw and select them.

        Raises:
            WriteampError: the results can no longer be read.
        """
        return SweepResults.of(self.out, self.plan)

    def card(self) -> Card:
        """Return the numbers of points by outcome, and the table of their results."""
        counts = (f"{getattr(self, name)} {name}" for name in ("done", "skipped", "failed"))
        card = self.results.card()
        return replace(card, title=f"Sweep of {self.points} points ({', '.join(counts)})")

    def figure(self) -> FigureSpec:
        """Return the figure of `SweepResults.curves` without arguments."""
        return self.results.figure()

    def plot(self, path: str | PathLike[str] | None = None, **axes: Any) -> Picture | None:
        """Draw lines to a .png, .svg, .pdf or .html file, or without a path in the notebook.

        Args:
            path: path of the file.
            axes: arguments of `SweepResults.curves`: x, y, hue, facet, log_x, log_y.

        Returns:
            The picture for a notebook, if no path is given.

        Raises:
            WriteampError: as for `SweepResults.curves`, or the file cannot be written.
        """
        return self.results.curves(**axes).plot(path)

    @property
    def best(self) -> dict[str, Any] | None:
        """Best values of the axes that a search found, with the mean goal; otherwise None."""
        search = self.plan.search
        frame = self.to_frame()
        if search is None or search.goal not in frame.columns:
            return None
        axes = list(self.plan.axes)
        means = frame.group_by(axes, maintain_order=True).agg(
            pl.col(search.goal).mean(), _failed=pl.col("error").is_not_null().any()
        )
        successful = means.filter(~pl.col("_failed") & pl.col(search.goal).is_not_null())
        ranked = successful.drop("_failed").sort(
            search.goal, descending=search.maximizes, maintain_order=True
        )
        return None if ranked.is_empty() else ranked.row(0, named=True)

    def _extremes(self) -> dict[str, Any] | None:
        """Return the settings with the lowest and the highest mean WA, as `sweep show` has them."""
        if "wa" not in self.results.tidy.frame.columns:
            return None
        groups = [group for group in self.results.groups() if group.mean is not None]
        if not groups:
            return None
        ends = [choice(groups, key=lambda group: group.mean or 0.0) for choice in (min, max)]
        return {
            "parameters": list(self.results.tidy.parameters),
            "rows": [group.to_dict() for group in ends],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON types, with the keys of `writeamp sweep --json`."""
        best = self.best if self.plan.search else None
        extremes = None if self.plan.search else self._extremes()
        return {
            "points": self.points,
            "done": self.done,
            "skipped": self.skipped,
            "failed": self.failed,
            "failed_before": self.failed_before,
            "elapsed_s": self.elapsed_s,
            "out": str(self.out),
            **({} if best is None else {"best": best}),
            **({} if extremes is None else {"extremes": extremes}),
        }

    def __repr__(self) -> str:
        """Return the numbers of points in angle brackets."""
        return (
            f"<Sweep: {self.points} points, {self.done} done, {self.skipped} skipped, "
            f"{self.failed} failed, in {self.out}>"
        )
