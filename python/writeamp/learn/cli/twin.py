"""`writeamp twin`: learn a drive's hidden parameters from its write amplification."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from writeamp.cli import boundary, options
from writeamp.cli.application import App
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.cli.runner_options import with_runner
from writeamp.cli.setting_options import with_settings
from writeamp.errors import WriteampError
from writeamp.files import output
from writeamp.learn.twin.settings import (
    ChainSettings,
    OneNumberSettings,
    PlanSettings,
    TwinTargetSettings,
)
from writeamp.plots import check_target
from writeamp.runners import Runner
from writeamp.settings.device import DeviceSettings
from writeamp.settings.settings import PolicySettings
from writeamp.units.byte_sizes import shown_bytes

if TYPE_CHECKING:
    from writeamp.learn.twin.fitting import Fit
    from writeamp.learn.twin.windows import Windows


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    verbs = App(
        no_args_is_help=True,
    )
    verbs.command("plan")(with_settings(twin_plan))
    verbs.command("measure")(with_settings(twin_measure))
    verbs.command("fit")(with_runner(with_settings(twin_fit)))
    app.add_typer(verbs, name="twin")


def twin_plan(
    asked: ChainSettings,
    drive: PlanSettings,
    *,
    out: Annotated[Path, typer.Option("--out", help="The plan, a .toml file.", show_default=False)],
    json: options.Json = False,
) -> None:
    """Plan the chain that a drive serves: workloads, when to read counters, and what it costs.

    Example: writeamp twin plan --capacity 1TB --out plan.toml
    """
    from writeamp.learn.twin.chain import chain_of  # noqa: PLC0415 (slow)
    from writeamp.learn.twin.plan import capacity_of, plan_tables  # noqa: PLC0415 (slow)

    if (drive.capacity is None) == (drive.target is None):
        raise WriteampError("give one of --capacity and --target, which say how large the drive is")
    capacity = drive.capacity if drive.target is None else capacity_of(drive.target)
    assert capacity is not None
    chain = chain_of(asked.phases, chunks=asked.chunks, capacity_bytes=capacity)
    more = plan_tables(chain, write_mb_s=drive.write_mb_s, rated_tbw=drive.rated_tbw)
    chain.write(out, more)
    document = {"out": str(out), "chain": chain.tables(), **more}
    if options.printed_json(lambda: document, json=json):
        return
    rows = [("plan", str(out)), ("capacity", shown_bytes(chain.capacity_bytes))]
    rows += [(key.replace("_", " "), f"{value:.4g}") for key, value in more["cost"].items()]
    rows += [
        (f"phase {at}", f"{phase.drive_writes:g} drive writes of {phase.workload}")
        for at, phase in enumerate(chain.phases, 1)
    ]
    stdout.print(options.facts(rows))


def twin_measure(
    asked: TwinTargetSettings,
    chain: ChainSettings,
    device: Annotated[dict[str, Any], DeviceSettings],
    policy: Annotated[dict[str, Any], PolicySettings],
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out", help="The Parquet file of the windows.", metavar="FILE", show_default=False
        ),
    ],
    json: options.Json = False,
) -> None:
    """Let a drive serve the chain, and keep what its counters say in each window.

    The same command goes on with what was interrupted: a virtual drive after its last window, a
    simulated one after its last repeat.

    Example: writeamp twin measure --target ssd-m --size 512MiB --out windows.parquet

    Example: writeamp twin measure --target vssd.sock --out windows.parquet
    """
    from writeamp.learn.cli.twin_measure import Measuring  # noqa: PLC0415 (slow)
    from writeamp.learn.twin.chain import Chain  # noqa: PLC0415 (slow)

    plan, windows = asked.plan, asked.windows
    if (asked.target is None) == (windows is None):
        raise WriteampError(
            "give one of --target, a drive to measure, and --windows, what was read"
        )
    inputs = [path for path in (plan, windows) if path is not None]
    output.check_target(out, "windows", inputs=inputs)
    planned = None if plan is None else Chain.read(plan)
    found = Measuring(asked, planned, chain, out, device | policy).windows()
    found.check()
    _tell_windows(found, out, json=json)


def twin_fit(
    measured: Annotated[
        Path | None,
        typer.Argument(
            help="The file that `twin measure` wrote.", metavar="WINDOWS", show_default=False
        ),
    ] = None,
    *,
    one: OneNumberSettings,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="The device profile, a .toml file that every verb takes as --device.",
            metavar="DRIVE.toml",
            show_default=False,
        ),
    ],
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw what each window said to a .png, .svg, .pdf or .html file.",
            metavar="FILE",
        ),
    ] = None,
    runner: Runner,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Fit the hidden parameters of a drive: op, erase unit, policies, each with its probability.

    The first fit of a chain simulates its candidates, some minutes of processor time, and caches
    them. The same command continues after Ctrl-C.

    Example: writeamp twin fit windows.parquet --out mine.toml

    Example: writeamp twin fit --wa 3.2 --workload uniform --out one.toml

    Example: writeamp twin fit --trace disk.csv --counters before.json --counters after.json --out
    real.toml
    """
    if (measured is None) == (one.wa is None and one.trace is None):
        raise WriteampError("give one of WINDOWS, a file of `twin measure`, --wa, and --trace")
    if out.suffix != ".toml":
        raise WriteampError(f"--out is {str(out)!r}; a device profile is a .toml file")
    if plot is not None:
        check_target(plot)
    inputs: list[str | Path] = [
        one for one in (measured, one.trace, *(one.counters or ())) if one is not None
    ]
    output.check_target(out, "device profile", inputs=inputs)
    output.check_distinct([out, *([] if plot is None else [plot])])
    from writeamp.learn.twin.profile import write_profile  # noqa: PLC0415 (slow)

    try:
        found = _fitted(measured, one, runner)
    except KeyboardInterrupt as stopped:
        raise boundary.PartlyDone(str(stopped)) from None
    write_profile(out, found.profile(), inputs)
    options.tell(found, lambda: _print_fit(found, out), json=json, csv=csv, plot=plot)


