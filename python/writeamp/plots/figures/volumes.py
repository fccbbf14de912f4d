"""Figure of the volumes of a fleet: WA by policy, and saved flash writes over skew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from writeamp.plots.spec import Area, Line, Panel, PanelChart
from writeamp.plots.style import INK, WA_LABEL, panels_apart, series_color

_Array = npt.NDArray[np.float64]

# Half of the width of a box or bar on an axis on which neighbouring policies have distance 1.
_HALF = 0.3
# Limit of a whisker's length, in interquartile ranges (heights of the box).
_REACH = 1.5
# Maximum number of points of a curve; more points would not change its look.
_MOST_POINTS = 400


class VolumesOfPolicy(NamedTuple):
    """Results of a policy: WA and savings by volume, shape (volumes,); overall WA and bounds."""

    name: str
    wa: _Array
    overall: float
    low: float
    high: float
    savings: _Array


def wa_of_volumes(
    policies: Sequence[VolumesOfPolicy], skew: _Array, *, baseline: str, subtitle: str
) -> PanelChart:
    """Describe WA and savings of a fleet's volumes under several policies, in four panels.

    Args:
        policies: in the order of their colours.
        skew: share of the writes to the hottest 10% of the pages, shape (volumes,).
        baseline: name of the policy with which savings are computed.
        subtitle: description of the volumes.
    """
    colored = [(series_color(at), policy) for at, policy in enumerate(policies)]
    names = tuple(policy.name for policy in policies)
    panels = (
        Panel(
            "WA of single volumes: quartiles and whiskers",
            tuple(line for at, policy in enumerate(colored) for line in _box(at, *policy)),
            y_label=WA_LABEL,
            from_zero=False,
            x_names=names,
        ),
        Panel(
            "Share of the volumes with this WA or less",
            tuple(_curve(*policy) for policy in colored),
            x_label=WA_LABEL,
            y_label="share of the volumes",
            from_zero=False,
        ),
        Panel(
            "WA of all volumes together, with its 95% interval",
            tuple(line for at, policy in enumerate(colored) for line in _bar(at, *policy)),
            y_label=f"overall {WA_LABEL}",
            areas=tuple(
                Area([at - _HALF, at + _HALF], [0, 0], [policy.overall] * 2, color)
                for at, (color, policy) in enumerate(colored)
            ),
            x_names=names,
        ),
        Panel(
            f"Flash writes saved compared with {baseline}, by skew of the volume",
            tuple(
                Line(
                    skew.tolist(),
                    (100 * policy.savings).tolist(),
                    color,
                    width_pt=0,
                    opacity=0.6,
                    marker="circle",
                )
                for color, policy in colored
                if policy.name != baseline
            ),
            x_label="share of the writes to the hottest 10% of the pages",
            y_label="saved flash writes (%)",
            from_zero=False,
        ),
    )
    return panels_apart(
        "Write amplification over the volumes of a fleet", subtitle, panels, columns=2
    )


def _box(at: int, color: str, volumes: VolumesOfPolicy) -> list[Line]:
    first, median, third = np.quantile(volumes.wa, (0.25, 0.5, 0.75)).tolist()
    reach = _REACH * (third - first)
    low = float(volumes.wa[volumes.wa >= first - reach].min())
    high = float(volumes.wa[volumes.wa <= third + reach].max())
    left, right = at - _HALF, at + _HALF
    beyond = volumes.wa[(volumes.wa < low) | (volumes.wa > high)].tolist()
    return [
        Line([left, right, right, left, left], [first, first, third, third, first], color),
        Line([left, right], [median, median], color, width_pt=2.5),
        Line([at, at], [low, first], color),
        Line([at, at], [third, high], color),
        *([Line([at] * len(beyond), beyond, color, width_pt=0, marker="ring")] if beyond else []),
    ]


def _curve(color: str, volumes: VolumesOfPolicy) -> Line:
    wa = np.sort(volumes.wa)
    share = np.arange(1, len(wa) + 1) / len(wa)
    shown = np.unique(np.linspace(0, len(wa) - 1, _MOST_POINTS).astype(int))
    return Line(wa[shown].tolist(), share[shown].tolist(), color, label=volumes.name)


def _bar(at: int, color: str, volumes: VolumesOfPolicy) -> list[Line]:
    left, right = at - _HALF, at + _HALF
    return [
        Line([left, left, right, right], [0, volumes.overall, volumes.overall, 0], color),
        Line([at, at], [volumes.low, volumes.high], INK, width_pt=2),
    ]
