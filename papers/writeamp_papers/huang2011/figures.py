"""Figures 9 and 10 of paper 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from writeamp.plots.spec import Line, Panel, PanelChart
from writeamp.plots.style import series_color
from writeamp_papers.huang2011.device_scores import DeviceScores
from writeamp_papers.huang2011.printed import BASIC, EXTENDED
from writeamp_papers.huang2011.readings import AGED
from writeamp_papers.huang2011.runs import METRICS


def improvements(device_scores: Mapping[str, DeviceScores]) -> PanelChart:
    """Describe MRE and R² in % for each metric, with a panel per device, beside printed values."""
    return PanelChart(
        title="Basic and extended models",
        subtitle="paper 2, Figs. 9 and 10 · on the training rows; rings: printed values",
        x_label="",
        y_label="%",
        panels=(
            *(_panel(device, "MRE", scores) for device, scores in device_scores.items()),
            *(_panel(device, "R²", scores) for device, scores in device_scores.items()),
        ),
        columns=len(device_scores),
        x_names=tuple(METRICS),
    )


def _panel(device: str, measure: str, scores: DeviceScores) -> Panel:
    places = list(range(len(METRICS)))
    lines = []
    for index, (features, printed) in enumerate((("basic", BASIC), ("extended", EXTENDED))):
        rows = [printed[metric][device] for metric in METRICS]
        name = "mre" if measure == "MRE" else "r2"
        ours = [scores.measure(features, metric, name)[AGED.name] for metric in METRICS]
        printed_values = [getattr(row, name) for row in rows]
        color = series_color(index)
        lines += [
            Line(places, _percent(ours), color, width_pt=0, label=features, marker="circle"),
            Line(places, _percent(printed_values), color, width_pt=0, marker="ring"),
        ]
    return Panel(f"{device}, {measure}", tuple(lines))


def _percent(shares: Sequence[float]) -> list[float]:
    return [100 * share for share in shares]
