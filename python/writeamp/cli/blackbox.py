"""`writeamp blackbox`: learn a drive's performance, and predict it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from writeamp import output
from writeamp.blackbox.collection import Collected, collect
from writeamp.blackbox.designs import ACTIVE, DESIGNS, Design
from writeamp.blackbox.targets.choice import is_simulated, target_of
from writeamp.blackbox.targets.conditioning import PRECONDITIONS
from writeamp.cli import boundary, options, point_progress
from writeamp.cli.application import App
from writeamp.cli.blackbox_choose import choose
from writeamp.cli.blackbox_explain import explain
from writeamp.cli.blackbox_predict import predict
from writeamp.cli.blackbox_train import evaluate_model, train_model
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.cli.runner_options import with_runner
from writeamp.devices.profile import profile_names
from writeamp.errors import Interrupted
from writeamp.runners import Runner

_SIMULATED = "Simulated targets"
_REAL = "Real targets"


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    verbs = App(
        help="Learn a drive's latency, bandwidth, throughput and WA from measurements, and predict "
        "them for any workload: collect, train, evaluate, predict, explain, choose.",
        no_args_is_help=True,
    )
    verbs.command("collect")(with_runner(collect_points))
    verbs.command("train")(train_model)
    verbs.command("evaluate")(evaluate_model)
    verbs.command("predict")(predict)
    verbs.command("explain")(explain)
    verbs.command("choose")(choose)
    app.add_typer(verbs, name="blackbox")


def _option(flag: str, help_text: str, **more: Any) -> Any:
    return typer.Option(flag, help=help_text, show_default=False, **more)


def collect_points(
    *,
    target: Annotated[
        str,
        _option(
            "--target",
            "What is measured: a profile (see `writeamp list devices`), an array of them such as "
            "raid0:x25-m,x25-m, a file, a block device or an NBD URI.",
            metavar="TARGET",
            autocompletion=options.completer(profile_names()),
        ),
    ],
    out: Annotated[
        Path,
        _option(
            "--out",
            "The Parquet file of the measurements; points that it has are not measured again.",
            metavar="FILE",
        ),
    ],
    design: Annotated[
        str,
        typer.Option(
            "--design",
            help=f"Which points: {', '.join(DESIGNS)} or {ACTIVE}.",
            metavar="NAME",
            autocompletion=options.completer((*DESIGNS, ACTIVE)),
        ),
    ] = "grid",
    points: Annotated[
        int,
        typer.Option("--points", help="How many points.", parser=options.count, metavar="N"),
    ] = 600,
    design_seed: Annotated[
        int,
        typer.Option(
            "--design-seed", help="Decides which points.", parser=options.count, metavar="N"
        ),
    ] = 0,
    size: Annotated[
        str | None,
        _option(
            "--size",
            "What the host of a simulated device sees (8 GiB by default), or the part of a real "
            "target that is used; a file that does not exist is made of this size.",
            metavar="SIZE",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        _option(
            "--seed",
            "Decides all random draws of the workloads.",
            parser=options.count,
            metavar="N",
        ),
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Measure points again that failed.")
    ] = False,
    precision: Annotated[
        float | None,
        _option(
            "--precision",
            "A point ends when the 95% intervals of mean latency and bandwidth are within this "
            "share of them (0.01 by default).",
            parser=options.ratio,
            metavar="RATIO",
            rich_help_panel=_SIMULATED,
        ),
    ] = None,
    most_time: Annotated[
        str | None,
        _option(
            "--time",
            "Virtual time after which a point ends anyway (1min by default).",
            metavar="TIME",
            rich_help_panel=_SIMULATED,
        ),
    ] = None,
    runtime: Annotated[
        str | None,
        _option(
            "--runtime",
            "How long fio measures each point (1min by default, as in the paper).",
            metavar="TIME",
            rich_help_panel=_REAL,
        ),
    ] = None,
    precondition: Annotated[
        str | None,
        _option(
            "--precondition",
            f"{', '.join(PRECONDITIONS)}: what is written before the first point. steady, the "
            "default of devices, is SNIA's; of all others it is fill.",
            metavar="NAME",
            autocompletion=options.completer(PRECONDITIONS),
            rich_help_panel=_REAL,
        ),
    ] = None,
    round_time: Annotated[
        str | None,
        _option(
            "--round",
            "Length of a round of --precondition steady (1min by default).",
            metavar="TIME",
            rich_help_panel=_REAL,
        ),
    ] = None,
    destroys: Annotated[
        str | None,
        _option(
            "--yes-destroy-data",
            "Write to this very target although it holds data; they are lost.",
            metavar="TARGET",
            rich_help_panel=_REAL,
        ),
    ] = None,
    runner: Runner,
    json: options.Json = False,
) -> None:
    """Measure a target at many points of the space of workloads.

    Example: writeamp blackbox collect --target x25-m --points 600 --out x25m.parquet
    """
    asked = Design(design, points, design_seed)
    output.check_distinct([out, *([] if is_simulated(target) else [target])])
    measured = target_of(
        target,
        size=size,
        destroys=destroys,
        runner=runner,
        seed=seed,
        precision=precision,
        most_s=most_time,
        runtime_s=runtime,
        precondition=precondition,
        round_s=round_time,
    )
    for sentence in measured.notes:
        options.note(sentence)
    try:
        with Bar("measuring", point_progress.words, by_own_pace=True) as bar:
            found = collect(
                measured,
                out=out,
                design=asked,
                retry_failed=retry_failed,
                progress=bar.update,
            )
    except Interrupted as stopped:
        raise boundary.PartlyDone(_how_far(stopped.finished)) from None
    _warn(found)
    if json:
        options.print_json(found.to_dict())
    else:
        stdout.print(
            options.facts(
                [(key, point_progress.shown(one)) for key, one in found.to_dict().items()]
            )
        )
    if found.failed:
        raise typer.Exit(point_progress.FAILED)


def _how_far(stopped: Collected) -> str:
    have = stopped.done + stopped.failed + stopped.skipped
    return (
        f"{have} of {stopped.points} points are in {stopped.out}, and the same command goes on "
        "with the others"
    )


def _warn(found: Collected) -> None:
    if found.merged:
        options.note(f"{found.merged} points that are the same on this target are measured once")
    for sentence in found.warnings:
        options.warn(sentence)
    for sentence in found.errors[: point_progress.MOST_ERRORS]:
        options.warn(f"points failed: {sentence}")
