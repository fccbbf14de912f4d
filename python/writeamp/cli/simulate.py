"""`writeamp simulate`: a drive in memory under a workload or a trace."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from writeamp import meanfield, traces
from writeamp.cli import options
from writeamp.cli.bar import Bar
from writeamp.cli.options import stdout
from writeamp.errors import WriteampError
from writeamp.models import expected_value, markov
from writeamp.plots import check_target
from writeamp.result import Result
from writeamp.run import Warmup
from writeamp.simulation import simulate as run_simulation


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("simulate")(simulate)


def simulate(
    *,
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
    manager: options.Manager = "single",
    victims: options.Victims = None,
    wear_leveling: options.WearLeveling = None,
    seed: Annotated[
        int, typer.Option("--seed", help="Decides every random draw.", rich_help_panel=options.RUN)
    ] = 1,
    writes: Annotated[
        int | None,
        typer.Option(
            "--writes",
            help="Host page writes after the initial fill; without it, until steady and precise.",
            parser=options.count,
            metavar="N",
            rich_help_panel=options.RUN,
        ),
    ] = None,
    warmup: Annotated[
        str,
        typer.Option(
            "--warmup",
            help="Host page writes to leave out of the measurement, or auto.",
            metavar="auto|N",
            rich_help_panel=options.RUN,
        ),
    ] = "auto",
    precision: Annotated[
        float,
        typer.Option(
            "--precision",
            help="Relative half width of the confidence interval that ends an automatic run.",
            rich_help_panel=options.RUN,
        ),
    ] = 0.0005,
    precondition: options.Precondition = "full",
    utilization: options.Utilization = 1.0,
    spread: Annotated[
        bool,
        typer.Option(
            "--spread/--no-spread",
            help="Rerun a trace on drives one block smaller and larger.",
            rich_help_panel=options.RUN,
        ),
    ] = True,
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
    load = options.read_trace(trace, trace_format, action)
    with Bar("simulating", _millions) as bar:
        result = run_simulation(
            device,
            workload,
            trace=load,
            manager=manager,
            victims=victims,
            wear_leveling=wear_leveling,
            seed=seed,
            writes=writes,
            warmup=_warmup(warmup),
            precision=precision,
            precondition=precondition,
            utilization=utilization,
            repeat=repeat,
            mapping=cast(traces.Mapping, mapping),
            trace_device=trace_device,
            spread=spread,
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


def _warmup(text: str) -> Warmup:
    if text == "auto":
        return "auto"
    try:
        return options.count(text)
    except typer.BadParameter:
        raise WriteampError(f"warmup is {text!r}; it must be auto or a whole number") from None


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
    rows.append(("theory", _theory(result)))
    if result.spread:
        rows.append(
            (
                "WA, one block less / more",
                f"{result.spread.one_block_less:.4f} / {result.spread.one_block_more:.4f}",
            )
        )
    rows.append(("write amplification", f"{result.wa:.4f}  (95% CI {low:.4f} to {high:.4f})"))
    stdout.print(options.facts(rows))


def _mean_field(result: Result) -> str | None:
    """Return what the mean field says of HCWF under hot and cold data with the oracle."""
    load, policy = result.plan.load, result.plan.policy
    manager = re.fullmatch(r"hcwf(-swap)?(:(d|d_swap)=\d+(,(d|d_swap)=\d+)?)?", policy.manager)
    drawn = re.fullmatch(r"d-choices:d=(\d+)", policy.victims)
    text = load if isinstance(load, str) else ""
    shares = re.fullmatch(r"hot-cold:f=([\d.]+),r=([\d.]+)", text)
    plain = result.utilization == 1 and result.device.layout == "flat"
    if not (manager and drawn and shares and plain and policy.wear_leveling is None):
        return None
    drive: dict[str, Any] = {
        "pages_per_block": result.device.geometry.pages_per_block,
        "spare_factor": result.device.spare_factor,
        "d": int(drawn[1]),
        "hot_fraction": float(shares[1]),
        "hot_write_fraction": float(shares[2]),
    }
    try:
        if manager[1]:
            d_swap = re.search(r"d_swap=(\d+)", policy.manager)
            found = meanfield.hot_cold_swap(**drive, d_swap=int(d_swap[1]) if d_swap else 100)
        else:
            found = meanfield.hot_cold(**drive)
    except WriteampError:  # parameters that it does not solve
        return None
    return f"{found.wa:.4f} mean field of {result.plan.policy.manager} (many blocks)"


def _theory(result: Result) -> str:
    """Return what a closed form says: of this run if it can, or else of uniform writes."""
    device, victims = result.device, result.plan.policy.victims
    if field := _mean_field(result):
        return field
    used_op = device.physical_pages / (device.logical_pages * result.utilization) - 1
    if result.plan.load == "uniform" and victims == "greedy":
        pages_per_block = device.geometry.pages_per_block
        return f"{markov(used_op, pages_per_block):.4f} Markov (greedy, uniform writes)"
    if result.plan.load == "uniform" and victims == "random":
        return f"{1 + 1 / used_op:.4f} = 1/spare_factor (random victims, uniform writes)"
    fifo = result.plan.load == "uniform" and victims == "fifo"
    what = "FIFO, uniform writes" if fifo else "for comparison: FIFO and uniform writes"
    return f"{expected_value(used_op):.4f} Expected Value ({what})"
