"""Figures of a drive's life: PE fairness, endurance, and erase counts of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError
from writeamp.plots.spec import Line, LineChart, Panel, PanelChart
from writeamp.plots.style import outline, series_color, series_line

_W_LABEL = "erases that a block endures (W)"
_FAIRNESS = "PE fairness (mean erases of a block / W)"
_ENDURANCE = "endurance (writes of the physical capacity)"

# Maximum number of points of a curve; more points would be indistinguishable.
_MOST_POINTS = 500


@dataclass(frozen=True)
class LifeCurve:
    """PE fairness and endurance of one policy over `w`, the erases that wear a block out.

    All arrays have the shape (n,). Bounds of missing 95% intervals are NaN.
    """

    label: str
    w: npt.ArrayLike
    pe_fairness: npt.ArrayLike
    pe_fairness_low: npt.ArrayLike
    pe_fairness_high: npt.ArrayLike
    endurance: npt.ArrayLike
    endurance_low: npt.ArrayLike
    endurance_high: npt.ArrayLike


def life_over_w(curves: Sequence[LifeCurve], *, title: str, subtitle: str) -> PanelChart:
    """Describe PE fairness and endurance over W, as in paper 4, Figs. 2 and 3.

    Args:
        curves: one for each policy; intervals are drawn as thin lines.
        title: of the figure.
        subtitle: the run: op (by that name), device, seed.

    Returns:
        A specification, which `save` draws.

    Raises:
        WriteampError: no curve, a curve without points, or arrays of different lengths.
    """
    if not curves:
        raise WriteampError("a figure of fairness and endurance needs at least one curve")
    fairness: list[Line] = []
    endurance: list[Line] = []
    for index, curve in enumerate(curves):
        fairness += _lines(
            curve, index, curve.pe_fairness, curve.pe_fairness_low, curve.pe_fairness_high
        )
        endurance += _lines(
            curve, index, curve.endurance, curve.endurance_low, curve.endurance_high
        )
    panels = (Panel(_FAIRNESS, tuple(fairness)), Panel(_ENDURANCE, tuple(endurance)))
    return PanelChart(title, subtitle, _W_LABEL, "", panels, columns=2, own_y=True)


def erases_of_blocks(
    erases_from: Sequence[int],
    blocks: Sequence[int],
    *,
    width: int,
    label: str,
    title: str,
    subtitle: str,
) -> LineChart:
    """Describe the number of blocks by erase count as the outline of a histogram.

    Args:
        erases_from: lowest erase count of each bin, increasing by `width`.
        blocks: number of blocks in each bin.
        width: width of a bin, in erases.
        label: name of the histogram in the legend.
        title: of the figure.
        subtitle: the run: op (by that name), device, seed.

    Returns:
        A specification, which `save` draws.
    """
    if not erases_from:
        raise WriteampError("erases_from is empty; a histogram needs at least one bin")
    edges = [*erases_from, erases_from[-1] + width]
    each = "" if width == 1 else f", in bins of {width}"
    return LineChart(
        title=title,
        subtitle=subtitle,
        x_label=f"erases of a block at the end of life{each}",
        y_label="blocks (of all replicas)",
        lines=(Line(*outline(edges, blocks), series_color(0), label=label),),
    )


def _lines(
    curve: LifeCurve, index: int, mean: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike
) -> list[Line]:
    w, *values = (np.asarray(values, np.float64) for values in (curve.w, mean, low, high))
    if w.ndim != 1 or w.size == 0 or any(array.shape != w.shape for array in values):
        raise WriteampError(f"curve {curve.label!r} needs arrays of one equal length above 0")
    shown = np.unique(np.linspace(0, w.size - 1, min(w.size, _MOST_POINTS)).astype(int))
    x, marker = w[shown].tolist(), "circle" if w.size == 1 else None
    mean_line = series_line(index, x, values[0][shown].tolist(), curve.label, marker=marker)
    bounds = [
        Line(x, bound[shown].tolist(), series_color(index), width_pt=0.6, opacity=0.6)
        for bound in values[1:]
        if not np.isnan(bound).any()
    ]
    return [*bounds, mean_line]
