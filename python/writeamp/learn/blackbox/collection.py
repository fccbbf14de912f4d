"""Collection of measurements: a target (drive) at the points (workloads) of a design."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from writeamp.errors import Interrupted, WriteampError
from writeamp.fields.domains import file_name
from writeamp.files import output
from writeamp.learn.blackbox.active import (
    PointLearner,
    ProcessLearner,
    candidates,
    first_points,
    next_points,
)
from writeamp.learn.blackbox.designs import ACTIVE, Design, once_each
from writeamp.learn.blackbox.measurement_file import (
    Row,
    TargetRows,
    add_rows,
    point_of,
    read_rows,
    runs_folder,
    table_of,
)
from writeamp.learn.blackbox.space import WorkloadPoint
from writeamp.learn.blackbox.targets.target import (
    MeasurementOutcome,
    MeasurementTarget,
    PointJob,
    lost_point,
    measure_point,
)
from writeamp.plots.figures.blackbox import points_by_outcome
from writeamp.plots.spec import BarChart
from writeamp.results.card import Card
from writeamp.results.documents import from_document, to_document
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import shown_value
from writeamp.runners import Progress
from writeamp.studies import study
from writeamp.studies.dataset import locked
from writeamp.studies.study import DocumentCodec, RunFacts, RunStore, keep_runs
from writeamp.system import LOCK_EX

# Active learning models latency only; bandwidth and throughput follow from it by Little's law.
_LEARNT = "latency_us"
# Labels of the values of `Collected` for readers.
_LABELS = {
    "points": "points of the design",
    "done": "points measured now",
    "skipped": "points skipped, as the file already has them",
    "failed": "points that failed now",
    "elapsed_s": "time in s",
    "out": "file",
}


@dataclass(frozen=True, eq=False)
class Collected(Drawn):
    """Outcome of a collection: its file and counts of its points.

    Attributes:
        out: the file of the measurements.
        points: number of points (workloads) of the design, without the merged ones.
        done: number of points that this call measured successfully.
        skipped: number of points already in the file or its folder, including failures.
        failed: number of points that this call could not measure.
        merged: number of points of the design that this target can only run like an earlier point,
            so they are not measured.
        errors: messages of the failures, without repetitions.
        warnings: warnings about the state of the target.
        elapsed_s: seconds of the whole collection.
        unfinished: points that an interruption left unmeasured; None for each point that active
            learning had not chosen yet.
        store_stats: statistics of the folder beside the file, in which each point is saved.
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
    store_stats: study.StoreStats | None = field(default=None, compare=False)

    def card(self) -> Card:
        """Return the number of points of each outcome."""
        rows = [(_LABELS[name], shown_value(value)) for name, value in self.to_dict().items()]
        merged = (
            f"{self.merged} points of the design are equal to earlier points on this target, "
            "and are measured only once"
        )
        notes = [merged, *self.errors]
        return Card(f"Measurements in {self.out}", rows, warnings=self.warnings, notes=notes)

    def figure(self) -> BarChart:
        """Return bars of the number of points by outcome."""
        names = ("done", "skipped", "failed", "merged")
        return points_by_outcome(
            {name: getattr(self, name) for name in names}, subtitle=f"of {self.points:,} points"
        )

    def to_frame(self) -> pl.DataFrame:
        """Return the measurements in the file, a row for each point."""
        return table_of(read_rows(self.out))

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
    target: MeasurementTarget,
    *,
    out: str | os.PathLike[str],
    design: Design | None = None,
    retry_failed: bool = False,
    learner: PointLearner | None = None,
    progress: Progress | None = None,
) -> Collected:
    """Measure a target at the points of a design, and save the measurements in a file.

    Args:
        target: the target to measure.
        out: a Parquet file, made if it does not exist. Points in this file are not measured again,
            nor points in the folder `out` + ".runs", where each point is saved when it is done. The
            same call after an interruption measures the remaining points.
        design: kind and number of points; 600 points of the mixed design if None.
        retry_failed: whether points that failed before are measured again.
        learner: model that chooses the points of the active design; a Gaussian process if None.
        progress: called with the number of points done, and of all points to measure.

    Returns:
        `Collected`: `points`, `done`, `failed`, `errors`, `out`, `unfinished`.

    Raises:
        WriteampError: the design or the file is not valid, or the target cannot be measured.
        Interrupted: Ctrl-C; it holds the `Collected` so far.
    """
    file, chosen_design = Path(file_name(out)), design or Design()
    output.check_target(file, "measurements")
    rows = read_rows(file)
    return keep_runs(
        runs_folder(file),
        lambda store: _Run(
            target, file, rows, chosen_design, store, retry_failed=retry_failed, progress=progress
        ).done(learner),
    )


