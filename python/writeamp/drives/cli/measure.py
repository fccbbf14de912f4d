"""`writeamp measure`: WA of real drives, from counters or from Ready/Busy pins."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from writeamp.cli import options
from writeamp.cli.application import App
from writeamp.cli.progress_bar import Bar
from writeamp.cli.report_option import without_report
from writeamp.cli.setting_options import with_settings
from writeamp.drives.cli.measure_calibrate import calibrate
from writeamp.drives.cli.measure_counters import counters, diff
from writeamp.drives.cli.measure_drive import read_all, run, save
from writeamp.drives.cli.measure_fleet import fleet
from writeamp.drives.cli.measure_history import history, watch
from writeamp.drives.cli.printing import print_result
from writeamp.drives.pins.settings import PinSettings
from writeamp.plots import check_target
from writeamp.plots import save as save_plot


def register(app: typer.Typer) -> None:
    """Add the command `measure` and its subcommands to the program."""
    verbs = App(no_args_is_help=True)
    verbs.command("rb")(with_settings(rb))
    verbs.command("counters")(with_settings(counters))
    verbs.command("diff")(with_settings(diff))
    verbs.command("save")(with_settings(save))
    verbs.command("all")(with_settings(read_all))
    verbs.command("run")(with_settings(run))
    verbs.command("calibrate")(with_settings(calibrate))
    verbs.command("fleet")(with_settings(fleet))
    verbs.command("watch")(without_report(with_settings(watch)))
    verbs.command("history")(with_settings(history))
    app.add_typer(verbs, name="measure")


def rb(
    capture: Annotated[
        Path,
        typer.Argument(
            help="VCD file, sigrok session (.sr) or CSV, or CSV or binary export of Saleae Logic "
            "2.",
            show_default=False,
        ),
    ],
    settings: PinSettings,
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw the durations of the busy pulses by class (.png, .svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Measure write amplification (WA) from a logic analyser's capture of Ready/Busy pins.

    Example: writeamp measure rb rb.vcd --device ssd-v --host-bytes 2GiB
    """
    if plot is not None:
        check_target(plot)
    from writeamp.drives.pins.measurement import ready_busy  # noqa: PLC0415 (slow)

    facts = settings.facts()
    assert settings.host_bytes is not None  # --host-bytes is required
    with Bar("reading", lambda done, whole: f"{done / max(whole, 1):.0%}") as bar:
        measurement = ready_busy(
            capture,
            facts,
            settings.host_bytes,
            pin=settings.pin,
            method=settings.method,
            inverted=settings.inverted,
            progress=bar.update,
        )
    for sentence in measurement.warnings:
        options.warn(sentence)
    if plot is not None:
        save_plot(measurement.figure(), plot)
    print_result(measurement, json=json, csv=csv)
