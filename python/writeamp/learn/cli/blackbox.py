"""`writeamp blackbox`: models of a drive's performance, learnt from measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from writeamp.cli import boundary, options
from writeamp.cli.application import App
from writeamp.cli.progress_bar import Bar, points_in_words
from writeamp.cli.runner_options import with_runner
from writeamp.cli.setting_options import with_settings
from writeamp.errors import Interrupted, WriteampError
from writeamp.files import output
from writeamp.learn.blackbox.collection import Collected, collect
from writeamp.learn.blackbox.designs import Design
from writeamp.learn.blackbox.model_kinds import missing_packages
from writeamp.learn.blackbox.targets.choice import is_simulated, target_of
from writeamp.learn.blackbox.targets.settings import (
    RealSettings,
    SimulatedSettings,
    TargetSettings,
)
from writeamp.learn.cli.blackbox_explain import explain
from writeamp.learn.cli.blackbox_predict import choose, predict
from writeamp.learn.cli.blackbox_train import evaluate_model, train_model
from writeamp.runners import Runner


def register(app: typer.Typer) -> None:
    """Add the commands of `blackbox`."""
    verbs = App(
        no_args_is_help=True,
    )
    verbs.command("collect")(with_runner(with_settings(collect_points)))
    verbs.command("train")(with_settings(train_model))
    verbs.command("evaluate")(with_settings(evaluate_model))
    verbs.command("predict")(with_settings(predict))
    verbs.command("explain")(with_settings(explain))
    verbs.command("choose")(with_settings(choose))
    app.add_typer(verbs, name="blackbox")


def collect_points(
    settings: Annotated[dict[str, Any], TargetSettings, SimulatedSettings, RealSettings],
    design: Design,
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            show_default=False,
            help="Parquet file to which the measurements are added. Points (workloads) that it "
            "already holds are not measured again.",
            metavar="FILE",
        ),
    ],
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Measure points again that failed in an earlier run; by default they are skipped.",
        ),
    ] = False,
    runner: Runner,
    json: options.Json = False,
) -> None:
    """Measure a drive under many workloads.

    Example: writeamp blackbox collect --target x25-m --points 600 --out x25m.parquet
    """
    target = settings.pop("target")
    if not is_simulated(target):
        output.check_distinct([out, target])
        if design.is_in_states:
            raise WriteampError(
                f"--vary and --burst are for simulated targets only; {target} is not simulated"
            )
    # Measurements take minutes to hours, and a model of them is the usual next step.
    if missing := missing_packages():
        options.note(f"`blackbox train` will not run: {missing}")
    measured = target_of(target, runner=runner, **settings)
    for sentence in measured.notes:
        options.note(sentence)
    try:
        with Bar("measuring", points_in_words, has_slow_steps=True) as bar:
            collected = collect(
                measured,
                out=out,
                design=design,
                retry_failed=retry_failed,
                progress=bar.update,
            )
    except Interrupted as stopped:
        raise boundary.PartlyDone(_progress(stopped.finished)) from None
    _warn(collected)
    options.show(collected.to_dict, collected.card, json=json)
    if collected.failed:
        raise typer.Exit(boundary.SOME_FAILED)


def _progress(stopped: Collected) -> str:
    have = stopped.points - len(stopped.unfinished)
    return (
        f"{have} of {stopped.points} points are in {stopped.out}; run the same command to continue"
    )


def _warn(collected: Collected) -> None:
    if collected.merged:
        options.note(
            f"{collected.merged} points of the design are equal to earlier points on this target, "
            "and are measured only once"
        )
    for sentence in [] if collected.store_stats is None else collected.store_stats.notes:
        options.note(sentence)
    for sentence in collected.warnings:
        options.warn(sentence)
    for sentence in collected.errors[: options.MOST_ERRORS]:
        options.warn(f"at least one point failed: {sentence}")
