"""Figure of a timed run: latencies, and activity over virtual time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.devices.device import Device
from writeamp.plots.figures.latency import (
    DirectionSeries,
    cliff_panel,
    cliff_points,
    latency_panels,
)
from writeamp.plots.figures.points import point_ends
from writeamp.plots.spec import PanelChart
from writeamp.results import beside
from writeamp.runs.plan import Plan
from writeamp.runs.timed.measured import Served, TimedFigures
from writeamp.text import printable
from writeamp.units.durations import shown_duration


def figure_of(
    plan: Plan, device: Device, figures: TimedFigures, wa_series: pl.DataFrame
) -> PanelChart:
    """Describe latencies, and activity over virtual time; `wa_series` is empty without writes."""
    points = wa_points(figures, wa_series)
    cliff = _cliff(device, figures)
    return latency_panels(
        list(_directions(figures, points)),
        title=f"Latency and bandwidth: {plan.load_name}",
        subtitle=(
            f"device {printable(device.name)} · {shown_duration(figures.virtual_ns / 1e9)} of "
            f"virtual time · seed {plan.seed}"
        ),
        wa_time_s=points["time_s"].to_numpy(),
        wa=points["wa"].to_numpy(),
        more=[cliff_panel(*cliff)] if cliff[0] else [],
    )


def beside_of(
    device: Device, figures: TimedFigures, wa_series: pl.DataFrame, warmup_pages: int, wa: float
) -> dict[str, Any]:
    """Return the data of a page's drawings: WA, latencies and bandwidth over virtual time."""
    points = wa_points(figures, wa_series)
    ends = wa_series.filter(pl.col("host_pages") <= warmup_pages)["time_s"].to_list()
    warmup = max(ends, default=0.0)
    return {
        **beside.over_time(
            points["time_s"], points["wa"], x_words="virtual time (s)", warmup=warmup, mean=wa
        ),
        **beside.latencies(_directions(figures, points), *_cliff(device, figures)),
    }


def wa_points(figures: TimedFigures, wa_series: pl.DataFrame) -> pl.DataFrame:
    """Return the end in seconds and the WA of points that each have whole collections.

    Columns `time_s` and `wa`; empty without writes. Flash programs after the end of the host's
    requests are for earlier writes, so intervals after that end are left out.
    """
    rows = wa_series.filter(pl.col("time_s") <= figures.interval_ns[1] / 1e9)
    if not rows.height:
        return rows.select("time_s", "wa")
    written = np.diff(rows["host_pages"], prepend=0).astype(np.float64)
    ends = point_ends(written, rows["erases"])
    starts = np.concatenate(([0], ends[:-1] + 1))
    programmed = np.add.reduceat(written * rows["wa"].to_numpy(), starts)
    return pl.DataFrame(
        {"time_s": rows["time_s"].gather(ends), "wa": programmed / np.add.reduceat(written, starts)}
    )


def _directions(figures: TimedFigures, points: pl.DataFrame) -> Iterator[DirectionSeries]:
    """Yield the directions with requests, over spans that end with the points of WA, if any."""
    # The host's requests end within the last row, so its low rates would look like a drop. It is
    # left out.
    rows = figures.time_series.filter(pl.col("time_s") <= figures.interval_ns[1] / 1e9)
    rows = rows if rows.height else figures.time_series
    ends = points["time_s"].to_numpy() if points.height else rows["time_s"].to_numpy()
    spans = np.searchsorted(ends, rows["time_s"].to_numpy())
    for name, served in (("read", figures.reads), ("write", figures.writes)):
        if served.requests:
            yield _direction(name, served, rows, spans)


def _direction(
    name: str, served: Served, rows: pl.DataFrame, spans: npt.NDArray[np.intp]
) -> DirectionSeries:
    """Return means over the rows of each span, weighted by requests for latencies."""
    requests = pl.col(f"{name}_iops")
    latency = (pl.col(f"{name}_us") * requests).sum() / requests.sum()
    means = (
        rows.group_by(pl.Series("span", spans), maintain_order=True)
        .agg(pl.col("time_s").last(), pl.col(f"{name}_mb_s").mean(), latency.alias("us"))
        .with_columns(pl.col("us").cast(pl.Float64).fill_null(math.nan))
    )
    return DirectionSeries(
        label=f"{name}s",
        upper_us=served.upper_us,
        counts=served.counts,
        time_s=means["time_s"].to_numpy(),
        mb_s=means[f"{name}_mb_s"].to_numpy(),
        mean_us=means["us"].to_numpy(),
    )


def _cliff(device: Device, figures: TimedFigures) -> tuple[list[float], list[float]]:
    """Return the write cliff (bandwidth drop over bytes) of a drive with an SLC cache."""
    if figures.slc_wear is None:
        return [], []
    idle_ms = (device.times or {}).get("slc", {}).get("idle_ms", 0)
    pause_s = idle_ms / 1e3 if idle_ms else math.inf
    # The last sample is left out. It is taken when the device has settled, long after the last
    # write.
    time_s = figures.samples["time_ns"][:-1].astype(float) / 1e9
    return cliff_points(time_s, figures.samples["host_bytes"][:-1], pause_s=pause_s)
