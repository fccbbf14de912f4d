"""Figures of real drives: their histories over days, and models of a fleet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from writeamp.errors import WriteampError
from writeamp.plots.spec import BarChart, Layer, Line, Panel, PanelChart
from writeamp.plots.style import panels_apart, series_color

# More lines than this cannot be told apart.
_MOST_DRIVES = 8


class DriveSeries(NamedTuple):
    """A drive over days since it was first read: WA, and gigabytes of the host a day."""

    name: str
    days: list[float]
    wa: list[float]
    daily_gb: list[float]


def wa_over_days(drives: Sequence[DriveSeries]) -> PanelChart:
    """Describe WA above the host's volume, a line a drive; the first eight are shown."""
    shown = drives[:_MOST_DRIVES]
    wa = [Line(one.days, one.wa, series_color(at), label=one.name) for at, one in enumerate(shown)]
    daily = [Line(one.days, one.daily_gb, series_color(at)) for at, one in enumerate(shown)]
    more = f"{len(drives) - len(shown)} more drives are not shown" if shown != drives else ""
    panels = (
        Panel("Write amplification of each interval", tuple(wa), x_label="days", y_label="WA"),
        Panel("Volume of the host", tuple(daily), x_label="days", y_label="GB a day"),
    )
    return panels_apart("Write amplification of drives over time", more, panels, columns=1)


# More rows than this cannot be read.
_MOST_ROWS = 40


class ModelBar(NamedTuple):
    """Drives of a model: how many, their median WA with its range, and how many stand out."""

    model: str
    drives: int
    wa: float
    low: float
    high: float
    outliers: int


def wa_by_model(models: Sequence[ModelBar], subtitle: str) -> BarChart:
    """Describe the WA of models as bars to the median, with the range of their drives.

    Args:
        models: in the order of the bars; those after the first forty are left out.
        subtitle: what they are of.

    Raises:
        WriteampError: there are no models.
    """
    if not models:
        raise WriteampError("no model has a drive with a WA, so there is nothing to draw")
    shown = models[:_MOST_ROWS]
    left_out = f"; {len(models) - len(shown)} models are not shown" if shown != models else ""
    return BarChart(
        title="Write amplification of drives by model",
        subtitle=subtitle + left_out,
        x_label="write amplification since the drive was new: median, least and greatest",
        bars=tuple(f"{one.model} ({one.drives})" for one in shown),
        layers=(Layer("median", series_color(0), tuple(one.wa for one in shown)),),
        low=tuple(one.low for one in shown),
        high=tuple(one.high for one in shown),
        texts=tuple(
            f"{one.wa:.2f}" + (f", {one.outliers} stand out" if one.outliers else "")
            for one in shown
        ),
    )
