"""Collection of measurements: a target is measured at the points of a design."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from writeamp.blackbox.active import (
    Learner,
    ProcessLearner,
    candidates,
    first_points,
    next_points,
)
from writeamp.blackbox.designs import ACTIVE, Design, once_each
from writeamp.blackbox.ledger import Ledger
from writeamp.blackbox.rows import Account, Row, point_of
from writeamp.blackbox.space import WorkloadPoint
from writeamp.blackbox.targets.target import Outcome, Target
from writeamp.errors import Interrupted, WriteampError
from writeamp.plots.figures.blackbox import points_by_outcome
from writeamp.plots.spec import BarChart
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn

Progress: TypeAlias = Callable[[int, int], None]

# What active learning learns; bandwidth and throughput follow from it by Little's law.
_LEARNT = "latency_us"


@dataclass(frozen=True, eq=False)
class Collected(Drawn):
    """Outcome of a collection: its file and counts of its points.

    Attributes:
        out: the file of the measurements.
        points: those of the design.
        done: those that were measured now.
        skipped: those whose measurements were in the file already, also failures.
        failed: those that could not be measured now.
        merged: points of the design that are the same on this target as an earlier one.
        errors: why points failed, each sentence once.
        warnings: what a reader of the measurements should know of the target's state.
        elapsed_s: seconds that all took.
        unfinished: points that an interruption left without a measurement; None stands for one that
            active learning had not chosen yet.
    """

    out: Path
    points: int
    done: int
    skipped: int
    failed: int
    merged: int
    errors: tuple[str, ...]
    warnings: tuple[str, ...]
    elapsed_s: float = field(compare=False)
    unfinished: tuple[WorkloadPoint | None, ...] = ()

    def card(self) -> Card:
        """Return the number of points of each outcome."""
        names = ("points", "done", "skipped", "failed", "merged")
        rows = [(name, f"{getattr(self, name):,}") for name in names]
        return Card(f"Measurements in {self.out}", rows, warnings=self.warnings, notes=self.errors)

    def figure(self) -> BarChart:
        """Describe what became of the points."""
        names = ("done", "skipped", "failed", "merged")
        return points_by_outcome(
            {name: getattr(self, name) for name in names}, subtitle=f"of {self.points:,} points"
        )

    def to_frame(self) -> pl.DataFrame:
        """Return the measurements in the file, a row for each point."""
        return Ledger.read(self.out)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON types, with the keys of `blackbox collect --json`."""
        return {
            "points": self.points,
            "done": self.done,
            "skipped": self.skipped,
            "failed": self.failed,
            "elapsed_s": self.elapsed_s,
            "out": str(self.out),
        }


def collect(
    target: Target,
    *,
    out: str | os.PathLike[str],
    design: Design | None = None,
    retry_failed: bool = False,
    learner: Learner | None = None,
    progress: Progress | None = None,
) -> Collected:
    """Measure a target at the points of a design, and keep the measurements in a file.

    Args:
        target: what is measured.
        out: a Parquet file, made if there is none. Points that it has measurements of are not
            measured again, so that the same call goes on after an interruption.
        design: which points, and how many; 600 of the grid if None.
        retry_failed: measure points again that could not be measured before.
        learner: what the active design learns by; a Gaussian process if None.
        progress: called with the points done, and all that are to be measured.

    Raises:
        WriteampError: the design or the file cannot be, or the target cannot be measured at all.
        Interrupted: Ctrl-C, with the `Collected` as far as it came.
    """
    started = time.perf_counter()
    asked = design or Design()
    with Ledger.writing(out) as ledger:
        run = _Run(target, ledger, asked, retry_failed=retry_failed, progress=progress)
        if asked.kind == ACTIVE:
            rounds = _learnt(run, learner or ProcessLearner(asked.seed))
        else:
            rounds = _listed(run)
        try:
            run.measure(rounds)
        except KeyboardInterrupt:
            found = run.found(Path(out), time.perf_counter() - started)
            raise Interrupted(replace(found, unfinished=run.unmeasured())) from None
        return run.found(Path(out), time.perf_counter() - started)


