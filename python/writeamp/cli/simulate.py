"""`writeamp simulate`: simulation of a drive under a workload or a trace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from writeamp.cli import findings, options, simulate_op
from writeamp.cli.experiment_options import register_experiment
from writeamp.cli.progress_bar import Bar
from writeamp.cli.runner_options import with_scheduler
from writeamp.cli.setting_options import with_settings
from writeamp.errors import WriteampError
from writeamp.plots import check_target
from writeamp.runners import Runner
from writeamp.settings.experiment import Experiment
from writeamp.studies.op.settings import OpSettings

if TYPE_CHECKING:
    import polars as pl


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    register_experiment(app, with_scheduler(with_settings(simulate)))


def simulate(
    experiment: Experiment,
    *,
    series: Annotated[
        bool,
        typer.Option(
            "--series",
            help="Add WA over time and the manager's events to the JSON document; with --csv, "
            "print WA over time.",
        ),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw WA over time, with marks for events of the manager and changes of the load; "
            "with --target-wa or --sweep, draw WA over op (.png, .svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    over_op: OpSettings,
    keep: options.Keep = None,
    runner: Runner | None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Simulate a drive and measure its write amplification (WA).

    Example: writeamp simulate --workload hot-cold:f=0.1,r=0.9 --op 0.15 --victims d-choices:d=10

    Example: writeamp simulate --trace disk.csv --target-wa 1.5

    Example: writeamp simulate --trace disk.csv --sweep op=0.05:0.4:6 --plot op.png
    """
    if plot is not None:
        check_target(plot)
    if series and not (json or csv):
        raise WriteampError("--series extends the output of --json or --csv; give one of these too")
    if over_op.target_wa is not None or over_op.sweep is not None:
        if series:
            raise WriteampError(
                "--series is for a single run; leave it out with --target-wa and --sweep"
            )
        simulate_op.simulate_over_op(
            experiment, over_op, plot=plot, keep=keep, runner=runner, json=json, csv=csv
        )
        return
    if keep is not None or runner is not None:
        option = "--scheduler" if keep is None else "--keep"
        raise WriteampError(f"{option} is for many runs; give --target-wa or --sweep too")
    from writeamp.studies.simulation import run_simulation  # noqa: PLC0415 (slow)

    words = _share if experiment.is_timed or experiment.candidates else _millions
    with Bar("simulating", words) as bar:
        result = run_simulation(experiment, bar.update)
    if result.load is not None and experiment.load.fio_name is None:
        findings.of_load(result.load)

    def frame() -> pl.DataFrame:
        over_time = result.series if series else None
        return result.to_frame() if over_time is None else over_time

    options.show_result(
        result,
        json=json,
        csv=csv,
        plot=plot,
        document=lambda: result.to_dict(series=series),
        frame=frame,
    )


def _share(done: int, expected: int) -> str:
    return f"{done / expected:.0%}"


def _millions(done_pages: int, expected_pages: int) -> str:
    return f"{done_pages / 1e6:.1f} of {expected_pages / 1e6:.1f} M pages"
