"""Figure of the sensitivity to the axes of a sweep: bars with intervals for each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from writeamp.plots.spec import BarChart, Layer
from writeamp.plots.style import series_color, with_error, with_legend_of_error


@dataclass(frozen=True)
class IndexBar:
    """One index of one axis, with the bounds of its 95% interval (NaN for none)."""

    axis: str
    measure: str
    value: float
    low: float
    high: float
    note: str = ""


def indices_by_axis(
    bars: Sequence[IndexBar], *, title: str, subtitle: str, x_label: str
) -> BarChart:
    """Describe indices as bars, those of an axis below each other, each measure in its colour.

    Args:
        bars: from the top; the name of an axis stands beside its first bar.
        title: what is shown.
        subtitle: what was varied, and how.
        x_label: what an index is.
    """
    measures = list(dict.fromkeys(bar.measure for bar in bars))
    texts = tuple(with_error(bar.value, bar.low, bar.high) for bar in bars)
    return BarChart(
        title=title,
        subtitle=with_legend_of_error(subtitle, texts),
        x_label=x_label,
        bars=tuple(
            bar.axis if at == 0 or bars[at - 1].axis != bar.axis else ""
            for at, bar in enumerate(bars)
        ),
        layers=tuple(
            Layer(
                measure,
                series_color(index),
                tuple(max(0.0, bar.value) if bar.measure == measure else 0.0 for bar in bars),
            )
            for index, measure in enumerate(measures)
        ),
        low=tuple(max(0.0, bar.low) if not math.isnan(bar.low) else math.nan for bar in bars),
        high=tuple(max(0.0, bar.high) if not math.isnan(bar.high) else math.nan for bar in bars),
        texts=tuple(f"{text}{bar.note}" for text, bar in zip(texts, bars, strict=True)),
    )
