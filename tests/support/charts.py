"""Descriptions of figures that tests draw, and what is written in their files."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from writeamp.plots import (
    FigureSpec,
    HeatMapChart,
    PanelChart,
    PolicyResult,
    TreeChart,
    WaSeries,
    wa_by_policy,
    wa_over_time,
)
from writeamp.plots.figures.group_changes import group_strips
from writeamp.plots.spec import (
    BarChart,
    ColorScale,
    HeatMap,
    Line,
    LineChart,
    Mark,
    Panel,
    TreeNode,
)

SUBTITLE = "op = (T-U)/U = 0.4286, 8,192 blocks of 128 pages, seed 1"


def bars(
    *rows: PolicyResult,
    models: Iterable[tuple[str, float]] = (),
    title: str = "t",
    subtitle: str = "s",
) -> BarChart:
    """Return a bar for each row."""
    return wa_by_policy(rows, models, title=title, subtitle=subtitle)


def row(name: str, wa: float = 2.0, *interval: float) -> PolicyResult:
    """Return the result of a policy of which only the host writes."""
    return PolicyResult(name, wa, {"host": 1}, *interval)


def curves(*series: WaSeries, title: str = "t", subtitle: str = "s") -> LineChart:
    """Return a line for each series."""
    return wa_over_time(series, title=title, subtitle=subtitle)


def over_time() -> LineChart:
    drive_writes = np.arange(1, 101) / 10
    wa = 1.855 + 0.01 * np.sin(np.arange(100)) - np.exp(-np.arange(100) / 10)
    return wa_over_time(
        [
            WaSeries("greedy", drive_writes, wa, 3.0, 1.855, 1.852, 1.858),
            WaSeries("d-choices:d=10", drive_writes, wa + 0.05),
        ],
        [("expected-value", 1.876), ("markov", 1.854)],
        title="Write amplification over time",
        subtitle=SUBTITLE,
    )


def over_time_with_groups(events: int = 10) -> LineChart:
    at = np.linspace(0.5, 9.5, events)
    strips = group_strips(
        at, at[: events // 2], at, np.full(events, 3, np.uint64), intervals=100, end=10.0
    )
    drive_writes = np.arange(1, 101) / 10
    run = WaSeries("wolf", drive_writes, np.full(100, 1.6), 3.0, 1.6, 1.59, 1.61)
    title = "Write amplification with groups"
    return wa_over_time([run], title=title, subtitle=SUBTITLE, changes=[5.0, 7.0], strips=strips)


def by_policy() -> BarChart:
    rows = [
        PolicyResult("greedy", 2.412, {"host": 1000, "gc": 1412}, 2.39, 2.434),
        PolicyResult("fifo", 2.8, {"host": 1000, "gc": 1700, "wear": 100}),
    ]
    models = [("expected-value", 2.48)]
    return bars(*rows, models=models, title="Write amplification by policy", subtitle=SUBTITLE)


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


def words_in(path: Path) -> str:
    """Return the text of an SVG or an HTML figure, with its escapes undone."""
    return html.unescape(path.read_text("utf-8"))


def texts_of(path: Path) -> list[str]:
    """Return the texts of the SVG in a file, a line each."""
    svg = path.read_text("utf-8")
    svg = svg[svg.index("<svg") : svg.index("</svg>")]
    return [html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


FIGURES: dict[str, Callable[[], FigureSpec]] = {
    "over time": over_time,
    "with groups": over_time_with_groups,
    "by policy": by_policy,
    "panels": panels,
    "heat maps": heat_maps,
    "tree": tree,
}
