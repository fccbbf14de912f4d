"""Figures of real drives: histories over days, and models of a fleet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from writeamp.errors import WriteampError
from writeamp.plots.spec import Area, BarChart, Layer, Line, Mark, Panel, PanelChart
from writeamp.plots.style import INK, panels_apart, series_color
from writeamp.units.durations import DAYS_A_YEAR

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


class LifeBar(NamedTuple):
    """Bounds of the years that a drive has left."""

    drive: str
    low: float
    high: float


def life_left(drives: Sequence[LifeBar]) -> BarChart:
    """Describe the years left of the first 40 drives: a bar to the lower bound, then the range.

    Raises:
        WriteampError: `drives` is empty.
    """
    if not drives:
        raise WriteampError("no drive has a known remaining life to draw")
    shown = drives[:_MOST_ROWS]
    return BarChart(
        title="Years left of drives at this rate",
        subtitle=f"{len(drives) - len(shown)} drives are not shown" if shown != drives else "",
        x_label="years until the rated life is used: lower and upper bound",
        bars=tuple(drive.drive for drive in shown),
        layers=(Layer("lower bound", series_color(0), tuple(drive.low for drive in shown)),),
        low=tuple(drive.low for drive in shown),
        high=tuple(drive.high for drive in shown),
        texts=tuple("" for _ in shown),
    )


class Wear(NamedTuple):
    """Readings of percentage used over days, and rates of wear, in percent per year.

    The rates are the lowest, the fitted and the highest one.
    """

    days: Sequence[float]
    percent: Sequence[float]
    rates: tuple[float, float, float]


_WHOLE_PERCENT, _MOST_YEARS = 100.0, 100.0


def wear_over_time(wear: Wear) -> PanelChart:
    """Describe the readings with the fitted rate, and the forecast until the rated life is used."""
    last_day, last = wear.days[-1], wear.percent[-1]
    low, middle, _ = wear.rates
    panels = []
    if len(wear.days) > 1:
        fit = [last + (day - last_day) / DAYS_A_YEAR * middle for day in (wear.days[0], last_day)]
        lines = (
            Line(wear.days, wear.percent, series_color(0), 0.0, marker="circle", label="readings"),
            Line((wear.days[0], last_day), fit, series_color(1), label="fitted rate"),
        )
        panels.append(
            Panel(
                "History and fit",
                lines,
                x_label="days since the first reading",
                y_label="rated life used, %",
                from_zero=False,
            )
        )
    end = min((_WHOLE_PERCENT - last) / low, _MOST_YEARS) if low > 0 else _MOST_YEARS
    years = [end * step / 50 for step in range(51)]
    at_rate = [[min(last + rate * year, _WHOLE_PERCENT) for year in years] for rate in wear.rates]
    panels.append(
        Panel(
            "Forecast",
            (Line(years, at_rate[1], series_color(1), label="fitted rate"),),
            areas=(Area(years, at_rate[0], at_rate[2], series_color(1)),),
            levels=(Mark(_WHOLE_PERCENT, INK, "dash", "rated life"),),
            x_label="years after the last reading",
            y_label="rated life used, %",
        )
    )
    return panels_apart("Rated life used", "", panels, columns=1)
