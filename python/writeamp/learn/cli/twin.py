"""`writeamp twin`: hidden parameters of a drive, learnt from its write amplification."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from writeamp.cli import boundary, options
from writeamp.cli.application import App
from writeamp.cli.progress_bar import Bar
from writeamp.cli.runner_options import with_runner
from writeamp.cli.setting_options import with_settings
from writeamp.errors import WriteampError
from writeamp.files import output
from writeamp.learn.twin.settings import (
    TABLES,
    ChainSettings,
    OneNumberSettings,
    PhaseSettings,
    PlanSettings,
    ReadingSettings,
    TwinTargetSettings,
)
from writeamp.plots import check_target
from writeamp.results.card import Card
from writeamp.runners import Runner
from writeamp.settings.device import DeviceSettings
from writeamp.settings.settings import PolicySettings
from writeamp.units.byte_sizes import shown_bytes

if TYPE_CHECKING:
    from writeamp.learn.twin.fitting import Fit
    from writeamp.learn.twin.windows import Windows


def register(app: typer.Typer) -> None:
    """Add the commands of `writeamp twin`."""
    verbs = App(
        no_args_is_help=True,
    )
    verbs.command("plan")(with_settings(twin_plan))
    verbs.command("measure")(with_settings(twin_measure))
    verbs.command("fit")(with_runner(with_settings(twin_fit)))
    verbs.command("check")(with_runner(with_settings(twin_check)))
    app.add_typer(verbs, name="twin")


def twin_plan(
    settings: ChainSettings,
    drive: PlanSettings,
    *,
    out: Annotated[
        Path,
        typer.Option("--out", help="File of the plan (.toml).", metavar="FILE", show_default=False),
    ],
    json: options.Json = False,
) -> None:
    """Plan a measurement of a drive: the workloads to write, as fio jobs, and their hours.

    Example: writeamp twin plan --capacity 1TB --out plan.toml
    """
    from writeamp.learn.twin.chain import chain_of  # noqa: PLC0415 (slow)
    from writeamp.learn.twin.plan import capacity_of, plan_tables  # noqa: PLC0415 (slow)

    if (drive.capacity is None) == (drive.target is None):
        raise WriteampError(
            "give either --capacity or --target; the plan needs the capacity of the drive"
        )
    capacity = drive.capacity if drive.target is None else capacity_of(drive.target)
    assert capacity is not None
    chain = chain_of(settings.phases, chunks=settings.chunks, capacity_bytes=capacity)
    more = plan_tables(chain, write_mb_s=drive.write_mb_s, rated_tbw=drive.rated_tbw)
    chain.write(out, more)
    document = {"out": str(out), "chain": chain.tables(), **more}
    rows = [("plan", str(out)), ("capacity", shown_bytes(chain.capacity_bytes))]
    rows += [(key.replace("_", " "), f"{value:.4g}") for key, value in more["cost"].items()]
    rows += [
        (f"phase {at}", f"{phase.drive_writes:g} drive writes of {phase.workload}")
        for at, phase in enumerate(chain.phases, 1)
    ]
    options.show(lambda: document, lambda: Card("", rows), json=json)


def twin_measure(
    settings: TwinTargetSettings,
    chain: ChainSettings,
    device: Annotated[dict[str, Any], DeviceSettings],
    policy: Annotated[dict[str, Any], PolicySettings],
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="Parquet file to write, with host and flash bytes of each window; input of "
            "`twin fit`.",
            metavar="FILE",
            show_default=False,
        ),
    ],
    json: options.Json = False,
) -> None:
    """Write a chain of workloads to a drive, and record host and flash bytes in each window.

    A window is a part of a workload. Run the same command to continue an interrupted measurement: a
    virtual or real drive continues after its last finished part, a simulated drive after its last
    finished repeat.

    Example: writeamp twin measure --target ssd-m --size 512MiB --out windows.parquet

    Example: writeamp twin measure --target vssd.sock --out windows.parquet
    """
    from writeamp.learn.cli.twin_measure import Measuring  # noqa: PLC0415 (slow)
    from writeamp.learn.twin.chain import Chain  # noqa: PLC0415 (slow)

    plan, windows = settings.plan, settings.windows
    if (settings.target is None) == (windows is None):
        raise WriteampError(
            "give either --target (a drive to measure) or --windows (a CSV file of windows)"
        )
    inputs = [path for path in (plan, windows) if path is not None]
    output.check_target(out, "windows", inputs=inputs)
    planned = None if plan is None else Chain.read(plan)
    measured = Measuring(settings, planned, chain, out, device | policy).windows()
    measured.check()
    _print_windows(measured, out, json=json)


def twin_fit(
    measured: Annotated[
        Path | None,
        typer.Argument(
            help="File that `twin measure` wrote, or a table of phases (.csv or .toml) with "
            "counters of a real drive; leave it out with --wa or --trace.",
            metavar="WINDOWS|PHASES",
            show_default=False,
        ),
    ] = None,
    *,
    question: OneNumberSettings,
    phases: PhaseSettings,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="Device profile to write (.toml); other commands accept it as --device.",
            metavar="DRIVE.toml",
            show_default=False,
        ),
    ],
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw each window's measured WA and the 90% interval of the fitted drives' WA "
            "(.png, .svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    runner: Runner,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Fit a drive's hidden parameters: intervals of op and erase unit, probable policies.

    The first fit of a chain of workloads, or of phases, simulates many candidate drives, and caches
    their WA. This takes some minutes of processor time. After Ctrl-C, run the same command to
    continue. A table of phases has the columns drive, run, phase, pattern, details, span_gib,
    host_bytes and media_bytes.

    Example: writeamp twin fit windows.parquet --out mine.toml

    Example: writeamp twin fit --wa 3.2 --workload uniform --out one.toml

    Example: writeamp twin fit --trace disk.csv --counters before.json --counters after.json --out
    real.toml

    Example: writeamp twin fit phases.csv --phases run1:0,run1:1 --out real.toml
    """
    if (measured is None) == (question.wa is None and question.trace is None):
        raise WriteampError(
            "give either WINDOWS (a file of `twin measure`) or PHASES (a table of phases), or --wa "
            "or --trace in place of it"
        )
    if out.suffix != ".toml":
        raise WriteampError(f"--out is {str(out)!r}; it must end in .toml")
    if plot is not None:
        check_target(plot)
    inputs: list[str | Path] = [
        path
        for path in (measured, question.trace, phases.readings, *(question.counters or ()))
        if path is not None
    ]
    output.check_target(out, "device profile", inputs=inputs)
    output.check_distinct([out, *([] if plot is None else [plot])])
    from writeamp.learn.twin.profile import write_profile  # noqa: PLC0415 (slow)

    try:
        result = _fitted(measured, question, phases, runner)
    except KeyboardInterrupt as stopped:
        raise boundary.PartlyDone(str(stopped)) from None
    write_profile(out, result.profile(), inputs)
    options.show_result(
        result, json=json, csv=csv, plot=plot, card=lambda: _card_of_fit(result, out)
    )