def _fitted(measured: Path | None, one: OneNumberSettings, runner: Runner) -> Fit:
    from writeamp.learn.twin.fitting import fit  # noqa: PLC0415 (slow)
    from writeamp.learn.twin.one_number import fit_one  # noqa: PLC0415 (slow)
    from writeamp.learn.twin.windows import read_windows  # noqa: PLC0415 (slow)

    with Bar(
        "simulating candidates", lambda done, all_: f"{done} of {all_}", by_own_pace=True
    ) as bar:
        if measured is not None:
            return fit(read_windows(measured), runner=runner, progress=bar.update)
        if one.trace is not None:
            return _of_trace(one, one.trace, runner, bar)
        assert one.wa is not None
        load = "uniform" if one.workload is None else str(one.workload)
        return fit_one(one.wa, load, runner=runner, progress=bar.update)


def _of_trace(one: OneNumberSettings, path: Path, runner: Runner, bar: Bar) -> Fit:
    from writeamp import traces  # noqa: PLC0415 (slow)
    from writeamp.drives.counters.answer import interval_answer  # noqa: PLC0415 (slow)
    from writeamp.drives.counters.reading import read_snapshot  # noqa: PLC0415 (slow)
    from writeamp.learn.twin.one_number import NOISE, fit_trace  # noqa: PLC0415 (slow)

    trace = traces.read(str(path), one.trace_format)
    if one.counters is None:
        assert one.wa is not None
        return fit_trace(one.wa, trace, runner=runner, progress=bar.update)
    before, after = (read_snapshot(Path(name)) for name in one.counters)
    found = interval_answer(before, after)
    for sentence in found.warnings:
        options.warn(sentence)
    if found.wa is None:
        raise WriteampError(f"the counters tell no WA of the time between them: {found.reason}")
    low, high = found.bounds or (found.wa, found.wa)
    noise = max(NOISE, (high - low) / 4 / found.wa)
    return fit_trace(found.wa, trace, noise=noise, runner=runner, progress=bar.update)


def _tell_windows(found: Windows, out: Path, *, json: bool) -> None:
    document = {
        "out": str(out),
        "windows": [float(wa) for wa in found.wa],
        "sequential_factor": found.sequential_factor,
        "noise": found.noise,
        "host_bytes": float(found.host_bytes.sum()),
    }
    if options.printed_json(lambda: document, json=json):
        return
    rows = [("windows", ", ".join(f"{wa:.3f}" for wa in found.wa)), ("kept in", str(out))]
    rows.append(("WA of the fill in order", f"{found.sequential_factor:.4f}"))
    noise = "not told" if found.noise is None else f"{found.noise:.2%}"
    rows.append(("noise of a window", noise))
    stdout.print(options.facts(rows))


def _print_fit(found: Fit, out: Path) -> None:
    card = found.card()
    options.print_card(replace(card, rows=[*card.rows, ("profile", str(out))]))
