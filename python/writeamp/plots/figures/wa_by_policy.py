"""Figures of write amplification: bars by policy with layers by cause, and dots by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from writeamp.errors import WriteampError
from writeamp.plots.spec import BarChart, Layer, Line
from writeamp.plots.style import (
    HOST_COLOR,
    INK,
    MUTED,
    SERIES_COLORS,
    WA_LABEL,
    WA_UNIT,
    series_color,
    theory_marks,
    with_error,
    with_legend_of_error,
)

_CAUSE_LABELS = {
    "host": "host writes",
    "gc": "garbage collection",
    "wear_leveling": "wear levelling",
}


@dataclass(frozen=True)
class PolicyResult:
    """One bar: write amplification, its interval (NaN if none), and pages by cause.

    Attributes:
        label: name of the bar.
        wa: write amplification, the length of the bar; NaN for a policy that cannot run.
        causes: flash pages programmed by cause ("host", "gc", …), which divide the bar.
        ci_low, ci_high: bounds of the interval.
        section: heading above consecutive bars with the same section.
        theory: name and WA of a model for this row, drawn as a mark on the bar, or None.
    """

    label: str
    wa: float
    causes: Mapping[str, int]
    ci_low: float = math.nan
    ci_high: float = math.nan
    section: str = ""
    theory: tuple[str, float] | None = None


def wa_by_policy(
    rows: Sequence[PolicyResult],
    theory: Sequence[tuple[str, float]] = (),
    *,
    title: str,
    subtitle: str,
    interval: str = "95% confidence",
) -> BarChart:
    """Describe write amplification as a bar for each policy, in layers by cause.

    Args:
        rows: the bars, from the top.
        theory: names and values of predictions, drawn as dashed vertical lines.
        title: of the figure.
        subtitle: the run: op (by that name), device, seed.
        interval: name of the rows' intervals.

    Returns:
        A specification, which `save` draws.

    Raises:
        WriteampError: no rows, or a row without flash pages.
    """
    if not rows:
        raise WriteampError("a figure of write amplification by policy needs at least one row")
    for row in rows:
        if not math.isnan(row.wa) and sum(row.causes.values()) <= 0:
            raise WriteampError(f"row {row.label!r} has no programmed flash page; leave it out")
    texts = tuple(
        "cannot run" if math.isnan(row.wa) else with_error(row.wa, row.ci_low, row.ci_high)
        for row in rows
    )
    return BarChart(
        title=title,
        subtitle=with_legend_of_error(subtitle, texts, interval),
        x_label=f"{WA_LABEL} ({WA_UNIT})",
        bars=tuple(row.label for row in rows),
        layers=tuple(
            Layer(
                label=_CAUSE_LABELS.get(cause, cause),
                color=HOST_COLOR if cause == "host" else SERIES_COLORS[index % len(SERIES_COLORS)],
                values=tuple(_length_of(row, cause) for row in rows),
            )
            for index, cause in enumerate(_causes(rows), start=-1)
        ),
        low=tuple(row.ci_low for row in rows),
        high=tuple(row.ci_high for row in rows),
        texts=texts,
        levels=theory_marks(theory),
        points=_theory_of_rows(rows),
        sections=_sections(rows),
    )


def _length_of(row: PolicyResult, cause: str) -> float:
    """Return the part of a bar for a cause, which is 0 for a policy that cannot run."""
    if math.isnan(row.wa):
        return 0.0
    return row.wa * row.causes.get(cause, 0) / sum(row.causes.values())


def _theory_of_rows(rows: Sequence[PolicyResult]) -> tuple[Line, ...]:
    """Return the marks of WA by theory for single rows, if any."""
    points = [(row.theory[1], at) for at, row in enumerate(rows) if row.theory]
    if not points:
        return ()
    models = {row.theory[0] for row in rows if row.theory}
    label = f"theory: {models.pop()}" if len(models) == 1 else "theory of the row"
    x, y = zip(*points, strict=True)
    return (Line(x, y, INK, 0.0, label=label, marker="diamond"),)


def _sections(rows: Sequence[PolicyResult]) -> tuple[str, ...]:
    """Return the heading of each bar, or nothing if no bar has a heading."""
    sections = tuple(row.section for row in rows)
    return sections if any(sections) else ()


def _causes(rows: Sequence[PolicyResult]) -> list[str]:
    """Return the causes that wrote pages: host first, then in order of appearance."""
    names = {"host": None} | {
        cause: None for row in rows for cause, pages in row.causes.items() if pages > 0
    }
    return list(names)


class WaDot(NamedTuple):
    """A name, its WA, its interval (NaN if none), and True if WA is steady and its model valid."""

    name: str
    wa: float
    low: float
    high: float
    is_sound: bool = True


def wa_by_name(
    dots: Sequence[WaDot], *, title: str, subtitle: str = "", interval: str = ""
) -> BarChart:
    """Describe each WA, for example of several methods, as a dot with its interval.

    Args:
        dots: from the top.
        title: of the figure.
        subtitle: the drive.
        interval: name of the intervals, "" if there are none.

    Raises:
        WriteampError: `dots` is empty.
    """
    if not dots:
        raise WriteampError("no row has an answer to draw")
    points = []
    for label, is_sound, color in (
        ("WA", True, series_color(0)),
        ("outside the assumptions, or not steady", False, MUTED),
    ):
        chosen = [(dot.wa, at) for at, dot in enumerate(dots) if dot.is_sound is is_sound]
        if chosen:
            x, y = zip(*chosen, strict=True)
            points.append(Line(x, y, color, 0.0, label=label, marker="circle"))
    return BarChart(
        title=title,
        subtitle=subtitle,
        x_label=f"{WA_LABEL}, with its {interval}" if interval else WA_LABEL,
        bars=tuple(dot.name for dot in dots),
        layers=(),
        texts=tuple(f"{dot.wa:.4g}" for dot in dots),
        low=tuple(dot.low if dot.high > dot.low else math.nan for dot in dots),
        high=tuple(dot.high if dot.high > dot.low else math.nan for dot in dots),
        points=tuple(points),
    )
