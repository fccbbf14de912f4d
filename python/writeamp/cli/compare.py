"""`writeamp compare`: many block managers on one workload or trace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer
from rich.table import Table

from writeamp import _engine, traces
from writeamp.cli import options
from writeamp.cli.bar import Bar
from writeamp.cli.options import stdout
from writeamp.comparison import DEFAULT_REPLICAS, Comparison
from writeamp.comparison import compare as run_comparison
from writeamp.plots import check_target
from writeamp.plots.style import with_error


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("compare")(compare)


def compare(
    *,
    managers: Annotated[
        str,
        typer.Option(
            "--managers",
            help="Block managers, separated by commas, such as single,hcwf:d=5,sepgc.",
            metavar="SPEC,SPEC,…",
        ),
    ],
    workload: options.Workload = None,
    trace: options.TraceFile = None,
    trace_format: options.TraceFormat = None,
    action: options.Action = None,
    repeat: Annotated[
        int,
        typer.Option(
            "--repeat",
            help="Replay the trace so many times.",
            parser=options.count,
            metavar="N",
            rich_help_panel=options.TRACE,
        ),
    ] = 1,
    mapping: options.Mapping = "compact",
    trace_device: options.TraceDevice = None,
    device: options.DeviceOption = None,
    blocks: options.Blocks = None,
    logical_blocks: options.LogicalBlocks = None,
    pages_per_block: options.PagesPerBlock = None,
    page_bytes: options.PageBytes = None,
    op: options.Op = None,
    fill: options.Fill = None,
    spare_factor: options.SpareFactor = None,
    layout: options.LayoutOption = None,
    victims: options.Victims = None,
    wear_leveling: options.WearLeveling = None,
    replicas: Annotated[
        int,
        typer.Option(
            "--replicas",
            help="Runs of each manager, with seeds from --seed on.",
            parser=options.count,
            metavar="N",
            rich_help_panel=options.RUN,
        ),
    ] = DEFAULT_REPLICAS,
    seed: Annotated[
        int,
        typer.Option("--seed", help="Decides every random draw.", rich_help_panel=options.RUN),
    ] = 1,
    writes: Annotated[
        int | None,
        typer.Option(
            "--writes",
            help="Host page writes after the initial fill, the second half of them measured; by "
            "default 20 times the logical pages.",
            parser=options.count,
            metavar="N",
            rich_help_panel=options.RUN,
        ),
    ] = None,
    precondition: options.Precondition = "full",
    utilization: options.Utilization = 1.0,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw WA of every manager to a .png, .svg, .pdf or .html file.",
            metavar="FILE",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Compare block managers on one drive: WA by cause, wear, memory, speed.

    All get the same host writes. Some are told more of the pages than others; the table says what.

    Example: writeamp compare --managers single,sepgc,hcwf --workload hot-cold:f=0.1,r=0.9 --op 0.15
    """
    if plot is not None:
        check_target(plot)
    load = options.read_trace(trace, trace_format, action)
    with Bar("comparing", lambda done, runs: f"{done} of {runs} runs") as bar:
        found = run_comparison(
            device,
            workload,
            managers=managers,
            trace=load,
            victims=victims,
            wear_leveling=wear_leveling,
            replicas=replicas,
            seed=seed,
            writes=writes,
            precondition=precondition,
            utilization=utilization,
            repeat=repeat,
            mapping=cast(traces.Mapping, mapping),
            trace_device=trace_device,
            progress=bar.update,
            blocks=blocks,
            logical_blocks=logical_blocks,
            pages_per_block=pages_per_block,
            page_bytes=page_bytes,
            op=op,
            fill=fill,
            spare_factor=spare_factor,
            layout=layout,
        )
    for sentence in found.warnings:
        options.warn(sentence)
    if json:
        options.print_json(found.to_dict())
    else:
        _print(found)
    if plot is not None:
        found.plot(plot)


def _print(found: Comparison) -> None:
    first, device = found.rows[0].results[0], found.device
    table = Table(
        title=f"{first.plan.load_name} on {device.name}, op {device.op:.4g} = (T-U)/U, "
        f"{device.layout}; {len(found.rows[0].results)} run(s) each",
        title_justify="left",
        title_style="bold",
    )
    table.add_column("manager", overflow="fold", min_width=13)
    others = [
        cause
        for cause in _engine.CAUSES
        if cause == "gc" or (cause != "host" and any(row.causes[cause] for row in found.rows))
    ]
    headings = [f"{cause}/host".replace("_", " ") for cause in others]
    for heading in ("WA", *headings, "fairness", "B/page", "M pages/s"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in sorted(found.rows, key=lambda row: row.wa):
        table.add_row(
            row.manager,
            with_error(row.wa, *row.ci),
            *(f"{row.causes[cause] / row.causes['host']:.3f}" for cause in others),
            f"{row.pe_fairness:.3f}",
            f"{row.bytes_per_page:.2f}",
            f"{row.host_pages_per_s / 1e6:.1f}",
        )
    stdout.print(table)
    for told, what in (("groups", "the groups of pages"), ("deaths", "when each page dies")):
        managers = [row.manager for row in found.rows if row.told == told]
        if managers:
            stdout.print(f"told {what}: {', '.join(managers)}")
    unsteady = [row.manager for row in found.rows if not row.steady]
    if unsteady:
        stdout.print(f"not steady: {', '.join(unsteady)}")
    policies = sorted({row.victims for row in found.rows})
    by_policy = (
        f"{policy} ({', '.join(row.manager for row in found.rows if row.victims == policy)})"
        for policy in policies
    )
    stdout.print(f"victims: {policies[0] if len(policies) == 1 else ', '.join(by_policy)}")
