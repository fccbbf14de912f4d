"""`writeamp simulate`: a drive in memory under a workload or a trace."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from writeamp.cli import findings, options, simulate_op
from writeamp.cli.experiment_options import register_experiment
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.cli.runner_options import with_scheduler
from writeamp.cli.setting_options import with_settings
from writeamp.cli.timed_table import print_timed
from writeamp.errors import WriteampError
from writeamp.plots import check_target
from writeamp.runners import Runner
from writeamp.runs.words import shape_in_words, wa_in_words
from writeamp.settings.experiment import Experiment
from writeamp.studies.op.settings import OpSettings
from writeamp.units.byte_sizes import shown_bytes

if TYPE_CHECKING:
    from writeamp.runs.capacity_error import Scaling
    from writeamp.runs.simulation_result import Result

# A longer list of passes shows so many at each end.
_MOST_PASSES = 8
_SHOWN_PASSES = 3


def register(app: typer.Typer) -> None:
    """Add the verb."""
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
            help="Draw WA over time, and events, or WA over op, to a .png, .svg, .pdf or .html "
            "file.",
        ),
    ] = None,
    over_op: OpSettings,
    out: options.Out = None,
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
        raise WriteampError("--series adds to the JSON document; give --json too, or --csv")
    if over_op.target_wa is not None or over_op.sweep is not None:
        if series:
            raise WriteampError("--series is of one run, and --target-wa and --sweep make many")
        simulate_op.simulate_over_op(
            experiment, over_op, plot=plot, out=out, runner=runner, json=json, csv=csv
        )
        return
    if out is not None or runner is not None:
        given = "--scheduler runs" if out is None else "--out keeps"
        raise WriteampError(f"{given} the many drives of --target-wa and --sweep; give one of them")
    from writeamp.runs.timed.result import TimedResult  # noqa: PLC0415 (slow)
    from writeamp.studies.mixture import Mixture  # noqa: PLC0415 (slow)
    from writeamp.studies.simulation import run_simulation  # noqa: PLC0415 (slow)

    told = _share if experiment.is_timed or experiment.candidates else _millions
    with Bar("simulating", told) as bar:
        result = run_simulation(experiment, bar.update)
    if isinstance(result, Mixture):
        rows = [(name, text) for name, text in result.card().rows]
        options.tell(
            result, lambda: stdout.print(options.facts(rows)), json=json, csv=csv, plot=plot
        )
        return
    found = findings.of_load(result.plan.load)
    options.tell(
        result,
        lambda: print_timed(result) if isinstance(result, TimedResult) else _print(result),
        json=json,
        csv=csv,
        plot=plot,
        document=lambda: findings.with_findings(result.to_dict(series=series), found),
        frame=lambda: result.series if series else result.to_frame(),
    )


def _share(done: int, expected: int) -> str:
    return f"{done / expected:.0%}"


def _millions(done_pages: int, expected_pages: int) -> str:
    return f"{done_pages / 1e6:.1f} of {expected_pages / 1e6:.1f} M pages"


def _print(result: Result) -> None:
    device = result.device
    rows = [
        ("workload", result.plan.load_name),
        ("manager, victims", str(result.plan.policy)),
        ("drive", shape_in_words(device)),
        (
            "space",
            f"op {device.op:.4g} = (T-U)/U, fill {device.fill:.4g}, "
            f"spare factor {device.spare_factor:.4g}",
        ),
        (
            "measured",
            f"{result.host_pages:,} host pages after a warm-up of {result.warmup_pages:,}",
        ),
        ("before the run", _before(result)),
        ("run", f"{result.drive_writes:.1f} drive writes, seed {result.plan.seed}"),
        (
            "steady",
            result.steady_state.reason if result.steady else f"NO: {result.steady_state.reason}",
        ),
    ]
    rows += [(f"programmed: {cause}", f"{pages:,} pages") for cause, pages in result.causes.items()]
    rows.append(("erased", f"{result.erases:,} blocks"))
    if result.percentage_used is not None:
        rows.append(("percentage used", f"{result.percentage_used:.3g}% by the whole run"))
    rows.append(("theory", f"{result.theory}; at {result.held_in_words}"))
    if result.scaling:
        rows += _scaling(result.scaling)
    if result.spread:
        rows.append(
            (
                "WA, one block less / more",
                f"{result.spread.one_block_less:.4f} / {result.spread.one_block_more:.4f}",
            )
        )
    rows += _passes(result)
    if result.predicted_wa is not None:
        rows.append(("predicted by the manager", f"{result.predicted_wa:.4f}"))
    if result.has_partial_pages:
        factor = result.partial_page_factor
        rows.append(("WA per host byte", f"{result.wa_bytes:.4f}  (what SMART shows)"))
        rows.append(("", f"= WA per page × {factor:.4f}, as pages are written in part"))
    name = "WA per page" if result.has_partial_pages else "write amplification"
    rows.append((name, wa_in_words(result.wa, result.ci)))
    stdout.print(options.facts(rows))


def _scaling(scaling: Scaling) -> list[tuple[str, str]]:
    """Return table rows on the drive that was simulated for a capacity, and on its error."""
    scale = scaling.scale
    capacity = f"{scale.capacity_bytes:,} bytes = {shown_bytes(scale.capacity_bytes)}"
    if scale.is_exact:
        return [("capacity", f"{capacity}, simulated as it is")]
    simulated = f"simulated as {shown_bytes(scale.simulated_bytes)}, {scale.factor:.4g}:1"
    error = "not known" if math.isnan(scaling.error) else f"±{scaling.error:.4f}"
    return [
        ("capacity", f"{capacity}, {simulated}"),
        ("error of scaling", f"{error} of WA, in its interval"),
    ]


def _before(result: Result) -> str:
    """Return in what state the run found the drive."""
    ageing, state = result.ageing, result.plan.host.precondition
    if ageing is None:
        return state
    drive_writes = ageing.host_pages / result.device.logical_pages
    steady = {True: ", steady", False: ", NOT steady", None: ""}[ageing.steady]
    return (
        f"{state}: aged by {drive_writes:.4g} drive writes, WA of the last round "
        f"{ageing.rounds[-1]:.4f}{steady}"
    )


def _passes(result: Result) -> list[tuple[str, str]]:
    """Return WA of each pass over a looped trace, as far as a line holds them."""
    found = [f"{wa:.4f}" for wa in result.passes["wa"]]
    if len(found) < 2:
        return []
    if len(found) > _MOST_PASSES:
        found = [*found[:_SHOWN_PASSES], "…", *found[-_SHOWN_PASSES:]]
    return [("WA by pass", ", ".join(found))]
