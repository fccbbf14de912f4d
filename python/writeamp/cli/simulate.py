"""`writeamp simulate`: a drive in memory under a workload or a trace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from writeamp.cli import options
from writeamp.cli.bar import Bar
from writeamp.cli.experiment_options import register_experiment
from writeamp.cli.options import stdout
from writeamp.errors import WriteampError
from writeamp.experiments.expectation import expectation
from writeamp.experiments.experiment import Experiment
from writeamp.experiments.simulation import run_simulation
from writeamp.experiments.simulation_result import Result
from writeamp.plots import check_target


def register(app: typer.Typer) -> None:
    """Add the verb."""
    register_experiment(app, simulate)


def simulate(
    experiment: Experiment,
    *,
    series: Annotated[
        bool,
        typer.Option(
            "--series", help="Add WA over time and the manager's events to the JSON document."
        ),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", help="Draw WA over time, and events, to a .png, .svg, .pdf or .html file."
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Simulate a drive and measure its write amplification (WA).

    Example: writeamp simulate --workload hot-cold:f=0.1,r=0.9 --op 0.15 --victims d-choices:d=10
    """
    if plot is not None:
        check_target(plot)
    if series and not json:
        raise WriteampError("--series adds to the JSON document; give --json too")
    with Bar("simulating", _millions) as bar:
        result = run_simulation(experiment, bar.update)
    for sentence in result.notes:
        options.note(sentence)
    for sentence in result.warnings:
        options.warn(sentence)
    if json:
        options.print_json(result.to_dict(series=series))
    else:
        _print(result)
    if plot is not None:
        result.plot(plot)


def _millions(done_pages: int, expected_pages: int) -> str:
    return f"{done_pages / 1e6:.1f} of {expected_pages / 1e6:.1f} M pages"


def _print(result: Result) -> None:
    device, (low, high) = result.device, result.ci
    rows = [
        ("workload", result.plan.load_name),
        ("manager, victims", str(result.plan.policy)),
        (
            "drive",
            f"{device.name}: {device.geometry.blocks:,} blocks × "
            f"{device.geometry.pages_per_block:,} pages, {device.layout}",
        ),
        (
            "space",
            f"op {device.op:.4g} = (T-U)/U, fill {device.fill:.4g}, "
            f"spare factor {device.spare_factor:.4g}",
        ),
        (
            "measured",
            f"{result.host_pages:,} host pages after a warm-up of {result.warmup_pages:,}",
        ),
        ("run", f"{result.drive_writes:.1f} drive writes, seed {result.plan.seed}"),
        (
            "steady",
            result.steady_state.reason if result.steady else f"NO: {result.steady_state.reason}",
        ),
    ]
    rows += [(f"programmed: {cause}", f"{pages:,} pages") for cause, pages in result.causes.items()]
    rows.append(("erased", f"{result.erases:,} blocks"))
    rows.append(("theory", expectation(result)))
    if result.spread:
        rows.append(
            (
                "WA, one block less / more",
                f"{result.spread.one_block_less:.4f} / {result.spread.one_block_more:.4f}",
            )
        )
    rows.append(("write amplification", f"{result.wa:.4f}  (95% CI {low:.4f} to {high:.4f})"))
    stdout.print(options.facts(rows))
