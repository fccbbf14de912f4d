"""Charts of several panels: what their files hold, and what paper 1's figures put into them."""

from __future__ import annotations

import html
from pathlib import Path

import numpy as np
import pytest

import writeamp as wa
from writeamp.plots import FigureSpec, HeatMapChart, PanelChart, TreeChart, save
from writeamp.plots.spec import ColorScale, HeatMap, Line, Mark, Panel, TreeNode
from writeamp.plots.style import heat_ink
from writeamp_papers.park2017 import figures
from writeamp_papers.park2017.hot_file import Passes

DRIVE = wa.device("samsung-843tn", pages_per_block=64)


def panels() -> PanelChart:
    def panel(title: str) -> Panel:
        lines = (
            Line([1, 10, 100], [1.0, 30.0, 900.0], "#0072B2", label="a <line>", marker="circle"),
            Line([10.0], [20.0], "#D55E00", 0.0, label="points only", marker="ring"),
        )
        return Panel(title, lines, (Mark(5.0, "#333333", "dash", "a level"),))

    titles = [panel(f"panel {i}") for i in range(3)]
    return PanelChart(
        "Panels", "and a subtitle", "x axis", "y axis", tuple(titles), 2, (1, 10, 100), True, True
    )


def heat_maps() -> HeatMapChart:
    maps = tuple(HeatMap(f"map {i}", ((-70.0, -0.2), (3.0, 45.0))) for i in range(2))
    return HeatMapChart(
        title="Heat",
        subtitle="and a subtitle",
        x_label="x axis",
        y_label="y axis",
        x_ticks=("10", "20"),
        y_ticks=("90", "60"),
        color_label="error (%)",
        maps=maps,
        columns=2,
        scale=ColorScale(-80.0, 80.0, diverges=True),
        cell_format="{:+z.0f}",
    )


def tree() -> TreeChart:
    nodes = (
        TreeNode("a <root>", "#333333", (1, 4)),
        TreeNode("a branch", "#333333", (2, 3)),
        TreeNode("leaf 1\nof two lines", "#D55E00"),
        TreeNode("leaf 2", "#333333"),
        TreeNode("leaf 3", "#333333"),
    )
    return TreeChart("Tree", "and a subtitle", nodes)


COMMON = ["and a subtitle", "x axis", "y axis"]
WORDS = {
    "panels": ["Panels", "panel 0", "panel 2", "a <line>", "points only", "a level", *COMMON],
    "heat maps": ["Heat", "map 0", "map 1", "-70", "+0", "+45", "90", "error (%)", *COMMON],
    "tree": ["Tree", "and a subtitle", "a <root>", "of two lines", "leaf 3"],
}
SPECS: dict[str, FigureSpec] = {
    "panels": panels(),
    "heat maps": heat_maps(),
    "tree": tree(),
}


@pytest.mark.parametrize("figure", list(SPECS))
@pytest.mark.parametrize("kind", ["svg", "html"])
def test_words_and_numbers_are_in_the_file_as_text(figure: str, kind: str, tmp_path: Path) -> None:
    save(SPECS[figure], tmp_path / f"out.{kind}")
    content = html.unescape((tmp_path / f"out.{kind}").read_text("utf-8"))
    for word in WORDS[figure]:
        assert word in content, word


@pytest.mark.parametrize("figure", list(SPECS))
def test_the_same_figure_gives_the_same_bytes(figure: str, tmp_path: Path) -> None:
    for name in ("one.png", "two.png"):
        save(SPECS[figure], tmp_path / name)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


def test_leaves_stand_side_by_side_and_a_node_amid_those_below_it() -> None:
    assert tree().places() == ((1.25, 0.0), (0.5, -1.0), (0.0, -2.0), (1.0, -2.0), (2.0, -1.0))


def test_logarithmic_ticks_are_numbers_and_not_markup(tmp_path: Path) -> None:
    save(SPECS["panels"], tmp_path / "out.svg")
    content = (tmp_path / "out.svg").read_text("utf-8")
    assert "mathdefault" not in content
    assert ">100<" in content


def test_a_label_that_several_panels_share_is_in_the_legend_once(tmp_path: Path) -> None:
    save(SPECS["panels"], tmp_path / "out.svg")
    assert (tmp_path / "out.svg").read_text("utf-8").count("points only</text>") == 1


def test_text_on_a_dark_cell_is_light() -> None:
    errors = ColorScale(-80.0, 80.0, diverges=True)
    assert heat_ink(-70, errors) == heat_ink(70, errors) == "white"
    assert heat_ink(10, errors) != "white"
    rising = ColorScale(1.0, 3.0)
    assert heat_ink(2.8, rising) == "white"
    assert heat_ink(1.1, rising) != "white"


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
