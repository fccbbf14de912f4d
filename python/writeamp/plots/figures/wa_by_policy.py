"""Figures of write amplification by policy, in layers by cause, and by name."""

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
    """One bar: write amplification, its interval (NaN for none), and pages by cause.

    `causes` maps each cause ("host", "gc", …) to flash pages programmed; the bar is as long as
    `wa` and divided in proportion to them. Bars that follow each other and have one `section` stand
    together under that heading. `theory` names the model of this very row, if there is one, and has
    its WA, which is marked on the bar.
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
    """Describe write amplification as one bar a policy, in layers by cause.

    Args:
        rows: the bars, from the top.
        theory: names and values of what models predict, drawn as dashed vertical lines.
        title: what is shown.
        subtitle: the run: op (by that name), device, seed.
        interval: name of the intervals of the rows.

    Returns:
        A specification, which `save` draws.

    Raises:
        WriteampError: there is no row, or a row's causes count no page.
    """
    if not rows:
        raise WriteampError("a figure of write amplification by policy needs at least one row")
    for row in rows:
        if sum(row.causes.values()) <= 0:
            raise WriteampError(f"row {row.label!r} has no flash page in any cause")
    texts = tuple(with_error(row.wa, row.ci_low, row.ci_high) for row in rows)
    return BarChart(
        title=title,
        subtitle=with_legend_of_error(subtitle, texts, interval),
        x_label=f"{WA_LABEL} ({WA_UNIT})",
        bars=tuple(row.label for row in rows),
        layers=tuple(
            Layer(
                label=_CAUSE_LABELS.get(cause, cause),
                color=HOST_COLOR if cause == "host" else SERIES_COLORS[index % len(SERIES_COLORS)],
                values=tuple(
                    row.wa * row.causes.get(cause, 0) / sum(row.causes.values()) for row in rows
                ),
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


def _theory_of_rows(rows: Sequence[PolicyResult]) -> tuple[Line, ...]:
    """Return the marks of the WA that theory has for single rows, if there are any."""
    found = [(row.theory[1], at) for at, row in enumerate(rows) if row.theory]
    if not found:
        return ()
    models = {row.theory[0] for row in rows if row.theory}
    label = f"theory: {models.pop()}" if len(models) == 1 else "theory of the row"
    x, y = zip(*found, strict=True)
    return (Line(x, y, INK, 0.0, label=label, marker="diamond"),)


def _sections(rows: Sequence[PolicyResult]) -> tuple[str, ...]:
    """Return the section of each bar, or none if no bar has one."""
    found = tuple(row.section for row in rows)
    return found if any(found) else ()


def _causes(rows: Sequence[PolicyResult]) -> list[str]:
    """Return every cause that wrote a page in some row, host first, else as they first appear."""
    names = {"host": None} | {
        cause: None for row in rows for cause, pages in row.causes.items() if pages > 0
    }
    return list(names)


class WaDot(NamedTuple):
    """A WA by its name, its interval (NaN for none), and whether it has no reservation."""

    name: str
    wa: float
    low: float
    high: float
    is_sound: bool = True


def wa_by_name(
    dots: Sequence[WaDot], *, title: str, subtitle: str = "", interval: str = "95% CI"
) -> BarChart:
    """Describe a dot with its interval for each WA, such as those of several ways to answer.

    Args:
        dots: from the top.
        title: what is shown.
        subtitle: the drive.
        interval: name of the intervals.

    Raises:
        WriteampError: there is no dot.
    """
    if not dots:
        raise WriteampError("no way has an answer, so there is nothing to draw")
    points = []
    for label, is_sound, color in (
        ("WA", True, series_color(0)),
        ("outside its domain, or not steady", False, MUTED),
    ):
        chosen = [(one.wa, at) for at, one in enumerate(dots) if one.is_sound is is_sound]
        if chosen:
            x, y = zip(*chosen, strict=True)
            points.append(Line(x, y, color, 0.0, label=label, marker="circle"))
    return BarChart(
        title=title,
        subtitle=subtitle,
        x_label=f"{WA_LABEL}, with its {interval}",
        bars=tuple(one.name for one in dots),
        layers=(),
        texts=tuple(f"{one.wa:.4g}" for one in dots),
        low=tuple(one.low if one.high > one.low else math.nan for one in dots),
        high=tuple(one.high if one.high > one.low else math.nan for one in dots),
        points=tuple(points),
    )
