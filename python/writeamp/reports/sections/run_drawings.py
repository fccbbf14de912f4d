"""Drawings of a run: WA over time, latencies, and blocks at the end."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from writeamp.plots.figures.latency import DirectionSeries, cliff_panel, latency_panels
from writeamp.plots.figures.points import WHOLE_COLLECTIONS
from writeamp.plots.figures.wa_over_time import WaSeries, wa_over_time
from writeamp.plots.spec import Band, ColorScale, HeatMap, HeatMapChart, LineChart
from writeamp.plots.style import WA_LABEL, series_color
from writeamp.reports.report import Block, Drawing, Report, Section
from writeamp.reports.values import number, numbers, numbers_or_gaps, rows, table, words

_CELLS_IN_A_ROW = 64


def over_time(report: Report) -> Section | None:
    """Return a drawing of WA over time, with the mean after the warm-up."""
    series = table(report.more, "over_time")
    x, wa = numbers(series, "x"), numbers(series, "wa")
    if len(x) < 2 or len(x) != len(wa) or x[-1] <= 0:
        return None
    mean = number(series, "mean")
    run = WaSeries(
        "mean of an interval",
        x,
        wa,
        number(series, "warmup") or 0.0,
        math.nan if mean is None else mean,
    )
    figure = wa_over_time([run], title="Write amplification over time", subtitle="")
    figure = replace(figure, x_label=words(series, "x_words"), y_label=WA_LABEL)
    caption = f"Mean WA of intervals: {WHOLE_COLLECTIONS}"
    caption += "." if mean is None else "; the thick line is the mean after the warm-up."
    facts = "" if mean is None else f"The mean is {mean:.4g}."
    command = None
    if report.verb == "simulate":
        command = report.with_options("--series", "--json")
    return Section("over-time", "Over time", (Drawing(figure, caption, facts),), command=command)


def latencies(report: Report) -> Section | None:
    """Return drawings of latencies and bandwidth of a timed run."""
    data = table(report.more, "latencies")
    directions = [
        direction
        for stored in rows(data, "directions")
        if (direction := _direction(stored)) is not None
    ]
    if not directions:
        return None
    cliff = [numbers_or_gaps(data, key) for key in ("cliff_gb", "cliff_mb_s")]
    has_cliff = bool(cliff[0]) and len(cliff[0]) == len(cliff[1])
    more = [cliff_panel(*cliff)] if has_cliff else []
    figure = latency_panels(directions, title="Latency and bandwidth", subtitle="", more=more)
    caption = f"Requests in virtual time. Over time, {WHOLE_COLLECTIONS}."
    return Section("latency", "Latency and bandwidth", (Drawing(figure, caption),))


def _direction(stored: Mapping[str, Any]) -> DirectionSeries | None:
    """Return the data of a direction, or None if arrays are missing or of different lengths."""
    upper_us, counts, time_s = (numbers(stored, key) for key in ("upper_us", "counts", "time_s"))
    mb_s, mean_us = numbers(stored, "mb_s"), numbers_or_gaps(stored, "mean_us")
    is_sound = len(upper_us) == len(counts) and len(time_s) == len(mb_s) == len(mean_us)
    if not is_sound or not sum(counts) > 0:
        return None
    return DirectionSeries(words(stored, "label"), upper_us, counts, time_s, mb_s, mean_us)


def blocks(report: Report) -> Section | None:
    """Return histograms of blocks by valid pages and by erase count."""
    drawings = tuple(_drawings(report))
    return Section("blocks", "Blocks at the end", drawings) if drawings else None


def _drawings(report: Report) -> Iterator[Block]:
    for key, x_words, caption in (
        (
            "valid_pages",
            "valid pages of a block",
            "Garbage collection moves the valid pages of its victim, so blocks on the left are "
            "cheap victims. Blocks on the right hold data that was not overwritten.",
        ),
        ("erase_counts", "erases of a block", "A narrow distribution means even wear."),
    ):
        edges, counts = (numbers(table(report.more, key), name) for name in ("edges", "counts"))
        # A single bar shows no distribution.
        has_bars = len(edges) == len(counts) + 1 and sum(count > 0 for count in counts) > 1
        if has_bars and edges[0] < edges[-1]:
            yield Drawing(_histogram(edges, counts, x_words), caption)
    wear = table(report.more, "wear")
    erases = numbers(wear, "erases")
    if erases:
        yield Drawing(_wear_map(erases), _caption(wear), _facts(wear))


def _histogram(edges: Sequence[float], counts: Sequence[float], x_words: str) -> LineChart:
    """Describe a histogram; bar i counts values from edge i to edge i + 1, which is excluded."""
    color = series_color(0)
    bars = zip(edges, edges[1:], counts, strict=False)
    return LineChart(
        title=f"Histogram of {x_words}",
        subtitle="",
        x_label=x_words,
        y_label="blocks",
        lines=(),
        bands=tuple(
            Band(low - 0.5, high - 0.5, 0.0, count, color, 0.9, _bar_text(low, high, count))
            for low, high, count in bars
            if count
        ),
        x_from=edges[0] - 0.5,
        counts=True,
    )


def _bar_text(low: float, high: float, count: float) -> str:
    ends = f"{low:.6g}" if high - low == 1 else f"{low:.6g} to {high - 1:.6g}"
    return f"{ends}: {count:,.6g} blocks"


def _wear_map(erases: Sequence[float]) -> HeatMapChart:
    columns = min(len(erases), _CELLS_IN_A_ROW)
    cells = [*erases, *[math.nan] * (-len(erases) % columns)]
    cells_by_row = tuple(tuple(cells[at : at + columns]) for at in range(0, len(cells), columns))
    return HeatMapChart(
        title="Map of the erases of each block",
        subtitle="",
        x_label="",
        y_label="",
        x_ticks=(),
        y_ticks=(),
        color_label="erases",
        maps=(HeatMap("", cells_by_row),),
        columns=1,
        scale=ColorScale(min(erases), max(erases)),
        cell_format="",
    )


def _caption(wear: Mapping[str, Any]) -> str:
    joined = number(wear, "blocks_of_a_cell") or 1
    cell = "A cell is a block" if joined == 1 else f"A cell is the mean of {joined:.0f} blocks"
    return f"Wear map. {cell}, in the order of block numbers. Darker cells have more erases."


def _facts(wear: Mapping[str, Any]) -> str:
    least, mean, most = (number(wear, name) or 0 for name in ("least", "mean", "most"))
    return f"Erases of a block: {least:,.0f} to {most:,.0f}, mean {mean:,.1f}."
