"""Figure of the volumes of a fleet: their WA by policy, and what a policy saves by skew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from writeamp.plots.spec import Area, Line, Panel, PanelChart
from writeamp.plots.style import INK, WA_LABEL, panels_apart, series_color

_Array = npt.NDArray[np.float64]

# Half the width of a box or bar, where policies stand one apart.
_HALF = 0.3
# Whiskers reach to the furthest volume within so many heights of the box.
_REACH = 1.5
# A curve of more points could not be told from one of these.
_MOST_POINTS = 400


class VolumesOfPolicy(NamedTuple):
    """Volumes under a policy: WA of each, shape (volumes,), the overall one, and the savings."""

    name: str
    wa: _Array
    overall: float
    low: float
    high: float
    savings: _Array


def wa_of_volumes(
    policies: Sequence[VolumesOfPolicy], skew: _Array, *, baseline: str, subtitle: str
) -> PanelChart:
    """Describe the volumes of a fleet under several policies, in four panels.

    Args:
        policies: in the order of their colours.
        skew: share of the writes to the hottest tenth of the pages, of each volume.
        baseline: name of the policy that savings are from.
        subtitle: what the volumes are.
    """
    colored = [(series_color(at), one) for at, one in enumerate(policies)]
    names = tuple(one.name for one in policies)
    panels = (
        Panel(
            "Volumes: quartiles and whiskers",
            tuple(line for at, one in enumerate(colored) for line in _box(at, *one)),
            y_label=WA_LABEL,
            from_zero=False,
            x_names=names,
        ),
        Panel(
            "Share of the volumes with this WA or less",
            tuple(_curve(*one) for one in colored),
            x_label=WA_LABEL,
            y_label="share of the volumes",
            from_zero=False,
        ),
        Panel(
            "Overall, with the 95% interval",
            tuple(line for at, one in enumerate(colored) for line in _bar(at, *one)),
            y_label=f"overall {WA_LABEL}",
            areas=tuple(
                Area([at - _HALF, at + _HALF], [0, 0], [one.overall] * 2, color)
                for at, (color, one) in enumerate(colored)
            ),
            x_names=names,
        ),
        Panel(
            f"Saving over {baseline} against skew",
            tuple(
                Line(
                    skew.tolist(),
                    (100 * one.savings).tolist(),
                    color,
                    width_pt=0,
                    opacity=0.6,
                    marker="circle",
                )
                for color, one in colored
                if one.name != baseline
            ),
            x_label="share of the writes to the hottest 10% of the pages",
            y_label="saving, %",
            from_zero=False,
        ),
    )
    return panels_apart(
        "Write amplification over the volumes of a fleet", subtitle, panels, columns=2
    )


def _box(at: int, color: str, one: VolumesOfPolicy) -> list[Line]:
    first, median, third = np.quantile(one.wa, (0.25, 0.5, 0.75)).tolist()
    reach = _REACH * (third - first)
    low = float(one.wa[one.wa >= first - reach].min())
    high = float(one.wa[one.wa <= third + reach].max())
    left, right = at - _HALF, at + _HALF
    beyond = one.wa[(one.wa < low) | (one.wa > high)].tolist()
    return [
        Line([left, right, right, left, left], [first, first, third, third, first], color),
        Line([left, right], [median, median], color, width_pt=2.5),
        Line([at, at], [low, first], color),
        Line([at, at], [third, high], color),
        *([Line([at] * len(beyond), beyond, color, width_pt=0, marker="ring")] if beyond else []),
    ]


def _curve(color: str, one: VolumesOfPolicy) -> Line:
    wa = np.sort(one.wa)
    share = np.arange(1, len(wa) + 1) / len(wa)
    kept = np.unique(np.linspace(0, len(wa) - 1, _MOST_POINTS).astype(int))
    return Line(wa[kept].tolist(), share[kept].tolist(), color, label=one.name)


def _bar(at: int, color: str, one: VolumesOfPolicy) -> list[Line]:
    left, right = at - _HALF, at + _HALF
    return [
        Line([left, left, right, right], [0, one.overall, one.overall, 0], color),
        Line([at, at], [one.low, one.high], INK, width_pt=2),
    ]