class _Run:
    """State of one call of `collect`: its points and their outcomes so far."""

    def __init__(
        self,
        target: MeasurementTarget,
        file: Path,
        rows: Sequence[Row],
        design: Design,
        store: RunStore,
        *,
        retry_failed: bool,
        progress: Progress | None,
    ) -> None:
        self.target = target
        self.design = design
        self.merged = 0
        self._account = TargetRows(target)
        self._file = file
        self._kept = store
        self._retry_failed = retry_failed
        self._progress = progress
        self._started = time.perf_counter()
        self._errors: dict[str, None] = {}
        self._warnings: tuple[str, ...] = ()
        self._is_prepared = False
        self._done = self._failed = self._skipped = 0
        self._chosen: list[WorkloadPoint] = []
        self._chosen_before = 0
        self._row_of = {
            row["hash"]: row
            for row in table_of(rows).iter_rows(named=True)
            if row["target_hash"] == self._account.target_hash and not self._is_again(row["error"])
        }
        self._new_rows: list[Row] = []

    def done(self, learner: PointLearner | None) -> Collected:
        """Measure the points of the design that the file lacks, and add their rows to it."""
        if self.design.kind == ACTIVE:
            rounds = _learnt(self, learner or ProcessLearner(self.design.seed))
        else:
            rounds = _listed(self)
        try:
            with ExitStack() as in_use:
                for points in rounds:
                    self._measure(points, in_use)
        except KeyboardInterrupt:
            self._write()
            raise Interrupted(replace(self._found(), unfinished=self.unmeasured())) from None
        except BaseException:
            with suppress(WriteampError):  # nothing is lost: the folder also holds the points
                self._write()
            raise
        self._write()
        return self._found()

    def rows(self, design: str | None = None) -> list[Row]:
        """Return the rows of points that need no measurement: of all designs, or of one design."""
        return [row for row in self._row_of.values() if design is None or row["design"] == design]

    def usual_rows(self) -> list[Row]:
        """Return the rows that need no measurement, only those of full drives in the long run."""
        return [row for row in self.rows() if not point_of(row).is_in_a_state]

    def skip(self, points: int) -> None:
        """Add points that an earlier call measured to the number of skipped points."""
        self._skipped += points
        self._chosen_before += points

    def _measure(self, points: Sequence[WorkloadPoint], in_use: ExitStack) -> None:
        """Measure the points of a round that the file lacks."""
        self._chosen += points
        todo = [point for point in points if self._account.hash_of(point) not in self._row_of]
        self._skipped += len(points) - len(todo)
        jobs, keeping = [self.target.job(point) for point in todo], KeepPoints(self.target)

        def again(outcome: MeasurementOutcome) -> bool:
            return self._is_again(outcome.error)

        saved = self._kept.skip(keeping, jobs, again)
        self._skipped += len(saved)
        self._report(0)
        if len(saved) < len(jobs):
            self._prepare(saved.values(), in_use)
        outcomes: Mapping[int, MeasurementOutcome] = {}
        try:
            gathered = self._kept.gather(
                keeping,
                self.target.runner(len(jobs)),
                measure_point,
                jobs,
                lost=lost_point,
                again=again,
                progress=lambda done, _: self._report(done - len(saved)),
            )
            outcomes = dict(enumerate(gathered))
        except Interrupted as stopped:
            outcomes = stopped.finished
            raise
        finally:
            for at in sorted(outcomes):
                self._note(outcomes[at], is_new=at not in saved)

    def _prepare(self, saved: Collection[MeasurementOutcome], in_use: ExitStack) -> None:
        """Prepare the target's state once, before the first point is measured."""
        if self._is_prepared:
            return
        errors = [row["error"] for row in self.rows()] + [outcome.error for outcome in saved]
        context = self.target.prepared(is_prepared=None in errors)
        self._warnings = tuple(in_use.enter_context(context))
        self._is_prepared = True

    def _is_again(self, error: str | None) -> bool:
        return self._retry_failed and error is not None

    def _note(self, outcome: MeasurementOutcome, *, is_new: bool) -> None:
        row = self._account.row(outcome, self.design.kind)
        self._row_of[row["hash"]] = row
        self._new_rows.append(row)
        if is_new and outcome.error is None:
            self._done += 1
        elif is_new:
            self._failed += 1
            self._errors[str(outcome.error)] = None

    def _report(self, new: int) -> None:
        if self._progress:
            to_do = self.design.points - self.merged - self._skipped
            self._progress(self._done + self._failed + new, to_do)

    def _write(self) -> None:
        """Add the rows to the file, which another collection may have changed meanwhile."""
        with locked(runs_folder(self._file), LOCK_EX):
            add_rows(self._file, self._new_rows)

    def _found(self) -> Collected:
        return Collected(
            out=self._file,
            points=self.design.points - self.merged,
            done=self._done,
            skipped=self._skipped,
            failed=self._failed,
            merged=self.merged,
            errors=tuple(self._errors),
            warnings=self._warnings,
            elapsed_s=time.perf_counter() - self._started,
        )

    def unmeasured(self) -> tuple[WorkloadPoint | None, ...]:
        """Return the points of the design without a result; None for those not chosen yet."""
        left = [point for point in self._chosen if self._account.hash_of(point) not in self._row_of]
        unchosen = self.design.points - self.merged - self._chosen_before - len(self._chosen)
        return (*left, *(None,) * unchosen)


