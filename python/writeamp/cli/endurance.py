"""`writeamp endurance`: drives until they are worn out."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from writeamp.cli import boundary, options
from writeamp.cli.experiment_options import register_experiment
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.cli.runner_options import with_scheduler
from writeamp.cli.setting_options import with_settings
from writeamp.devices.device import Device
from writeamp.errors import WriteampError
from writeamp.plots import check_target
from writeamp.results.frames import frame_of
from writeamp.results.numbers import fitting_form, interval_in_words, with_interval
from writeamp.runners import Runner
from writeamp.runs.daily_writes import LifeSettings, drive_writes_a_day
from writeamp.runs.words import shape_in_words
from writeamp.settings.experiment import Experiment
from writeamp.units.byte_sizes import shown_bytes

if TYPE_CHECKING:
    from writeamp.studies.endurance.result import Endurance


def register(app: typer.Typer) -> None:
    """Add the verb."""
    register_experiment(app, with_scheduler(with_settings(endurance)))


def endurance(
    experiment: Experiment,
    life: LifeSettings,
    *,
    curve: Annotated[
        bool,
        typer.Option(
            "--curve",
            help="Add fairness and endurance for each W up to --w-max to the JSON document; with "
            "--csv, print these.",
        ),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw PE fairness and endurance against W (.png, .svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    plot_erases: Annotated[
        Path | None,
        typer.Option(
            "--plot-erases", help="Draw how often the blocks were erased.", metavar="FILE"
        ),
    ] = None,
    out: options.Out = None,
    runner: Runner | None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Run drives until they are worn out: PE fairness, endurance, TBW, DWPD, years of life.

    A life ends with the first block erased --w-max times, or as many as (its LUN) has spare ones.

    --capacity alone has a smaller drive simulated in place of the real one; with a size, the drive
    of that size stands for it.

    Example: writeamp endurance --blocks 500 --w-max 300 --daily-writes 1TB --capacity 2TB
    """
    for target in (plot, plot_erases):
        if target is not None:
            check_target(target)
    if curve and not (json or csv):
        raise WriteampError("--curve adds to the JSON document; give --json too, or --csv")
    daily_bytes, warranty_years = life.daily_writes, life.warranty_years
    capacity_bytes = experiment.device.capacity

    def check_drive(device: Device) -> None:
        if daily_bytes is not None:
            drive_writes_a_day(device, daily_bytes, capacity_bytes)

    from writeamp.studies.endurance.lifetime import run_lifetime  # noqa: PLC0415 (slow)

    with Bar("wearing out", _percent) as bar:
        found = options.whole_or_part(
            lambda: run_lifetime(experiment, bar.update, check_drive, runner, out)
        )
    for sentence in found.notes:
        options.note(sentence)

    def document() -> dict[str, Any]:
        return found.to_dict(
            curve=curve and json, daily_bytes=daily_bytes, warranty_years=warranty_years
        )

    printed = options.printed_json(document, json=json)
    if csv:
        options.print_csv(found.curve if curve else frame_of([document()]))
    elif not printed:
        _print(found, daily_bytes, warranty_years)
    if found.unfinished:
        raise boundary.PartlyDone(f"{_ended(found)}; no picture was drawn")
    if plot is not None:
        found.plot(plot)
    if plot_erases is not None:
        found.plot_erases(plot_erases)


def _percent(reached: int, expected: int) -> str:
    return f"{reached / expected:.0%} of the wear"


def _print(found: Endurance, daily_bytes: float | None, warranty_years: float) -> None:
    plan, device = found.plan, found.plan.device
    rows = [
        ("workload", plan.load_name),
        ("manager, victims", str(plan.policy)),
        ("drive", f"{shape_in_words(device)}; {plan.spare_blocks:,} blocks are spare"),
        (
            "space",
            f"op {device.op:.4g} = (T-U)/U, fill {device.fill:.4g}, "
            f"spare factor {device.spare_factor:.4g}",
        ),
        (
            "run",
            f"{found.replicas} replicas to {plan.w_max:,} erases (W_max), seed {plan.seed}, "
            f"{found.elapsed_s:.1f} s"
            + ("" if plan.threads is None else f" on {plan.threads} thread(s)"),
        ),
        (
            "host wrote",
            f"{found.host_pages:,.0f} pages = {found.host_bytes / 1e12:,.4g} TB (10^12)",
        ),
    ]
    rows += [
        (f"programmed: {cause}", f"{pages:,.0f} pages")
        for cause, pages in found.causes.items()
        if cause != "host"
    ]
    if found.unfinished:
        rows.insert(0, ("INTERRUPTED", _ended(found)))
    full, logical = found.endurance_full_drive_writes, found.endurance_logical_drive_writes
    low, high = found.endurance_ci95
    rows += [
        ("erased", f"{float(found.end.erases.mean()):,.0f} blocks"),
        ("write amplification", with_interval(found.wa, found.ci)),
        ("PE fairness", with_interval(found.pe_fairness, found.pe_fairness_ci95)),
        ("endurance", _number(full, low, high, " writes of the physical capacity", ",.2f")),
        ("", f"{logical:,.2f} writes of the logical capacity"),
    ]
    low, high = found.tbw_ci95
    rows.append(("TBW", _number(found.tbw, low, high, " TB (10^12) written")))
    dwpd = found.dwpd(warranty_years)
    low, high = found.dwpd_ci95(warranty_years)
    rows.append(("DWPD", _number(dwpd, low, high, f" a day for {warranty_years:g} years")))
    if daily_bytes is not None:
        years = found.years(daily_bytes)
        rows.append(("life", f"{years:,.4g} years of 365 days at {daily_bytes:,.0f} bytes a day"))
    rows += _capacity(found)
    stdout.print(options.facts(rows))


def _capacity(found: Endurance) -> list[tuple[str, str]]:
    """Return table rows on the drive that is meant, if it is another than the simulated."""
    if found.plan.capacity_bytes is None:
        return []
    meant = f"of a drive of {found.capacity_bytes:,} bytes"
    scaling = found.scaling
    if scaling is None:
        return [("", f"{meant} that wears as this one")]
    if scaling.scale.is_exact:
        return [("", f"{meant}, simulated as it is")]
    rows = [
        (
            "",
            f"{meant}, simulated as {shown_bytes(scaling.scale.simulated_bytes)}, "
            f"{scaling.scale.factor:.4g}:1",
        )
    ]
    if math.isnan(scaling.wa):
        return [*rows, ("error of scaling", "not known, and in no interval")]
    errors = (
        f"±{scaling.wa:.4f} of WA, ±{scaling.pe_fairness:.4f} of fairness, "
        f"±{scaling.endurance_full_drive_writes:,.2f} of endurance, in their intervals"
    )
    return [*rows, ("error of scaling", errors)]


def _ended(found: Endurance) -> str:
    return f"{found.replicas} of {found.plan.replicas} replicas came to their end of life"


def _number(value: float, low: float, high: float, unit: str, form: str = ",.3f") -> str:
    """Return a number in the digits of its interval, if it has one of some width."""
    within = interval_in_words(low, high, form)
    shown = format(value, fitting_form(low, high, form) if high > low else ",.4g")
    return f"{shown}{unit}" + (f" ({within})" if within else "")
