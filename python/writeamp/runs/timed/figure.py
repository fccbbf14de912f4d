"""Figure of a timed run: latencies, and activity over virtual time."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from writeamp.devices.device import Device
from writeamp.plots.figures.latency import DirectionSeries, cliff_panel, latency_panels
from writeamp.plots.spec import Panel, PanelChart
from writeamp.runs.plan import Plan
from writeamp.runs.timed.measured import Served, TimedFigures
from writeamp.text import printable
from writeamp.units.durations import shown_duration


def figure_of(
    plan: Plan, device: Device, figures: TimedFigures, wa_series: pl.DataFrame
) -> PanelChart:
    """Describe latencies, and activity over virtual time; `wa_series` is empty without writes."""
    # Flash programs after the end of the host's requests are for earlier writes, so intervals after
    # that end are left out.
    wa_series = wa_series.filter(pl.col("time_s") <= figures.interval_ns[1] / 1e9)
    # The host's requests end within the last row, so its low rates would look like a drop. It is
    # left out.
    end_s = figures.interval_ns[1] / 1e9
    rows = figures.time_series.filter(pl.col("time_s") <= end_s)
    directions = [
        _direction(name, served, rows if rows.height else figures.time_series)
        for name, served in (("read", figures.reads), ("write", figures.writes))
        if served.requests
    ]
    return latency_panels(
        directions,
        title=f"Latency and bandwidth: {plan.load_name}",
        subtitle=(
            f"device {printable(device.name)} · {shown_duration(figures.virtual_ns / 1e9)} of "
            f"virtual time · seed {plan.seed}"
        ),
        wa_time_s=wa_series["time_s"].to_numpy() if wa_series.height else (),
        wa=wa_series["wa"].to_numpy() if wa_series.height else (),
        more=[] if figures.slc_wear is None else _cliff(device, figures),
    )


def _cliff(device: Device, figures: TimedFigures) -> list[Panel]:
    """Return the panel with the write cliff (bandwidth drop over time), if the host wrote."""
    idle_ms = (device.times or {}).get("slc", {}).get("idle_ms", 0)
    pause_s = idle_ms / 1e3 if idle_ms else math.inf
    # The last sample is left out. It is taken when the device has settled, long after the last
    # write.
    time_s = figures.samples["time_ns"][:-1].astype(float) / 1e9
    panel = cliff_panel(time_s, figures.samples["host_bytes"][:-1], pause_s=pause_s)
    return [] if panel is None else [panel]


def _direction(name: str, served: Served, rows: pl.DataFrame) -> DirectionSeries:
    return DirectionSeries(
        label=f"{name}s",
        upper_us=served.upper_us,
        counts=served.counts,
        time_s=rows["time_s"].to_numpy(),
        mb_s=rows[f"{name}_mb_s"].to_numpy(),
        mean_us=rows[f"{name}_us"].cast(pl.Float64).fill_null(np.nan).to_numpy(),
    )
