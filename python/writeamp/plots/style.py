"""Colours, labels, number formats and elements that figures share."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from writeamp.plots.spec import (
    BarChart,
    ColorScale,
    Dash,
    Layer,
    Line,
    Mark,
    Panel,
    PanelChart,
)

WA_LABEL = "write amplification"
NOT_STEADY = "not steady: may still change"
WA_UNIT = "flash pages programmed per host page written"
DRIVE_WRITES_LABEL = "drive writes (host pages written / logical pages)"

# Okabe and Ito's colour-blind-safe palette without yellow, which is hardly visible on white.
SERIES_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6B4C9A")
# Dash patterns of lines: after the last colour, the palette repeats with the next pattern.
SERIES_DASHES: tuple[Dash, ...] = ("solid", "dash", "dot", "dashdot")

HOST_COLOR = "#B4BBC4"
INK = "#222222"
MUTED = "#666666"
FAINT = "#A9AFB7"
GRID = "#E3E6EA"

# Maximum number of panels in a row.
MOST_COLUMNS = 3
_FEWEST_DECIMALS = 2
# An interval is written with "±" if it is nearly symmetric: the ratio of its shorter to its longer
# side is at least this.
_SYMMETRIC = 0.8
_RANGE = re.compile(r"\([0-9.]+ to [0-9.]+\)")

THEORY_COLOR = "#333333"
_THEORY_DASHES: tuple[Dash, ...] = ("dash", "dot", "dashdot", "longdash")


def series_color(index: int) -> str:
    """Return the colour of the series at `index`."""
    return SERIES_COLORS[index % len(SERIES_COLORS)]


def series_dash(index: int) -> Dash:
    """Return the dash of the series at `index`: solid until the colours repeat."""
    return SERIES_DASHES[index // len(SERIES_COLORS) % len(SERIES_DASHES)]


def columns_of(panels: int) -> int:
    """Return the number of columns in which a number of panels is arranged."""
    return 2 if panels == 4 else min(panels, MOST_COLUMNS)


def error_bars(
    x: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    color: str,
    *,
    width_pt: float = 1.5,
    opacity: float = 1.0,
) -> Line:
    """Return all error bars as one line with gaps, which is faster to draw than many lines.

    Bars with a NaN bound are left out.
    """
    bars = [
        (at, end)
        for at, *ends in zip(x, low, high, strict=True)
        if not any(map(math.isnan, ends))
        for end in (*ends, math.nan)
    ]
    return Line([at for at, _ in bars], [end for _, end in bars], color, width_pt, opacity)


def series_line(
    index: int, x: Sequence[float], y: Sequence[float], label: str | None, **style: Any
) -> Line:
    """Return a line with the colour and dash of the series at `index`."""
    look: dict[str, Any] = {"dash": series_dash(index)} | style
    return Line(x, y, series_color(index), label=label, **look)


def outline(edges: Sequence[float], heights: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return x and y of the outline of bars from 0; bar i spans edge i to edge i + 1."""
    x = [edge for edge in edges for _ in (0, 1)]
    return x, [0.0, *(height for height in heights for _ in (0, 1)), 0.0]


def bars_of(
    values: Mapping[str, float],
    texts: Iterable[str],
    *,
    label: str,
    title: str,
    subtitle: str,
    color: str = SERIES_COLORS[0],
    **more: Any,
) -> BarChart:
    """Describe bars of one layer; `label` is the label of the x axis."""
    return BarChart(
        title=title,
        subtitle=subtitle,
        x_label=label,
        bars=tuple(values),
        layers=(Layer(label, color, tuple(map(float, values.values()))),),
        texts=tuple(texts),
        **more,
    )


def panels_apart(title: str, subtitle: str, panels: Iterable[Panel], columns: int) -> PanelChart:
    """Describe panels that each have their own axes."""
    return PanelChart(title, subtitle, "", "", tuple(panels), columns, own_axes=True)


def theory_marks(theory: Sequence[tuple[str, float]]) -> tuple[Mark, ...]:
    """Return a dashed line for each predicted value, labelled with its name."""
    return tuple(
        Mark(value, THEORY_COLOR, _THEORY_DASHES[i % len(_THEORY_DASHES)], f"{name}: {value:.3f}")
        for i, (name, value) in enumerate(theory)
    )


# Matplotlib's colour maps, by whether the scale diverges.
HEAT_COLORS = {True: "RdBu", False: "YlGnBu"}


# Colours of text on pale and on dark cells. They are not exactly INK and white, which dark pages
# replace, because cells have the same colours on every page.
HEAT_INKS = ("#222221", "#FFFFFE")


def heat_ink(value: float, scale: ColorScale) -> str:
    """Return a text colour that is readable on the colour of a cell, also on a dark page."""
    share = scale.share(value)
    darkness = abs(2 * share - 1) if scale.diverges else share
    return HEAT_INKS[darkness > 0.6]


def with_legend_of_error(
    subtitle: str, texts: Iterable[str], interval: str = "95% confidence"
) -> str:
    """Return the subtitle with an explanation of "±" and ranges, if a text has one."""
    legend = legend_of_error(texts, interval)
    return f"{subtitle} · {legend}" if legend else subtitle


def legend_of_error(texts: Iterable[str], interval: str = "95% confidence") -> str:
    """Return an explanation of "±" and ranges in the texts, or ""."""
    shown = list(texts)
    signs = ["±"] if any("±" in text for text in shown) else []
    ranges = ["the range in brackets"] if any(map(_RANGE.search, shown)) else []
    return f"{' or '.join(signs + ranges)} is {interval}" if signs + ranges else ""


def with_error(wa: float, ci_low: float, ci_high: float) -> str:
    """Return "1.855 ± 0.003", with the significant decimals of the error, at least two.

    An asymmetric interval is written as a range: "1.23 (1.00 to 2.73)". Without an interval, or
    with a negligible one, only the value is written.
    """
    below, above = wa - ci_low, ci_high - wa
    half_width = max(below, above)
    if math.isnan(half_width) or half_width < 1e-6:
        return f"{wa:.3f}"
    decimals = max(_FEWEST_DECIMALS, -math.floor(math.log10(half_width)))
    if min(below, above) < _SYMMETRIC * half_width:
        return f"{wa:.{decimals}f} ({ci_low:.{decimals}f} to {ci_high:.{decimals}f})"
    return f"{wa:.{decimals}f} ± {half_width:.{decimals}f}"
