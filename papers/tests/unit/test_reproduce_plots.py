"""Panels and heat maps of the figures of paper 1."""

from __future__ import annotations

import numpy as np
import pytest

import writeamp as wa
from writeamp_papers.park2017 import figures
from writeamp_papers.park2017.hot_file import Passes

DRIVE = wa.device("samsung-843tn", pages_per_block=64)


def test_the_error_map_is_the_predicted_over_the_simulated_value_in_percent() -> None:
    predicted = float(wa.models.expected_value(wa.models.effective_op(DRIVE.op, 0.9, 0.4)))
    found = {
        (0.0, "uniform", 0.9, 0.4): predicted,
        (0.0, "uniform", 0.6, 0.4): 2.0,
        (0.1, "uniform", 0.9, 0.4): 2 * predicted,
        (0.1, "uniform", 0.6, 0.4): 2.0,
    }
    chart = figures.errors(DRIVE, {"uniform": "uniform"}, found)
    # The largest utilization is at the top.
    assert chart.y_ticks == ("90", "60")
    assert [heat_map.title for heat_map in chart.maps] == [
        "uniform, 0% of writes to cold",
        "uniform, 10% of writes to cold",
    ]
    assert chart.maps[0].values[0][0] == pytest.approx(0.0, abs=1e-9)
    assert chart.maps[1].values[0][0] == pytest.approx(-50.0)


def test_figure_3_has_every_pass_and_the_drive_and_the_models_as_levels() -> None:
    passes = Passes(np.linspace(2.2, 2.5, 15))
    panel = figures.passes(DRIVE, passes, 2.466).panels[0]
    assert list(panel.lines[0].x) == list(range(1, 16))
    assert [mark.value for mark in panel.levels] == pytest.approx(
        [2.466, 2.481361, float(wa.models.markov(0.28, 64)), 2.285714], abs=1e-6
    )


def test_figure_4_has_a_panel_a_utilization_and_the_measured_points_in_theirs() -> None:
    labels = {"uniform": "u", "a": "a", "b": "b", "sequential": "s"}
    found = {
        (pattern, u, h): Passes(np.full(15, 1.0 + u * h))
        for pattern in labels
        for u in (0.8, 0.9)
        for h in (0.1, 0.4)
    }
    chart = figures.grid(DRIVE, labels, found, {(0.9, 0.4): 1.518})
    assert [panel.title for panel in chart.panels] == ["80% utilization", "90% utilization"]
    real = [
        [line for line in panel.lines if line.label == "real drive: uniform"]
        for panel in chart.panels
    ]
    assert real[0] == []
    assert [(tuple(line.x), tuple(line.y)) for line in real[1]] == [((40.0,), (1.518,))]
    uniform = next(line for line in chart.panels[1].lines if line.label == "simulated: u")
    assert list(uniform.x) == [10.0, 40.0]
    assert list(uniform.y) == pytest.approx([1.09, 1.36])
