"""Pareto fronts of sweeps: which choices no other beats, and which none beats for certain."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import writeamp as wa
from sweeping import formula_results, plan
from writeamp.errors import WriteampError
from writeamp.plots.spec import PanelChart
from writeamp.studies.sweep.kinds.kind import PointResult
from writeamp.studies.sweep.results import SweepResults
from writeamp.studies.sweep.views.pareto import Objective


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give what looks at points (wa, erases, endurance), which may have an interval of WA."""

    def of(points: list[tuple[float, ...]], half_width: float = 0.0) -> SweepResults:
        def found(at: int, **_: Any) -> PointResult:
            first, *others = points[at]
            names = ("erases", "endurance_full_drive_writes")
            measures = dict(zip(names, others, strict=False))
            return PointResult(first, first - half_width, first + half_width, measures=measures)

        axes = {"at": list(range(len(points)))}
        return formula_results(monkeypatch, found, tmp_path / "out", axes=axes)

    return of


def standings(results: SweepResults, *objectives: str) -> dict[int, str]:
    """Return the standing of each point by its number."""
    choices = results.pareto(*objectives).to_dict()["choices"]
    return {one["at"]: one["standing"] for one in choices}


def test_a_choice_is_on_the_front_if_no_other_is_as_good_in_all_and_better_in_one(
    results: Any,
) -> None:
    found = results([(1.0, 9.0), (2.0, 5.0), (2.0, 6.0), (3.0, 5.0), (4.0, 1.0)])
    expected = {0: "front", 1: "front", 2: "dominated", 3: "dominated", 4: "front"}
    assert standings(found, "wa", "erases") == expected
    assert standings(found, "max:wa", "max:erases") == {
        0: "front", 1: "dominated", 2: "front", 3: "front", 4: "front",
    }  # fmt: skip


def test_equal_choices_are_on_the_front_together(results: Any) -> None:
    found = results([(1.0, 1.0), (1.0, 1.0), (2.0, 2.0)])
    assert standings(found, "wa", "erases") == {0: "front", 1: "front", 2: "dominated"}


def test_the_front_agrees_with_its_definition_on_random_points(results: Any) -> None:
    random = np.random.default_rng(15)
    points = [tuple(map(float, row)) for row in random.integers(0, 12, (60, 3))]
    found = standings(results(points), "wa", "erases", "endurance")

    def beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
        no_worse = one[0] <= other[0] and one[1] <= other[1] and one[2] >= other[2]
        return no_worse and one != other

    expected = {
        at: "dominated" if any(beats(other, one) for other in points) else "front"
        for at, one in enumerate(points)
    }
    assert found == expected
    assert set(expected.values()) == {"front", "dominated"}


def test_a_choice_whose_interval_reaches_the_front_is_near_it(results: Any) -> None:
    points = [(1.0, 5.0), (1.15, 5.0), (1.5, 5.0)]
    assert standings(results(points, half_width=0.1), "wa", "erases") == {
        0: "front", 1: "near", 2: "dominated",
    }  # fmt: skip


def test_choices_without_an_objective_are_left_out_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def inverse(op: float, **_: Any) -> PointResult:
        return PointResult(None if op == 0.2 else 1 / op)

    axes = {"op": [0.1, 0.2, 0.4]}
    front = formula_results(monkeypatch, inverse, tmp_path, axes=axes).pareto("wa", "op")
    assert front.left_out == 1
    assert [one.groups[0].choice["op"] for one in front.choices] == [0.4, 0.1]


@pytest.mark.parametrize(
    ("text", "column", "maximizes"),
    [
        ("wa", "wa", False),
        ("op", "op", False),
        ("max:op", "op", True),
        ("+wa", "wa", True),
        ("-endurance", "endurance_full_drive_writes", False),
        ("endurance", "endurance_full_drive_writes", True),
        ("fairness", "pe_fairness", True),
        ("latency_us.read.p99", "latency_us.read.p99", False),
        ("iops.all", "iops.all", True),
        ("gc_programs", "gc_programs", False),
        ("min:virtual_time_s", "virtual_time_s", False),
    ],
)
def test_an_objective_has_the_direction_that_is_better(
    text: str, column: str, maximizes: bool
) -> None:
    assert Objective.of(text) == Objective(column, maximizes)


def test_an_objective_of_unknown_direction_is_refused() -> None:
    with pytest.raises(WriteampError, match=r"direction of drive_writes .*min:drive_writes or max"):
        Objective.of("drive_writes")


def chart_of(results: SweepResults, *objectives: str) -> PanelChart:
    """Return the figure of a front."""
    figure = results.pareto(*objectives).figure()
    assert isinstance(figure, PanelChart)
    return figure


def test_the_front_of_two_objectives_is_drawn_in_steps_over_what_it_dominates(
    results: Any,
) -> None:
    found = results([(1.0, 9.0), (2.0, 5.0), (4.0, 1.0), (4.0, 9.0)])
    (panel,) = chart_of(found, "wa", "erases").panels
    steps = panel.lines[0]
    assert list(zip(steps.x, steps.y, strict=True)) == [(1, 9), (2, 9), (2, 5), (4, 5), (4, 1)]
    (rings,) = [line for line in panel.lines if line.marker == "ring"]
    assert sorted(rings.x) == [1.0, 2.0, 4.0]
    (most,) = chart_of(found, "max:wa", "max:erases").panels
    assert [len(most.lines[0].x), *most.lines[0].y] == [1, 9.0]


def test_three_objectives_have_a_panel_for_each_pair(results: Any) -> None:
    found = results([(1.0, 9.0, 3.0), (2.0, 5.0, 4.0)])
    figure = chart_of(found, "wa", "erases", "endurance")
    labels = [(panel.x_label, panel.y_label) for panel in figure.panels]
    assert len(labels) == 3
    assert all(re.search("(lower|higher) is better", text) for pair in labels for text in pair)


def test_a_front_of_the_engine_has_the_better_manager(tmp_path: Path) -> None:
    axes = {"op": [0.2, 0.3], "manager": ["single", "sepgc"]}
    hot_cold = {"workload": "hot-cold:f=0.1,r=0.9"}
    asked = plan({"axes": axes, "replicas": 2}, load=hot_cold, run={"writes": 20_000})
    choices = (
        wa.sweep(asked, keep=tmp_path, runner=wa.runners.Here())
        .results.pareto("wa", "op")
        .to_dict()["choices"]
    )
    front = [one for one in choices if one["standing"] == "front"]
    assert [(one["op"], one["manager"]) for one in front] == [(0.3, "sepgc"), (0.2, "sepgc")]