def _listed(run: _Run) -> Iterator[Sequence[WorkloadPoint]]:
    """Yield all points of a design that does not depend on results, as one round."""
    requested = run.design.listed(run.target.space_bytes)
    distinct = once_each(map(run.target.nearest, requested))
    run.merged = len(requested) - len(distinct)
    yield distinct


def _learnt(run: _Run, learner: PointLearner) -> Iterator[Sequence[WorkloadPoint]]:
    """Yield rounds of the least certain points, until the design has its number of points.

    Points that an earlier call measured count toward this number, even if it was interrupted.
    """
    points, seed = run.design.points, run.design.seed
    chosen = min(len(run.rows(ACTIVE)), points)
    run.skip(chosen)
    left = points - chosen
    first = once_each(map(run.target.nearest, first_points(points, seed)))
    measured_points = {point_of(row) for row in run.usual_rows()}
    new = [point for point in first if point not in measured_points][:left]
    yield new
    left -= len(new)
    pool = once_each(map(run.target.nearest, candidates(seed)))
    while left > 0:
        rows = run.usual_rows()
        good = [row for row in rows if row["error"] is None]
        if not good:
            raise WriteampError(
                f"all of the first {len(rows)} points failed; the first error is: "
                f"{rows[0]['error']}"
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


class KeepPoints(DocumentCodec[PointJob, MeasurementOutcome]):
    """Codec that saves outcomes of points on one target, including failures."""

    verb = "blackbox collect"

    def __init__(self, target: MeasurementTarget) -> None:
        """Set the target."""
        self._target = target

    def meaning(self, job: PointJob) -> dict[str, Any]:
        """Return the settings of the target and the point, which decide the measurement."""
        target = {"kind": self._target.kind, **self._target.meaning}
        return {"target": target, "point": job.point.to_dict()}

    def facts(self, job: PointJob, result: MeasurementOutcome) -> RunFacts:
        """Return the workload, the seed, and WA if known."""
        wa = None if result.measured is None else result.measured.wa
        return RunFacts(job.point.spec, self._target.seed, wa, result.error)

    def document(self, job: PointJob, result: MeasurementOutcome) -> Any:
        """Return the outcome as JSON types, without its point."""
        del job
        return to_document(result, without=("point",))

    def result(self, job: PointJob, document: Any) -> MeasurementOutcome:
        """Return the outcome of a point from its document."""
        outcome = from_document(MeasurementOutcome, document, point=job.point)
        assert isinstance(outcome, MeasurementOutcome)
        if (outcome.measured is None) == (outcome.error is None):
            raise WriteampError(
                "a saved point needs either a measurement or an error, not both or neither"
            )
        return outcome
