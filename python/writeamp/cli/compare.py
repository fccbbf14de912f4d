"""`writeamp compare`: many block managers on one workload or trace."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from writeamp._engine import CAUSES
from writeamp.cli import options
from writeamp.cli.bar import Bar
from writeamp.cli.experiment_options import register_experiment
from writeamp.cli.options import stdout
from writeamp.cli.runner_options import with_scheduler
from writeamp.devices.byte_sizes import shown_bytes
from writeamp.experiments.comparison import run_comparison
from writeamp.experiments.comparison_result import Comparison
from writeamp.experiments.experiment import Experiment
from writeamp.plots import check_target
from writeamp.plots.style import with_error
from writeamp.runners import Runner

# What a host can say of its pages, in words.
_HINTS = (
    ("groups", "the groups of pages"),
    ("invalidation_times", "when each page is invalidated"),
)


def register(app: typer.Typer) -> None:
    """Add the verb."""
    register_experiment(app, with_scheduler(compare))


def compare(
    experiment: Experiment,
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw WA of every manager to a .png, .svg, .pdf or .html file.",
            metavar="FILE",
        ),
    ] = None,
    runner: Runner | None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Compare block managers on one drive: WA by cause, wear, memory, speed.

    All get the same host writes. Some get hints of the pages that others do not; the table says
    which.

    Example: writeamp compare --managers single,sepgc,hcwf --workload hot-cold:f=0.1,r=0.9 --op 0.15
    """
    if plot is not None:
        check_target(plot)
    with Bar("comparing", lambda done, runs: f"{done} of {runs} runs") as bar:
        found = options.whole_or_part(lambda: run_comparison(experiment, bar.update, runner))
    for sentence in found.notes:
        options.note(sentence)
    for sentence in found.warnings:
        options.warn(sentence)
    if json:
        options.print_json(found.to_dict())
    elif csv:
        options.print_csv(found.to_frame())
    else:
        _print(found)
    if found.interrupted_of:
        raise options.PartlyDone(
            f"{len(found.rows)} of {len(found.interrupted_of)} managers were finished, not "
            f"{', '.join(found.unfinished)}; no picture was drawn"
        )
    if plot is not None:
        found.plot(plot)


def _print(found: Comparison) -> None:
    first, device = found.rows[0].results[0], found.device
    table = Table(
        title=f"{_interrupted(found)}{first.plan.load_name} on {device.name}, "
        f"op {device.op:.4g} = (T-U)/U, {device.layout}; {len(found.rows[0].results)} run(s) each",
        title_justify="left",
        title_style="bold",
    )
    table.add_column("manager", overflow="fold", min_width=13)
    others = [
        cause
        for cause in CAUSES
        if cause == "gc" or (cause != "host" and any(row.causes[cause] for row in found.rows))
    ]
    headings = [f"{cause}/host".replace("_", " ") for cause in others]
    of_bytes = ("WA/byte", "WA/page") if found.has_partial_pages else ("WA",)
    for heading in (*of_bytes, *headings, "fairness", "B/page", "M\npages/s"):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    for row in sorted(found.rows, key=lambda row: row.wa):
        table.add_row(
            row.manager,
            *((f"{row.wa_bytes:.3f}",) if found.has_partial_pages else ()),
            with_error(row.wa, *row.ci),
            *(f"{row.causes[cause] / row.causes['host']:.3f}" for cause in others),
            f"{row.pe_fairness:.3f}",
            f"{row.bytes_per_page:.2f}",
            f"{row.host_pages_per_s / 1e6:.1f}",
        )
    stdout.print(table)
    _print_scaling(found)
    for hints, what in _HINTS:
        managers = [row.manager for row in found.rows if row.hints == hints]
        if managers:
            stdout.print(f"hints of {what}: {', '.join(managers)}")
    for row in found.rows:
        if not row.steady:
            stdout.print(f"not steady: {row.manager}: {row.steady_reason}", markup=False)
    if found.has_partial_pages:
        stdout.print(
            f"WA/byte = WA/page × {found.partial_page_factor:.4f}: pages are written in part, and "
            "SMART shows bytes"
        )
    policies = sorted({row.victims for row in found.rows})
    by_policy = (
        f"{policy} ({', '.join(row.manager for row in found.rows if row.victims == policy)})"
        for policy in policies
    )
    stdout.print(f"victims: {policies[0] if len(policies) == 1 else ', '.join(by_policy)}")


def _print_scaling(found: Comparison) -> None:
    """Say what stood for a drive of a capacity, and how well."""
    scaling = found.rows[0].scaling
    if scaling is None:
        return
    scale = scaling.scale
    known = {row.manager: row.scaling.error for row in found.rows if row.scaling}
    errors = ", ".join(
        f"{manager} {'unknown' if math.isnan(error) else f'{error:.4f}'}"
        for manager, error in known.items()
    )
    stdout.print(
        f"capacity {scale.capacity_bytes:,} bytes, simulated as "
        f"{shown_bytes(scale.simulated_bytes)}, {scale.factor:.4g}:1; error of scaling, in the "
        f"intervals: {errors}",
        markup=False,
    )


def _interrupted(found: Comparison) -> str:
    if not found.interrupted_of:
        return ""
    return f"INTERRUPTED after {len(found.rows)} of {len(found.interrupted_of)} managers: "
