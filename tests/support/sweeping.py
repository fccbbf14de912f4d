"""Small sweeps for tests: points of a few milliseconds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import tomli_w

import writeamp as wa
from writeamp.studies.sweep.designs import Choice
from writeamp.studies.sweep.kinds.kind import PointResult, PointTask, Table, digest
from writeamp.studies.sweep.kinds.registry import KINDS
from writeamp.studies.sweep.plan import plan_of
from writeamp.studies.sweep.points import Point
from writeamp.studies.sweep.results import SweepResults

SMALL: dict[str, Any] = {
    "verb": "simulate",
    "device": {"blocks": 64, "pages_per_block": 16, "op": 0.25},
    "load": {"workload": "uniform"},
    "run": {"writes": 3000, "replicas": 1},
}
# Of these the second has no room for its warm-up, which only the run finds out.
ONE_FAILS = {"axes": {"warmup": [0, 5000, 1000]}}


def plan(sweep: dict[str, Any] | None = None, **tables: Any) -> dict[str, Any]:
    """Return a small sweep with other tables, or more keys in the tables it has."""
    found = {**SMALL, "sweep": sweep or {"axes": {"op": [0.2, 0.3]}}}
    for title, table in tables.items():
        old = found.get(title)
        found[title] = (
            {**old, **table} if isinstance(old, dict) and isinstance(table, dict) else table
        )
    return found


def file_of(folder: Path, asked: dict[str, Any]) -> Path:
    """Write a sweep into a file of a folder, and return its path."""
    path = folder / "sweep.toml"
    path.write_text(tomli_w.dumps(asked))
    return path


def points(sweep: dict[str, Any] | None = None, **tables: Any) -> tuple[Point, ...]:
    """Return the points of a small sweep."""
    return plan_of(plan(sweep, **tables)).points


def search(**keys: Any) -> dict[str, Any]:
    """Return a search by models for the least WA, with other keys of its design."""
    axes = {"op": {"from": 0.05, "to": 0.5}, "model": ["markov", "expected-value"]}
    table = {"design": "search", "samples": 12, "minimize": "wa", "axes": axes}
    return {"verb": "predict", "sweep": table | keys}


@dataclass(frozen=True)
class FormulaKind:
    """Points that are values of a function of the axes and the seed, to be put in the registry."""

    function: Callable[..., PointResult]
    name: str = "formula"
    titles: tuple[str, ...] = ()
    draws: bool = True

    def counts(self) -> tuple[str, ...]:
        """Return no name: all may be fractions."""
        return ()

    def check_axis(self, name: str, where: str) -> None:
        """Take any axis."""

    def number_of(self, name: str, value: Any) -> Any:
        """Return the value, which has no unit."""
        return value

    def template(
        self, tables: Table, folder: Path | None, first: Choice, where: str
    ) -> Callable[[Choice], PointTask]:
        """Return what makes a point of a choice."""

        def asked(choice: Choice) -> PointTask:
            settings = {"seed": 1} | choice
            without_seed = {name: one for name, one in settings.items() if name != "seed"}
            return PointTask(
                settings,
                digest(settings),
                study=digest(without_seed),
                seed=settings["seed"],  # type: ignore[arg-type]
            )

        return asked

    def run(self, settings: Table) -> PointResult:
        """Call the function."""
        return self.function(**settings)

    def columns(self, settings: Table) -> dict[str, Any]:
        """Return the axes and the seed."""
        return dict(settings)


def formula_results(
    patch: pytest.MonkeyPatch, function: Callable[..., PointResult], out: Path, **sweep: Any
) -> SweepResults:
    """Return the results of a sweep whose points are values of a function, errors run again."""
    patch.setitem(KINDS, "formula", FormulaKind(function))
    plan = {"verb": "formula", "sweep": sweep}
    return wa.sweep(plan, keep=out, runner=wa.runners.Here(), retry_failed=True).results