def twin_check(
    twin: Annotated[
        Path,
        typer.Argument(
            help="Profile that `twin fit PHASES` wrote.", metavar="TWIN", show_default=False
        ),
    ],
    phases: Annotated[
        Path,
        typer.Argument(
            help="Table of phases (.csv or .toml) with counters of real drives.",
            metavar="PHASES",
            show_default=False,
        ),
    ],
    *,
    table: ReadingSettings,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw predicted and measured WA of each phase (.png, .svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    runner: Runner,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Check a twin: predict the WA of each phase, and compare it with the measured WA.

    The measured WA is that from 60% of a phase's host bytes to its end; the fifths of the phase
    are compared, too. Phases that the twin was learnt from are marked.

    Example: writeamp twin check real.toml phases.csv
    """
    if plot is not None:
        check_target(plot)
    from writeamp.learn.twin.phases.checking import PhaseTwin, check  # noqa: PLC0415 (slow)
    from writeamp.learn.twin.phases.table import read_drives  # noqa: PLC0415 (slow)

    learnt = PhaseTwin.read(twin)
    drives = read_drives(phases, table.readings)
    with Bar("simulating candidates", lambda done, all_: f"{done} of {all_}") as bar:
        result = check(learnt, drives, runner=runner, progress=bar.update)
    options.show_result(result, json=json, csv=csv, plot=plot)


def _fitted(
    measured: Path | None, question: OneNumberSettings, phases: PhaseSettings, runner: Runner
) -> Fit:
    from writeamp.learn.twin.fitting import fit  # noqa: PLC0415 (slow)
    from writeamp.learn.twin.one_number import fit_one  # noqa: PLC0415 (slow)
    from writeamp.learn.twin.phases.fitting import fit_phases  # noqa: PLC0415 (slow)
    from writeamp.learn.twin.phases.table import chosen_drive, read_drives  # noqa: PLC0415 (slow)
    from writeamp.learn.twin.windows import read_windows  # noqa: PLC0415 (slow)

    is_table = measured is not None and measured.suffix in TABLES
    if not is_table and phases != PhaseSettings():
        raise WriteampError(
            "--drive, --phases and --readings are for a table of phases (.csv or .toml)"
        )
    with Bar(
        "simulating candidates", lambda done, all_: f"{done} of {all_}", has_slow_steps=True
    ) as bar:
        if measured is not None and is_table:
            drive = chosen_drive(read_drives(measured, phases.readings), phases.drive)
            return fit_phases(drive, phases.names, runner=runner, progress=bar.update)
        if measured is not None:
            return fit(read_windows(measured), runner=runner, progress=bar.update)
        if question.trace is not None:
            return _of_trace(question, question.trace, runner, bar)
        assert question.wa is not None
        load = "uniform" if question.workload is None else str(question.workload)
        return fit_one(question.wa, load, runner=runner, progress=bar.update)


def _of_trace(question: OneNumberSettings, path: Path, runner: Runner, bar: Bar) -> Fit:
    from writeamp import traces  # noqa: PLC0415 (slow)
    from writeamp.drives.counters.answer import interval_answer  # noqa: PLC0415 (slow)
    from writeamp.drives.counters.reading import read_snapshot  # noqa: PLC0415 (slow)
    from writeamp.learn.twin.one_number import NOISE, fit_trace  # noqa: PLC0415 (slow)

    trace = traces.read(str(path), question.trace_format, origins=False)
    if question.counters is None:
        assert question.wa is not None
        return fit_trace(question.wa, trace, runner=runner, progress=bar.update)
    earlier, after = (read_snapshot(Path(name)) for name in question.counters)
    answer = interval_answer(earlier, after)
    for sentence in answer.warnings:
        options.warn(sentence)
    if answer.wa is None:
        raise WriteampError(
            f"the two --counters snapshots give no WA of the time between them: {answer.reason}"
        )
    low, high = answer.bounds or (answer.wa, answer.wa)
    noise = max(NOISE, (high - low) / 4 / answer.wa)
    return fit_trace(answer.wa, trace, noise=noise, runner=runner, progress=bar.update)


def _print_windows(windows: Windows, out: Path, *, json: bool) -> None:
    document = {
        "out": str(out),
        "windows": [float(wa) for wa in windows.wa],
        "sequential_factor": windows.sequential_factor,
        "noise": windows.noise,
        "host_bytes": float(windows.host_bytes.sum()),
    }
    rows = [
        ("WA of each window ÷ WA of the fill", ", ".join(f"{wa:.3f}" for wa in windows.wa)),
        ("saved in", str(out)),
    ]
    rows.append(("WA of the sequential fill", f"{windows.sequential_factor:.4f}"))
    noise = "unknown" if windows.noise is None else f"{windows.noise:.2%}"
    rows.append(("noise of a window's WA", noise))
    options.show(lambda: document, lambda: Card("", rows), json=json)


def _card_of_fit(result: Fit, out: Path) -> Card:
    card = result.card()
    return replace(card, rows=[*card.rows, ("profile", str(out))])
