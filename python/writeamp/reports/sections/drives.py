"""Drawings of real drives: wear and forecast, WA over time, and fleets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from writeamp.plots.figures.drives import (
    DriveSeries,
    LifeBar,
    ModelBar,
    Wear,
    life_left,
    wa_by_model,
    wa_over_days,
    wear_over_time,
)
from writeamp.reports.report import Block, Drawing, Paragraph, Report, Section
from writeamp.reports.values import number, rows, words
from writeamp.results.numbers import four_digits, range_of, years_in_words
from writeamp.units.durations import DAY_S

# Drives with a drawing of their own, and drives in the drawing of a fleet.
_MOST_DRIVES, _MOST_LIVES = 12, 20


def wear(report: Report) -> Section | None:
    """Return a drawing of the readings, the fitted rate and the forecast of a real drive."""
    document = report.document
    points = [
        (days, used)
        for reading in rows(document, "readings")
        if (days := number(reading, "days")) is not None
        and (used := number(reading, "percentage_used")) is not None
    ]
    rates = [number(document, f"wear_a_year{end}") for end in ("_low", "", "_high")]
    positive = [rate for rate in rates if rate is not None and rate > 0]
    if not points or len(positive) < len(rates) or points[-1][1] >= 100:
        return None
    low, middle, high = positive
    caption = (
        "The forecast continues the fitted rate; the shaded area has the lowest and the highest "
        "rate that agree with the readings."
    )
    facts = f"Rate of wear: {middle:.3g}% of the rated life per year ({low:.3g}% to {high:.3g}%)."
    readings = Wear([day for day, _ in points], [used for _, used in points], (low, middle, high))
    drawing = Drawing(wear_over_time(readings), caption, facts)
    return Section("wear", "Wear and forecast", (drawing,))


def history(report: Report) -> Section | None:
    """Return a drawing of WA over time for each drive of a history."""
    drives = rows(report.document, "drives")
    drawn = tuple(_histories(drives)) if "intervals" in report.document else ()
    return Section("history", "WA over time", drawn) if drawn else None


def _histories(drives: list[Mapping[str, Any]]) -> Iterator[Block]:
    drawn = [line for drive in drives if (line := series_of(drive)).days]
    for line in drawn[:_MOST_DRIVES]:
        caption = "WA and host writes of each interval."
        yield Drawing(wa_over_days([line]), caption, _span(line))
    if len(drawn) > _MOST_DRIVES:
        yield Paragraph(f"{len(drawn) - _MOST_DRIVES} more drives are in the tables only.", "muted")


def _span(line: DriveSeries) -> str:
    values = [wa for wa in line.wa if not math.isnan(wa)]
    wa = "unknown"
    if values:
        wa = range_of(min(values), max(values)) or four_digits(values[0])
    return f"{line.name}: WA is {wa} over {line.days[-1]:.4g} days."


def series_of(drive: Mapping[str, Any]) -> DriveSeries:
    """Return WA and host writes of the intervals of a drive in a history's document."""
    days: list[float] = []
    wa: list[float] = []
    daily: list[float] = []
    first = None
    for interval in rows(drive, "intervals"):
        start, end = number(interval, "from"), number(interval, "until")
        if start is None or end is None:
            continue
        first = start if first is None else first
        length, host = (end - start) / DAY_S, number(interval, "host_bytes")
        has_rate = host is not None and length > 0 and not interval.get("is_break")
        for at in (start, end):
            days.append((at - first) / DAY_S)
            value = number(interval, "wa")
            wa.append(math.nan if value is None else value)
            daily.append(host / length / 1e9 if host is not None and has_rate else math.nan)
    return DriveSeries(words(drive, "name") or words(drive, "drive"), days, wa, daily)


def fleet(report: Report) -> Section | None:
    """Return drawings of a fleet: years left, and WA by model."""
    document = report.document
    if not {"drives", "models", "skipped"} <= document.keys():
        return None
    lives = [
        LifeBar(words(drive, "name") or words(drive, "file"), low, high)
        for drive in rows(document, "drives")
        if (low := number(drive, "years_left_low")) is not None
        and (high := number(drive, "years_left_high")) is not None
    ]
    models = [
        ModelBar(
            words(model, "model") or "model not named",
            int(number(model, "with_wa") or 0),
            wa,
            number(model, "wa_min") or wa,
            number(model, "wa_max") or wa,
            int(number(model, "outliers") or 0),
        )
        for model in rows(document, "models")
        if (wa := number(model, "wa")) is not None
    ]
    drawings: list[Block] = []
    if lives:
        first = f"{lives[0].drive} has {years_in_words(lives[0].low, lives[0].high)} years left."
        figure = life_left(lives[:_MOST_LIVES])
        drawings.append(Drawing(figure, "Shortest remaining life first.", first))
    if models:
        caption = "Bars are medians, lines are from lowest to highest WA."
        highest = f"{models[0].model} has the highest median WA, {models[0].wa:.4g}."
        drawings.append(Drawing(wa_by_model(models, ""), caption, highest))
    return Section("fleet", "Life left, and WA by model", tuple(drawings)) if drawings else None
