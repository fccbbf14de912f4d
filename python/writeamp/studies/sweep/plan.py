"""Plan of a sweep, from a file or a mapping: an experiment, its axes and its points."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from writeamp._engine import __version__
from writeamp.devices import toml_text
from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import POSITIVE_COUNT, file_name, shown
from writeamp.runs.seeds import replica_seed
from writeamp.studies.sweep.axes import Axis, BoundedAxis, Value, axes_of
from writeamp.studies.sweep.designs import MOST_POINTS, SEARCH, Choice, SweepDesign
from writeamp.studies.sweep.kinds.kind import PointKind, PointTask
from writeamp.studies.sweep.kinds.registry import find_kind
from writeamp.studies.sweep.points import Point
from writeamp.studies.sweep.search import SEARCH_KEYS, GoalOf, Search, lowest

PlanLike: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any] | SweepPlan"

_KEYS = ("kind", "axes", "design", "samples", "design_seed", "zip", "replicas", *SEARCH_KEYS)


@dataclass(frozen=True)
class SweepPlan:
    """Checked sweep: the names of its axes, and its points, each once.

    A point is one combination of the axes' values, with one seed. `merged` is the number of points
    that equal an earlier point and are left out of `points`. `requested_points` includes them, in
    the order of the `design`, with the replicas of a combination next to each other. `drawn` names
    the axes whose values the design draws. A `search` has no design, and its points are chosen
    while it runs.
    """

    kind: str
    axes: tuple[str, ...]
    points: tuple[Point, ...] = ()
    merged: int = 0
    replicas: int = 1
    search: Search | None = None
    design: SweepDesign | None = None
    drawn: tuple[str, ...] = ()
    requested_points: tuple[Point, ...] = ()

    @property
    def expected_points(self) -> int:
        """Number of points; for a search, the largest possible number."""
        return self.search.trials * self.replicas if self.search else len(self.points)

    def rounds(self, goal_of: GoalOf) -> Iterator[Sequence[Point]]:
        """Yield the points in rounds; the points of a round can run at the same time.

        Args:
            goal_of: returns the value of the search goal at a point of an earlier round, or None if
                that point failed.
        """
        if self.search is None:
            yield self.points
        else:
            yield from self.search.rounds(goal_of)


def plan_of(plan: PlanLike) -> SweepPlan:
    """Return the plan of a .toml file, or of a mapping with the same keys.

    Paths in a file are relative to its folder.

    Raises:
        WriteampError: the file or a point is invalid. Every point is checked; of a search, only
            points at the ends of its axes.
    """
    if isinstance(plan, SweepPlan):
        return plan
    if isinstance(plan, Mapping):
        return _plan(plan, None, "sweep")
    where = os.fspath(file_name(plan))
    tables = toml_text.parse(toml_text.read_text(plan, "sweep"), where)
    return _plan(tables, Path(plan).parent, where)


def _plan(tables: Mapping[str, Any], folder: Path | None, where: str) -> SweepPlan:
    table = tables.get("sweep")
    if not isinstance(table, Mapping):
        raise WriteampError(
            f"{where} has no table [sweep]; add [sweep.axes] with an axis for each setting that "
            "varies"
        )
    for key in table:
        if key not in _KEYS:
            raise WriteampError(f"{where}:sweep.{key}: {unknown('key', str(key), _KEYS)}")
    kind = _kind(tables, table, where)
    axes = axes_of(table.get("axes", {}), f"{where}:sweep.axes", counts=kind.counts())
    for axis in axes:
        kind.check_axis(axis.name, f"{where}:sweep.axes")
    axes = tuple(_in_numbers(axis, kind) for axis in axes)
    replicas = _replicas(table, kind, f"{where}:sweep")
    without_sweep = {title: value for title, value in tables.items() if title != "sweep"}
    task_of = kind.template(_own(without_sweep, kind, where), folder, lowest(axes), where)

    def points_of(choices: Sequence[Choice]) -> list[Point]:
        return list(_points(kind, task_of, choices, replicas, where))

    names = tuple(axis.name for axis in axes)
    if table.get("design") == SEARCH:
        search = Search.of(table, axes, lambda choice: points_of([choice]), f"{where}:sweep")
        return SweepPlan(kind.name, names, replicas=replicas, search=search)
    design = _design(table, f"{where}:sweep")
    points = points_of(_choices(design, axes, replicas, f"{where}:sweep"))
    once: dict[str, Point] = {}
    for point in points:
        once.setdefault(point.hash, point)
    return SweepPlan(
        kind.name,
        names,
        tuple(once.values()),
        merged=len(points) - len(once),
        replicas=replicas,
        design=design,
        drawn=tuple(axis.name for axis in axes if isinstance(axis, BoundedAxis)),
        requested_points=tuple(points),
    )


def _in_numbers(axis: Axis, kind: PointKind) -> Axis:
    """Return the axis with texts that have a unit converted to numbers."""

    def number(value: Value) -> Value:
        try:
            return kind.number_of(axis.name, value)
        except WriteampError:  # the check of the point raises the error again, and names the point
            return value

    return (
        axis
        if isinstance(axis, BoundedAxis)
        else replace(axis, values=tuple(map(number, axis.values)))
    )


def _design(table: Mapping[str, Any], where: str) -> SweepDesign:
    for key in SEARCH_KEYS:
        if key in table:
            raise WriteampError(f"{where}.{key} is only for design {SEARCH}; omit it")
    return SweepDesign.of(table, where)


def _choices(design: SweepDesign, axes: Sequence[Axis], replicas: int, where: str) -> list[Choice]:
    choices = design.choices(axes, where)
    if len(choices) * replicas > MOST_POINTS:
        raise WriteampError(
            f"{where} makes {len(choices)} choices times {replicas} replicas; at most "
            f"{MOST_POINTS} points are possible"
        )
    return choices


def _kind(tables: Mapping[str, Any], table: Mapping[str, Any], where: str) -> PointKind:
    """Return the kind of sweep points: "verb" or [sweep] "kind" of the file, or "simulate"."""
    verb, sweep_kind = tables.get("verb"), table.get("kind")
    for key, value in (("verb", verb), ("sweep.kind", sweep_kind)):
        if value is not None and not isinstance(value, str):
            raise WriteampError(f"{where}:{key} is {shown(value)}; it must be text")
    if verb is not None and sweep_kind is not None and verb != sweep_kind:
        raise WriteampError(
            f"{where}: verb is {verb!r} and sweep.kind {sweep_kind!r}; give only one"
        )
    try:
        return find_kind(verb or sweep_kind or "simulate")
    except WriteampError as error:
        raise WriteampError(f"{where}:verb: {error}") from None


def _own(tables: Mapping[str, Any], kind: PointKind, where: str) -> dict[str, Any]:
    """Return the tables of the file that the kind reads; reject others."""
    for title in tables:
        if title not in ("verb", *kind.titles):
            valid_titles = ("verb", "sweep", *kind.titles)
            raise WriteampError(f"{where}:{title}: {unknown('key', str(title), valid_titles)}")
    return {title: value for title, value in tables.items() if title != "verb"}


def _replicas(table: Mapping[str, Any], kind: PointKind, where: str) -> int:
    replicas: int = POSITIVE_COUNT.check(f"{where}.replicas", table.get("replicas", 1))
    if replicas > 1 and not kind.draws:
        raise WriteampError(
            f"{where}.replicas is {replicas}; {kind.name} has no random draws, so that replicas "
            "would be equal; omit replicas"
        )
    return replicas


def _points(
    kind: PointKind,
    task_of: Callable[[Choice], PointTask],
    choices: Sequence[Choice],
    replicas: int,
    where: str,
) -> Iterator[Point]:
    for choice in choices:
        try:
            first = task_of(choice)
            yield _point(kind, first, choice, 0)
            for replica in range(1, replicas):
                assert first.seed is not None
                seed = replica_seed(first.seed, replica)
                yield _point(kind, task_of(choice | {"seed": seed}), choice, replica)
        except WriteampError as error:
            raise WriteampError(f"{where}: at {_words_of(choice)}: {error}") from None


def _point(kind: PointKind, task: PointTask, choice: Choice, replica: int) -> Point:
    return Point(**vars(task), kind=kind.name, version=__version__, choice=choice, replica=replica)


def _words_of(choice: Choice) -> str:
    return ", ".join(f"{name} = {value}" for name, value in choice.items()) or "the only point"
