"""`writeamp measure`: measurements of real drives, from captures of their pins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from writeamp.cli import options
from writeamp.cli.application import App
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.devices.device import device as device_of
from writeamp.domains import POSITIVE_COUNT, shown
from writeamp.errors import WriteampError
from writeamp.measure import PinFacts, facts_of
from writeamp.measure.words import METHODS, Method
from writeamp.plots import check_target, save
from writeamp.results.numbers import with_interval
from writeamp.units.byte_sizes import parse_bytes

if TYPE_CHECKING:
    from writeamp.measure import ReadyBusy
    from writeamp.measure.four_level import FourLevel

_DRIVE = "Drive (its profile, or what it would say)"


def register(app: typer.Typer) -> None:
    """Add the verb."""
    verbs = App(help="Measure real drives.", no_args_is_help=True)
    verbs.command("rb")(rb)
    app.add_typer(verbs, name="measure")


def _of_drive(flag: str, help_text: str, **more: Any) -> Any:
    return typer.Option(flag, help=help_text, rich_help_panel=_DRIVE, **more)


def _times(flag: str, what: str) -> Any:
    return _of_drive(flag, f"Times of a {what} in µs, with commas between.", metavar="US[,US]")


def rb(
    capture: Annotated[
        Path,
        typer.Argument(
            help="A VCD, a sigrok session (.sr) or CSV, or Saleae Logic 2's CSV or binary export.",
            show_default=False,
        ),
    ],
    *,
    host_bytes: Annotated[
        str,
        typer.Option(
            "--host-bytes",
            help="What the host wrote while the capture was taken: 2GiB, or bytes.",
            metavar="SIZE",
        ),
    ],
    device: Annotated[
        str | None, _of_drive("--device", "Device profile, or the path of one.", metavar="NAME")
    ] = None,
    dies: Annotated[
        int | None,
        _of_drive(
            "--dies", "Dies of the drive, each with a pin.", parser=options.count, metavar="N"
        ),
    ] = None,
    pages_per_program: Annotated[
        int | None,
        _of_drive(
            "--pages-per-program",
            "Flash pages that one program writes, M_p: 2 for two planes at once.",
            parser=options.count,
            metavar="N",
        ),
    ] = None,
    page_bytes: Annotated[
        str | None, _of_drive("--page-bytes", "Flash page, such as 4KiB.", metavar="SIZE")
    ] = None,
    read_us: Annotated[str | None, _times("--read-us", "page read")] = None,
    program_us: Annotated[str | None, _times("--program-us", "page program")] = None,
    erase_us: Annotated[str | None, _times("--erase-us", "block erase")] = None,
    window: Annotated[
        str | None,
        _of_drive(
            "--window",
            "Fixed window of programs in µs; 200:2200 for MLC and 200:500 for SLC in paper 5.",
            metavar="LOW:HIGH",
        ),
    ] = None,
    pin: Annotated[
        str | None,
        typer.Option(
            "--pin", help="Count one pin, and take all dies to be like its own.", metavar="NAME"
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="Which answer counts: mixture or fixed; both are shown.",
            autocompletion=options.completer(METHODS),
            metavar="NAME",
        ),
    ] = "mixture",
    inverted: Annotated[
        bool, typer.Option("--inverted", help="Busy is high; without it, low is busy.")
    ] = False,
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
    from writeamp.measure import ready_busy  # noqa: PLC0415 (slow)

    size = parse_bytes("--host-bytes", host_bytes)
    facts = _facts(
        device,
        dies=dies,
        pages_per_program=pages_per_program,
        page_bytes=page_bytes,
        times={"read_us": read_us, "program_us": program_us, "erase_us": erase_us},
        window=window,
    )
    total = _file_bytes(capture)
    with Bar("reading", lambda done, whole: f"{done / max(whole, 1):.0%}") as bar:
        found = ready_busy(
            capture,
            facts,
            size,
            pin=pin,
            method=_method(method),
            inverted=inverted,
            progress=lambda done: bar.update(done, max(total, done)),
        )
    for sentence in found.warnings:
        options.warn(sentence)
    if plot is not None:
        save(found.figure(), plot)
    if json:
        options.print_json(found.to_dict())
        return
    if csv:
        options.print_csv(found.to_frame())
        return
    stdout.print(options.facts(_rows(found)))


def _method(name: str) -> Method:
    for valid in METHODS:
        if name == valid:
            return valid
    raise WriteampError(f"--method is {shown(name)}; it must be {' or '.join(METHODS)}")


def _file_bytes(path: Path) -> int:
    try:
        files = [path] if path.is_file() else list(path.glob("digital_*.bin"))
        return sum(file.stat().st_size for file in files)
    except (OSError, ValueError):  # who reads it says what is wrong
        return 0


def _facts(
    profile: str | None,
    *,
    dies: int | None,
    pages_per_program: int | None,
    page_bytes: str | None,
    times: dict[str, str | None],
    window: str | None,
) -> PinFacts:
    """Return the facts of the pins by the profile, or as given in its place."""
    more: dict[str, Any] = {}
    if dies is not None:
        dies = POSITIVE_COUNT.check("--dies", dies)
        more |= {"channels": dies, "chips_per_channel": 1, "dies_per_chip": 1}
    if pages_per_program is not None:
        more["pages_per_program"] = POSITIVE_COUNT.check("--pages-per-program", pages_per_program)
    if page_bytes is not None:
        more["page_bytes"] = round(parse_bytes("--page-bytes", page_bytes))
    for name, text in times.items():
        if text is not None:
            more[name] = _numbers(f"--{name.replace('_', '-')}", text, ",")
    if window is not None:
        ends = _numbers("--window", window, ":")
        if len(ends) != 2:
            raise WriteampError(f"--window is {shown(window)}; it must be LOW:HIGH in µs")
        more["program_window_us"] = ends
    if profile is not None:
        return replace(facts_of(device_of(profile)), **more)
    if "channels" not in more or "page_bytes" not in more:
        raise WriteampError(
            "the drive is not known; give --device, or --dies and --page-bytes (and, for programs "
            "of several planes, --pages-per-program)"
        )
    return PinFacts(**({"pages_per_program": 1} | more))


def _numbers(flag: str, text: str, separator: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(separator))
    except ValueError:
        raise WriteampError(
            f"{flag} is {shown(text)}; it must be numbers in µs with {separator!r} between"
        ) from None


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
        ("WA", with_interval(found.answer.wa, found.wa_ci95, ".5f")),
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
        (f"WA, {name}", with_interval(found.wa, found.wa_ci95, ".5f")),
        (
            "operations",
            f"{found.programs:,} programs, {found.reads:,} reads, {found.erases:,} erases",
        ),
    ]
