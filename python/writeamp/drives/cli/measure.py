"""`writeamp measure`: real drives by captures of their pins, and by their counters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from writeamp.cli import options
from writeamp.cli.application import App
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.cli.setting_options import with_settings
from writeamp.drives.cli.counters_table import print_result
from writeamp.drives.cli.measure_calibrate import calibrate
from writeamp.drives.cli.measure_counters import counters, diff
from writeamp.drives.cli.measure_drive import run, save
from writeamp.drives.cli.measure_fleet import fleet
from writeamp.drives.cli.measure_history import history, watch
from writeamp.drives.pins.settings import PinSettings
from writeamp.plots import check_target
from writeamp.plots import save as save_plot
from writeamp.results.numbers import with_interval

if TYPE_CHECKING:
    from writeamp.drives.pins.four_level import FourLevel
    from writeamp.drives.pins.measurement import ReadyBusy


def register(app: typer.Typer) -> None:
    """Add the verb."""
    verbs = App(help="Measure real drives.", no_args_is_help=True)
    verbs.command("rb")(with_settings(rb))
    verbs.command("counters")(with_settings(counters))
    verbs.command("diff")(with_settings(diff))
    verbs.command("save")(with_settings(save))
    verbs.command("run")(with_settings(run))
    verbs.command("calibrate")(with_settings(calibrate))
    verbs.command("fleet")(with_settings(fleet))
    verbs.command("watch")(with_settings(watch))
    verbs.command("history")(with_settings(history))
    app.add_typer(verbs, name="measure")


def rb(
    capture: Annotated[
        Path,
        typer.Argument(
            help="A VCD, a sigrok session (.sr) or CSV, or Saleae Logic 2's CSV or binary export.",
            show_default=False,
        ),
    ],
    asked: PinSettings,
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw the durations by class (.png, .svg, .pdf or .html).",
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

    facts = asked.facts()
    assert asked.host_bytes is not None  # it is required
    total = _file_bytes(capture)
    with Bar("reading", lambda done, whole: f"{done / max(whole, 1):.0%}") as bar:
        found = ready_busy(
            capture,
            facts,
            asked.host_bytes,
            pin=asked.pin,
            method=asked.method,
            inverted=asked.inverted,
            progress=lambda done: bar.update(done, max(total, done)),
        )
    for sentence in found.warnings:
        options.warn(sentence)
    if plot is not None:
        save_plot(found.figure(), plot)
    print_result(found, lambda: stdout.print(options.facts(_rows(found))), json=json, csv=csv)


def _file_bytes(path: Path) -> int:
    try:
        files = [path] if path.is_file() else list(path.glob("digital_*.bin"))
        return sum(file.stat().st_size for file in files)
    except (OSError, ValueError):  # who reads it says what is wrong
        return 0


def _rows(found: ReadyBusy) -> list[tuple[str, str]]:
    facts, capture = found.facts, found.capture
    rows = [
        ("capture", f"{capture.format}, {capture.seconds:.6g} s, {len(capture.pins)} pin(s)"),
        ("host wrote", f"{found.host_bytes:,.0f} bytes"),
        (
            "flash",
            f"{facts.dies} dies; a program writes {facts.pages_per_program} page(s) of "
            f"{facts.page_bytes:,} bytes",
        ),
        ("WA", with_interval(found.answer.wa, found.ci, ".5f")),
        (
            "the two methods",
            "agree within their intervals"
            if found.methods_agree
            else "disagree: neither stands alone, and the interval of WA holds both",
        ),
        *_of_method("mixture", found.mixture),
        *_of_method("fixed window, {:g} to {:g} µs".format(*found.window_us), found.fixed),
    ]
    rows += [
        (
            f"component: {one['class']}",
            f"{one['mean_us']:,.1f} ± {one['sd_us']:.1f} µs, {one['share']:.3%} of the pulses",
        )
        for one in found.components()
    ]
    spread = found.answer.spread
    if spread is not None:
        rows.append(
            (
                "programs of a die",
                f"{spread['mean']:,.1f} ± {spread['sd']:,.1f} (sd), {spread['min']:,.1f} to "
                f"{spread['max']:,.1f}",
            )
        )
    rows.append(("duty cycle", f"{capture.busy_share:.3%} of the time busy, mean of the pins"))
    rows += [
        (f"repaired: {name.replace('_', ' ')}", f"{count:,}")
        for name, count in capture.repairs.items()
    ]
    return rows


def _of_method(name: str, found: FourLevel) -> list[tuple[str, str]]:
    return [
        (f"WA, {name}", with_interval(found.wa, found.ci, ".5f")),
        (
            "operations",
            f"{found.programs:,} programs, {found.reads:,} reads, {found.erases:,} erases",
        ),
    ]
