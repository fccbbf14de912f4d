"""Figures 6 to 8 of Dayan et al. 2015, with runs that the paper does not show."""

from __future__ import annotations

import math

from writeamp.plots.spec import (
    BarChart,
    FigureSpec,
    Layer,
    Line,
    LineChart,
    Mark,
    Panel,
    PanelChart,
)
from writeamp.plots.style import MUTED, WA_LABEL, WA_UNIT, series_color
from writeamp_papers.dayan2015.drives import FILL
from writeamp_papers.dayan2015.swap_runs import (
    FDP,
    FDP_CURRENT,
    FIVE_GROUPS,
    MANAGERS,
    PAIRS,
    TWO_GROUPS,
    WOLF,
    WOLF_SLOW,
    Swaps,
)

_NAMES = {
    WOLF: "Wolf, weight 0.015",
    WOLF_SLOW: "Wolf, weight 0.003",
    FDP: "FDP, class of the last write",
    FDP_CURRENT: "FDP, current class",
}
_SINCE = "writes since the swap (millions)"
_EXTRA = "extra migrations (% of the flash's pages)"

# Drawn writes before and after the swap, on the paper's drive; and recorded intervals per drawn
# point.
_DRAWN_BEFORE = 2e6
_DRAWN_AFTER = 10e6
_SMOOTHED = 2


def figures(swaps: Swaps) -> dict[str, FigureSpec]:
    """Describe the figures of the simulated swaps."""
    return {
        "fig6-7-swap": _over_time(swaps),
        "fig6-7-extra-migrations": _extra_over_time(swaps),
        "fig6-7-milder-swaps": _milder(swaps),
        "fig8-five-groups": _five_groups(swaps),
    }


def _over_time(swaps: Swaps) -> PanelChart:
    """Describe WA over host writes with and without a swap, one panel per block manager."""
    panels = []
    start, middle = swaps.size.writes(_DRAWN_BEFORE), swaps.swap_at
    end = middle + swaps.size.writes(_DRAWN_AFTER)
    for manager in MANAGERS:
        lines = [
            swaps.run(manager, TWO_GROUPS[0], swap).line(
                series_color(index),
                label,
                start=middle - start,
                end=end,
                zero=middle,
                points=_SMOOTHED,
            )
            for index, (swap, label) in enumerate(
                (((0, 1), "with the swap of 10% and 90%"), (None, "without a swap"))
            )
        ]
        top = max(lines[0].y)
        at_swap = Line((0.0, 0.0), (1.0, top), MUTED, 1.0, dash="dot", label="swap")
        panels.append(Panel(_NAMES[manager], (at_swap, *lines)))
    return PanelChart(
        title="Write amplification as two groups swap their update frequencies",
        subtitle="paper 3, Fig. 6 (FDP) and Fig. 7 (Wolf) · writes as on the paper's drive · "
        f"fill {FILL}, groups of one size",
        x_label=_SINCE,
        y_label=f"{WA_LABEL}\n({WA_UNIT})",
        panels=tuple(panels),
        columns=2,
    )


def _extra_over_time(swaps: Swaps) -> LineChart:
    lines = tuple(
        Line(
            *swaps.extra_over_time(manager, TWO_GROUPS[0], (0, 1)),
            series_color(index),
            label=_NAMES[manager],
        )
        for index, manager in enumerate(MANAGERS)
    )
    printed = (("FDP in print", 152.1), ("Wolf in print", 0.7))
    return LineChart(
        title="Extra migrations since two groups swapped 10% and 90% of the writes",
        subtitle="paper 3, section 6.1 · against the same drive without a swap · writes as on the "
        f"paper's drive · fill {FILL}",
        x_label=_SINCE,
        y_label=_EXTRA,
        lines=lines,
        levels=tuple(Mark(value, MUTED, "dash", f"{name}: {value:g}%") for name, value in printed),
    )


def _milder(swaps: Swaps) -> LineChart:
    lines = tuple(
        Line(
            [float(cold) for cold, _ in TWO_GROUPS],
            [swaps.extra(manager, frequencies, (0, 1)) for frequencies in TWO_GROUPS],
            series_color(index),
            label=_NAMES[manager],
            marker="circle",
        )
        for index, manager in enumerate(MANAGERS)
    )
    return LineChart(
        title="Extra migrations by the write share of the colder one of two swapped groups",
        subtitle=f"as paper 3, section 6.1 · in the 10 M writes after the swap · fill {FILL}",
        x_label="share of the writes that the colder group gets (%)",
        y_label=_EXTRA,
        lines=lines,
    )


def _five_groups(swaps: Swaps) -> BarChart:
    def extra(manager: str) -> list[float]:
        return [swaps.extra(manager, FIVE_GROUPS, pair) for pair in PAIRS]

    wolf, fdp, current = (extra(manager) for manager in (WOLF, FDP, FDP_CURRENT))
    wins = [(theirs - ours) / 100 for theirs, ours in zip(fdp, wolf, strict=True)]
    none = (math.nan,) * len(PAIRS)
    return BarChart(
        title="Migrations that Wolf saves as two of five groups swap",
        subtitle="paper 3, Fig. 8 · groups 0 to 4 get 3.2%, 6.5%, 12.9%, 25.8% and 51.6% of the "
        "writes · in 10 M writes\nbars: FDP with the class of the last write; in brackets: with "
        "the current class",
        x_label="extra migrations of FDP minus those of Wolf (multiples of the flash's pages)",
        bars=tuple(f"{first} ↔ {second}" for first, second in PAIRS),
        layers=(Layer("FDP minus Wolf", series_color(0), tuple(wins)),),
        low=none,
        high=none,
        texts=tuple(
            f"{win:.2f} ({(theirs - ours) / 100:.2f})"
            for win, theirs, ours in zip(wins, current, wolf, strict=True)
        ),
    )
