"""Account of a sweep while it runs: points that have a result, and their outcomes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from writeamp.errors import unknown
from writeamp.studies.dataset import KEY
from writeamp.studies.sweep.designs import Choice
from writeamp.studies.sweep.kinds.kind import Found
from writeamp.studies.sweep.plan import Plan
from writeamp.studies.sweep.points import Outcome, Point
from writeamp.studies.sweep.result import Sweep
from writeamp.studies.sweep.rows import SweepDataset

_Key = tuple[str, str]


class Account:
    """The points of a sweep so far, and their outcomes, each counted once."""

    def __init__(self, dataset: SweepDataset, plan: Plan, *, retry_failed: bool) -> None:
        """Begin with the results that are there; failed points count as not run if asked for."""
        self._plan = plan
        self._points: dict[_Key, Point] = {}
        self._merged = plan.merged
        self._ok = self._failed = self._skipped = self._failed_before = 0
        self._error_of: dict[_Key, str | None] = {
            (one, version): error
            for one, version, error in dataset.keys().rows()
            if error is None or not retry_failed
        }
        self._known_goals = {} if plan.search is None else _goals_in(dataset, plan.search.goal)
        self._goals: dict[_Key, float | None] = {}

    @property
    def run(self) -> int:
        """Points that were run now."""
        return self._ok + self._failed

    @property
    def expected_runs(self) -> int:
        """Points that are to be run now, as far as is known."""
        return self._plan.expected_points - self._skipped

    def begin(self, points: Sequence[Point]) -> list[Point]:
        """Begin points, and return those that have no result."""
        known = len(self._points)
        found = {point.key: point for point in points if point.key not in self._points}
        new = {
            key: replace(point, place=known + at) for at, (key, point) in enumerate(found.items())
        }
        todo = [point for point in new.values() if point.key not in self._error_of]
        self._merged += len(points) - len(new)
        self._skipped += len(new) - len(todo)
        self._failed_before += sum(self._error_of.get(key) is not None for key in new)
        self._points |= new
        self._goals |= {key: one for key, one in self._known_goals.items() if key in new}
        return todo

    def note(self, outcome: Outcome) -> None:
        """Count an outcome.

        Raises:
            WriteampError: the first point that found something found no goal of the search.
        """
        if outcome.error is None:
            self._ok += 1
        else:
            self._failed += 1
        if self._plan.search is not None and outcome.found is not None:
            self._note_goal(self._plan.search.goal, outcome.point.key, outcome.found)

    def recount(self, kept: Mapping[_Key, bool]) -> None:
        """Count what was kept, and whether it failed: Ctrl-C may come before an outcome counts."""
        self._failed = sum(kept.values())
        self._ok = len(kept) - self._failed

    def goal_of(self, point: Point) -> float | None:
        """Return the goal of a search as a point found it; None if it did not."""
        return self._goals.get(point.key)

    def without_result(self, kept: Iterable[_Key]) -> tuple[Choice | None, ...]:
        """Return the points that have no result, of which some were kept now."""
        has_result = self._error_of.keys() | set(kept)
        left = [one for one in self._chosen if one.key not in has_result]
        merged = self._merged - self._plan.merged
        unchosen = self._plan.expected_points - len(self._chosen) - merged
        return (*(one.choice | {"replica": one.replica} for one in left), *(None,) * unchosen)

    @property
    def _chosen(self) -> tuple[Point, ...]:
        return tuple(self._points.values()) if self._plan.search else self._plan.points

    def result(self, out: Path, *, elapsed_s: float) -> Sweep:
        """Return the result of the sweep."""
        return Sweep(
            plan=replace(self._plan, points=self._chosen, merged=self._merged),
            out=out,
            done=self._ok,
            skipped=self._skipped,
            failed=self._failed,
            failed_before=self._failed_before,
            elapsed_s=elapsed_s,
        )

    def _note_goal(self, goal: str, key: _Key, found: Found) -> None:
        numbers = {"wa": found.wa} | dict(found.measures)
        if goal not in numbers and not self._goals:
            known = [name for name, one in numbers.items() if _number(one) is not None]
            raise unknown("goal of the search", goal, known)
        self._goals[key] = _number(numbers.get(goal))


def _goals_in(dataset: SweepDataset, goal: str) -> dict[_Key, float | None]:
    rows = dataset.rows()
    found: dict[_Key, float | None] = {}
    for one, version, wa, measures in rows.select(*KEY, "wa", "measures").rows():
        if measures is not None:
            numbers = {"wa": wa} | json.loads(measures)
            if goal in numbers:
                found[one, version] = _number(numbers[goal])
    return found


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None  # type: ignore[arg-type]
