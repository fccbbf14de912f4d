"""Figures of a simulation's result, with the titles and the theory that belong to it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from writeamp.models import expected_value, markov
from writeamp.plots.group_events import group_strips
from writeamp.plots.spec import LineChart, Strip
from writeamp.plots.wa_over_time import WaSeries, wa_over_time

if TYPE_CHECKING:
    from writeamp.result import Result

# More lines than this would hide what they mark.
_MOST_CHANGES = 50


def wa_over_time_of(result: Result) -> LineChart:
    """Describe write amplification over the run that `result` came from."""
    device, plan, steady = result.device, result.plan, result.steady_state
    pages_per_block = device.geometry.pages_per_block
    series = result.series
    run = WaSeries(
        label=str(plan.policy),
        drive_writes=series["drive_writes"].to_numpy(),
        wa=series["wa"].to_numpy(),
        warmup_drive_writes=steady.warmup_pages / device.logical_pages,
        steady_wa=result.wa,
        ci_low=steady.ci_low,
        ci_high=steady.ci_high,
    )
    theory: list[tuple[str, float]] = []
    if plan.load == "uniform":  # the one workload that the models describe
        theory = [
            ("expected-value (fifo)", float(expected_value(device.op))),
            ("markov (greedy)", float(markov(device.op, pages_per_block))),
        ]
    return wa_over_time(
        [run],
        theory,
        title=f"Write amplification over time: {plan.load_name}",
        subtitle=(
            f"op = (T-U)/U = {device.op:.4g} · device {device.name}: "
            f"{device.physical_pages // pages_per_block:,} blocks of {pages_per_block:,} pages · "
            f"seed {plan.seed}" + ("" if steady.steady else " · not steady")
        ),
        changes=[at / device.logical_pages for at in _swaps(plan.load, result.writes)],
        strips=_strips(result),
    )


def _strips(result: Result) -> tuple[Strip, ...]:
    events = result.events.with_columns(
        drive_writes=pl.col("host_pages") / result.device.logical_pages
    )
    created, merged, moved = (events.filter(kind=kind) for kind in ("created", "merged", "moved"))
    return group_strips(
        created["drive_writes"].to_numpy(),
        merged["drive_writes"].to_numpy(),
        moved["drive_writes"].to_numpy(),
        moved["blocks"].to_numpy(),
        intervals=result.series.height,
        end=result.drive_writes,
    )


def _swaps(load: object, writes: int) -> list[int]:
    """Return after how many writes `groups` swapped frequencies; none if too many to draw."""
    if not (isinstance(load, str) and re.match(r"groups[:(]", load)):
        return []
    given = dict(re.findall(r"\b(swap_at|period)=([^,)]+)", load))
    if given.get("swap_at", "never") == "never":
        return []
    swaps = [int(float(text)) for text in given["swap_at"].split("/")]
    if given.get("period", "never") != "never":
        period = int(float(given["period"]))
        more = range(swaps[-1] + period, writes, period)
        swaps += more[: _MOST_CHANGES + 1]
    swaps = [at for at in swaps if at < writes]
    return swaps if len(swaps) <= _MOST_CHANGES else []
