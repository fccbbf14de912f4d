"""The pictures of paper 2's figures 9 and 10."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from writeamp.plots.spec import Line, Panel, PanelChart
from writeamp.plots.style import series_color
from writeamp.reproduce.huang2011.accuracy import Accuracy
from writeamp.reproduce.huang2011.measuring import METRICS
from writeamp.reproduce.huang2011.printed import BASIC, EXTENDED

_BySet = Mapping[str, Mapping[str, Accuracy]]


def improvements(found: Mapping[str, _BySet]) -> PanelChart:
    """Describe MRE and R² of the basic and the extended models, in %, ours and as printed."""
    return PanelChart(
        title="Basic and extended models",
        subtitle="paper 2, Figs. 9 and 10 · on workloads held out; rings: printed",
        x_label="",
        y_label="%",
        panels=(
            *(_panel(device, "MRE", by_set) for device, by_set in found.items()),
            *(_panel(device, "R²", by_set) for device, by_set in found.items()),
        ),
        columns=len(found),
        x_names=tuple(METRICS),
    )


def _panel(device: str, measure: str, by_set: _BySet) -> Panel:
    places = list(range(len(METRICS)))
    lines = []
    for index, (features, printed) in enumerate((("basic", BASIC), ("extended", EXTENDED))):
        scores = [by_set[features][metric].held_out for metric in METRICS]
        rows = [printed[metric][device] for metric in METRICS]
        if measure == "MRE":
            ours, theirs = [one.mre for one in scores], [one.mre for one in rows]
        else:
            ours, theirs = [one.r2 for one in scores], [one.r2 for one in rows]
        color = series_color(index)
        lines += [
            Line(places, _percent(ours), color, width_pt=0, label=features, marker="circle"),
            Line(places, _percent(theirs), color, width_pt=0, marker="ring"),
        ]
    return Panel(f"{device}, {measure}", tuple(lines))


def _percent(shares: Sequence[float]) -> list[float]:
    return [100 * one for one in shares]
