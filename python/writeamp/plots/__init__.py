"""Figures: one function a figure describes it, `save` draws it to .png, .svg, .pdf or .html.

A figure function returns a specification without any drawing library in it; the suffix of the
path decides which library draws it, and only then is that library imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from writeamp.later import names_from
from writeamp.plots.output import check_target, save
from writeamp.plots.spec import BarChart, FigureSpec, HeatMapChart, LineChart, PanelChart, TreeChart

if TYPE_CHECKING:
    from writeamp.plots.figures.life import LifeCurve, erases_of_blocks, life_over_w
    from writeamp.plots.figures.wa_by_policy import PolicyResult, wa_by_policy
    from writeamp.plots.figures.wa_over_time import WaSeries, wa_over_time

__all__ = [
    "BarChart",
    "FigureSpec",
    "HeatMapChart",
    "LifeCurve",
    "LineChart",
    "PanelChart",
    "PolicyResult",
    "TreeChart",
    "WaSeries",
    "check_target",
    "erases_of_blocks",
    "life_over_w",
    "save",
    "wa_by_policy",
    "wa_over_time",
]

# Figures compute with NumPy; whether a file can be drawn is asked before.
if not TYPE_CHECKING:
    __getattr__, __dir__ = names_from(
        "writeamp.plots",
        {
            "figures.life": ("LifeCurve", "erases_of_blocks", "life_over_w"),
            "figures.wa_by_policy": ("PolicyResult", "wa_by_policy"),
            "figures.wa_over_time": ("WaSeries", "wa_over_time"),
        },
    )
