"""Figures of real drives: histories over days, and models of a fleet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from writeamp.errors import WriteampError
from writeamp.plots.spec import BarChart, Layer, Line, Panel, PanelChart
from writeamp.plots.style import panels_apart, series_color

# Maximum number of lines; more lines would be hard to distinguish.
_MOST_DRIVES = 8


class DriveSeries(NamedTuple):
    """WA and host writes (GB per day) of a drive, over days since its first snapshot."""

    name: str
    days: list[float]
    wa: list[float]
    daily_gb: list[float]


def wa_over_days(drives: Sequence[DriveSeries]) -> PanelChart:
    """Describe WA and host writes of the first eight drives over time, a line for each drive."""
    shown = drives[:_MOST_DRIVES]
    wa = [
        Line(drive.days, drive.wa, series_color(at), label=drive.name)
        for at, drive in enumerate(shown)
    ]
    daily = [Line(drive.days, drive.daily_gb, series_color(at)) for at, drive in enumerate(shown)]
    more = f"{len(drives) - len(shown)} more drives are not shown" if shown != drives else ""
    panels = (
        Panel("Write amplification of each interval", tuple(wa), x_label="days", y_label="WA"),
        Panel("Host writes", tuple(daily), x_label="days", y_label="GB a day"),
    )
    return panels_apart("Write amplification of drives over time", more, panels, columns=1)


# Maximum number of bars; more bars would be unreadable.
_MOST_ROWS = 40


class ModelBar(NamedTuple):
    """Drives of one model: their number, median WA, range of WA, and number of outliers."""

    model: str
    drives: int
    wa: float
    low: float
    high: float
    outliers: int


def wa_by_model(models: Sequence[ModelBar], subtitle: str) -> BarChart:
    """Describe the median WA of each model as a bar, with the range over its drives.

    Args:
        models: in the order of the bars; only the first 40 are shown.
        subtitle: the fleet.

    Raises:
        WriteampError: `models` is empty.
    """
    if not models:
        raise WriteampError("no model has a drive with a known WA to draw")
    shown = models[:_MOST_ROWS]
    left_out = f"; {len(models) - len(shown)} models are not shown" if shown != models else ""
    return BarChart(
        title="Write amplification of drives by model",
        subtitle=subtitle + left_out,
        x_label="write amplification since the drive was new: median, lowest and highest",
        bars=tuple(f"{model.model} ({model.drives})" for model in shown),
        layers=(Layer("median", series_color(0), tuple(model.wa for model in shown)),),
        low=tuple(model.low for model in shown),
        high=tuple(model.high for model in shown),
        texts=tuple(
            f"{model.wa:.2f}" + (f", outliers: {model.outliers}" if model.outliers else "")
            for model in shown
        ),
    )