class _Run:
    """State of one call of `collect`: its points and their outcomes so far."""

    def __init__(
        self,
        target: Target,
        ledger: Ledger,
        design: Design,
        *,
        retry_failed: bool,
        progress: Progress | None,
    ) -> None:
        self.target = target
        self.account = Account(target)
        self.design = design
        self.merged = 0
        self._ledger = ledger
        self._progress = progress
        self._errors: dict[str, None] = {}
        self._warnings: tuple[str, ...] = ()
        self._done = self._failed = self._skipped = 0
        self._chosen: list[WorkloadPoint] = []
        self._chosen_before = 0
        self._of_target = {
            row["hash"]: row
            for row in ledger.table().iter_rows(named=True)
            if row["target_hash"] == self.account.target_hash
        }
        self._known = {
            name
            for name, row in self._of_target.items()
            if row["error"] is None or not retry_failed
        }

    def rows(self, design: str | None = None) -> list[Row]:
        """Return the rows that need no measurement, or those of them that a design asked for."""
        rows = [row for name, row in self._of_target.items() if name in self._known]
        return [row for row in rows if design is None or row["design"] == design]

    def measure(self, rounds: Iterable[Sequence[WorkloadPoint]]) -> None:
        """Measure the points of each round that have no row."""
        was_measured = any(row["error"] is None for row in self.rows())
        is_ready = False
        for points in rounds:
            self._chosen += points
            todo = [one for one in points if self.account.hash_of(one) not in self._known]
            self._skipped += len(points) - len(todo)
            self._tell()
            if todo and not is_ready:
                self._warnings = tuple(self.target.prepare(is_prepared=was_measured))
                is_ready = True
            for outcome in self.target.measured(todo):
                self._note(outcome)

    def skip(self, points: int) -> None:
        """Count points that were measured by an earlier call."""
        self._skipped += points
        self._chosen_before += points

    def found(self, out: Path, elapsed_s: float) -> Collected:
        return Collected(
            out=out,
            points=self.design.points - self.merged,
            done=self._done,
            skipped=self._skipped,
            failed=self._failed,
            merged=self.merged,
            errors=tuple(self._errors),
            warnings=self._warnings,
            elapsed_s=elapsed_s,
        )

    def unmeasured(self) -> tuple[WorkloadPoint | None, ...]:
        """Return the points of the design that have no row."""
        left = [one for one in self._chosen if self.account.hash_of(one) not in self._known]
        unchosen = self.design.points - self.merged - self._chosen_before - len(self._chosen)
        return (*left, *(None,) * unchosen)

    def _note(self, outcome: Outcome) -> None:
        row = self.account.row(outcome, self.design.kind)
        self._ledger.add(row)
        self._of_target[row["hash"]] = row
        self._known.add(row["hash"])
        if outcome.error is None:
            self._done += 1
        else:
            self._failed += 1
            self._errors[outcome.error] = None
        self._tell()

    def _tell(self) -> None:
        if self._progress:
            to_do = self.design.points - self.merged - self._skipped
            self._progress(self._done + self._failed, to_do)


def _listed(run: _Run) -> Iterator[Sequence[WorkloadPoint]]:
    """Give the points of a design that needs no results, as one round."""
    asked = run.design.listed()
    found = once_each(map(run.target.nearest, asked))
    run.merged = len(asked) - len(found)
    yield found


def _learnt(run: _Run, learner: Learner) -> Iterator[Sequence[WorkloadPoint]]:
    """Give rounds of points of which least is known, until there are as many as were asked for.

    Points that an earlier call chose count among them, whatever it was interrupted by.
    """
    points, seed = run.design.points, run.design.seed
    chosen = min(len(run.rows(ACTIVE)), points)
    run.skip(chosen)
    left = points - chosen
    first = once_each(map(run.target.nearest, first_points(points, seed)))
    known = {point_of(row) for row in run.rows()}
    new = [point for point in first if point not in known][:left]
    yield new
    left -= len(new)
    pool = once_each(map(run.target.nearest, candidates(seed)))
    while left > 0:
        rows = run.rows()
        good = [row for row in rows if row["error"] is None]
        if not good:
            raise WriteampError(
                f"none of the first {len(rows)} points could be measured: {rows[0]['error']}"
            )
        measured = {point_of(row) for row in rows}
        batch = next_points(
            [point_of(row) for row in good],
            np.array([row[_LEARNT] for row in good]),
            [point for point in pool if point not in measured],
            most=left,
            learner=learner,
        )
        if not batch:
            return
        yield batch
        left -= len(batch)
