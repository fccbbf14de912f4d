"""Function `writeamp.sweep`: run the points of a sweep that have no stored results yet."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace

from writeamp.errors import Interrupted, WriteampError
from writeamp.runners import Progress, Runner, check_callbacks, runner_of
from writeamp.studies.shards import Keep
from writeamp.studies.study import RunStore, keep_runs
from writeamp.studies.sweep.designs import Choice
from writeamp.studies.sweep.plan import PlanLike, SweepPlan, plan_of
from writeamp.studies.sweep.points import (
    Point,
    PointCodec,
    PointOutcome,
    SweepDataset,
    failure_at,
    lost_point,
    run_point,
)
from writeamp.studies.sweep.result import Sweep


def sweep(
    plan: PlanLike,
    *,
    keep: Keep,
    retry_failed: bool = False,
    runner: Runner | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Run every point of a sweep that has no result yet, and store the results in a folder.

    Args:
        plan: a .toml file with an experiment and a table `[sweep]`, a mapping with the same keys
            (docs/sweeps.md), or a checked `SweepPlan`.
        keep: folder of the results, created if it does not exist. Points with stored results are
            not run again; other sweeps may use the same folder, also at the same time. Of several
            folders, such as those of shards, the results of the others are copied to the first.
        retry_failed: whether to run points again whose stored result is an error.
        runner: runner of the points: `Here()`, `Threads()`, or that of `with runner_of(…)` for
            processes of this machine or a Dask scheduler (all in `wa.runners`). By default one
            process per processor, or threads of this process if Dask (extra `cluster`) is missing.
        progress: called with the number of points run and the total number to run.

    Returns:
        `Sweep`: `points`, `done`, `failed`, `best`, `results` (a `SweepResults`), `unfinished`.

    Raises:
        WriteampError: the plan is invalid, which is checked before any point is run; or results
            cannot be written, and those already written stay.
        Interrupted: Ctrl-C; it carries the partial `Sweep`.

    >>> import tempfile
    >>> import writeamp as wa
    >>> plan = {
    ...     "verb": "predict",
    ...     "sweep": {"axes": {"op": [0.1, 0.2], "model": ["expected-value", "markov"]}},
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = wa.sweep(plan, keep=folder, runner=wa.runners.Here())
    ...     again = wa.sweep(plan, keep=folder, runner=wa.runners.Here())
    ...     first.done, again.skipped, first.to_frame()["wa"].round(3).to_list()
    (4, 4, [5.677, 5.451, 3.188, 3.119])
    """
    check_callbacks(progress, runner)
    with runner_of() if runner is None else nullcontext(runner) as running:
        checked_plan = plan_of(plan)

        def study(store: RunStore) -> Sweep:
            if store.shard is not None:
                _run_shard(checked_plan, store, running, progress, retry_failed=retry_failed)
            return _SweepRun(checked_plan, store, progress).done(running, retry_failed=retry_failed)

        return keep_runs(keep, study, SweepDataset)


def _run_shard(
    plan: SweepPlan,
    store: RunStore,
    runner: Runner,
    progress: Progress | None,
    *,
    retry_failed: bool,
) -> None:
    """Run the points of one shard.

    Raises:
        ShardDone: always, unless an error occurs.
        WriteampError: the sweep is a search.
    """
    if plan.search is not None:
        raise WriteampError(
            "a search has no shards, because each of its points depends on results before it; "
            "leave --shard out, or give several --workers"
        )
    store.gather(
        PointCodec(),
        runner,
        run_point,
        [replace(point, place=place) for place, point in enumerate(plan.points)],
        lost=lost_point,
        files={name for point in plan.points for name in point.files},
        again=_has_failed if retry_failed else None,
        failure=_failure,
        progress=progress,
    )


class _SweepRun:
    """State of one call of `sweep`: the points chosen so far, and the goal's value at each."""

    def __init__(self, plan: SweepPlan, store: RunStore, progress: Progress | None) -> None:
        self._plan = plan
        self._store = store
        self._progress = progress
        self._started = time.perf_counter()
        self._chosen: dict[str, Point] = {}
        self._goals: dict[str, float | None] = {}
        self._merged = plan.merged
        self._runs = self._skipped = 0

    def done(self, runner: Runner, *, retry_failed: bool) -> Sweep:
        """Run all points without a stored result, and return the result of the sweep."""
        codec = PointCodec(for_search=self._plan.search is not None)
        try:
            for points in self._plan.rounds(lambda point: self._goals.get(point.hash)):
                new = self._choose(points)
                stored = self._store.skip(codec, new, _has_failed if retry_failed else None)
                for index, outcome in stored.items():
                    self._note_goal(new[index], outcome, is_new=False)
                self._skipped += len(stored)
                self._report()
                pending = [point for index, point in enumerate(new) if index not in stored]
                files = {name for point in pending for name in point.files}
                for point, outcome in self._store.results(
                    codec, runner, run_point, pending, lost=lost_point, files=files
                ):
                    self._runs += 1
                    self._note_goal(point, outcome, is_new=True)
                    self._report()
        except KeyboardInterrupt:
            partial_result = self._result()
            unfinished = self._unfinished(partial_result.plan.points)
            raise Interrupted(replace(partial_result, unfinished=unfinished)) from None
        return self._result()

    def _choose(self, points: Sequence[Point]) -> list[Point]:
        """Return the points that are new in this call, each once, numbered in order."""
        by_hash = {point.hash: point for point in points if point.hash not in self._chosen}
        first = len(self._chosen)
        new = [replace(point, place=first + index) for index, point in enumerate(by_hash.values())]
        self._merged += len(points) - len(new)
        self._chosen |= {point.hash: point for point in new}
        return new

    def _note_goal(self, point: Point, outcome: PointOutcome, *, is_new: bool) -> None:
        """Store the value of the search goal at a point.

        Raises:
            WriteampError: the result of the first point that is run does not contain the goal.
        """
        if self._plan.search is None or outcome.result is None:
            return
        try:
            self._goals[point.hash] = self._plan.search.value(outcome.result)
        except WriteampError:
            if is_new and not self._goals:
                raise

    def _report(self) -> None:
        if self._progress:
            self._progress(self._runs, self._plan.expected_points - self._skipped)

    def _result(self) -> Sweep:
        points = tuple(self._chosen.values()) if self._plan.search else self._plan.points
        stats = self._store.stats()
        assert stats is not None
        elapsed_s = time.perf_counter() - self._started
        return Sweep(replace(self._plan, points=points, merged=self._merged), stats, elapsed_s)

    def _unfinished(self, points: Sequence[Point]) -> tuple[Choice | None, ...]:
        finished = self._store.finished()
        unfinished_points = [point for point in points if point.hash not in finished]
        merged = self._merged - self._plan.merged
        unchosen = self._plan.expected_points - len(points) - merged
        return (
            *(point.coordinates for point in unfinished_points),
            *(None,) * unchosen,
        )


def _failure(point: Point, outcome: PointOutcome) -> str | None:
    return None if outcome.error is None else failure_at(point.coordinates, outcome.error)


def _has_failed(outcome: PointOutcome) -> bool:
    return outcome.error is not None
