"""Figures of a simulation's result, with the titles and the theory that belong to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writeamp.models import expected_value, markov
from writeamp.plots.spec import LineChart
from writeamp.plots.wa_over_time import WaSeries, wa_over_time

if TYPE_CHECKING:
    from writeamp.result import Result


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
    )
