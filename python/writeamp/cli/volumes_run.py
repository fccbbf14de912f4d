"""`writeamp volumes run`: simulation of a fleet, each volume on its own drive."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from writeamp.cli import boundary, options
from writeamp.cli.progress_bar import Bar
from writeamp.cli.setting_options import described, given_values, setting_parameters
from writeamp.errors import Interrupted, WriteampError
from writeamp.plots import check_target
from writeamp.runners import Runner
from writeamp.settings.compared import PoliciesSettings
from writeamp.studies.shards import Folders
from writeamp.volumes.settings import (
    RUN_OPTIONS,
    ComparedSettings,
    DrivesSettings,
    SelectionSettings,
    run_places,
)

if TYPE_CHECKING:
    from writeamp.volumes.result import FleetRun
    from writeamp.volumes.tenants import TogetherRun


def with_run_settings(
    body: Callable[..., None], names: Sequence[str] = RUN_OPTIONS
) -> Callable[..., None]:
    """Return a subcommand with options for settings of a run instead of `settings`."""
    places = run_places(names)

    @wraps(body)
    def verb(**arguments: Any) -> None:
        values = given_values({name: arguments.pop(name, None) for name in places})
        body(settings=values, **arguments)

    own = list(inspect.signature(body, eval_str=True).parameters.values())
    place = next(at for at, parameter in enumerate(own) if parameter.name == "settings")
    own[place : place + 1] = setting_parameters(places)
    keyword = inspect.Parameter.KEYWORD_ONLY
    return described(verb, [parameter.replace(kind=keyword) for parameter in own], [places])


def run(
    fleet: Annotated[
        Path,
        typer.Argument(
            help="Folder that `volumes split` wrote.", metavar="DIR", show_default=False
        ),
    ],
    policies: PoliciesSettings,
    selection: SelectionSettings,
    compared: ComparedSettings,
    drives: DrivesSettings,
    *,
    settings: dict[str, Any],
    keep: Folders | None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw boxes and curves of WA, overall WA and savings; with --together, WA by "
            "cause (.png, .svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    runner: Runner,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Simulate each volume of a fleet on its own drive, sized by the pages that it writes.

    With --together, all volumes share one drive.

    Example: writeamp volumes run fleet/ --managers single,sepgc --op 0.15 --keep savings/
    """
    if plot is not None:
        check_target(plot)
    from writeamp.volumes.fleet import Fleet  # noqa: PLC0415 (slow)
    from writeamp.volumes.study import run_fleet  # noqa: PLC0415 (slow)
    from writeamp.volumes.tenants import run_together  # noqa: PLC0415 (slow)

    study: Callable[..., FleetRun | TogetherRun] = run_together if drives.together else run_fleet
    try:
        with Bar("running", _words, has_slow_steps=True) as bar:
            result = study(
                Fleet.open(fleet),
                policies,
                keep=keep,
                selection=selection,
                compared=compared,
                runner=runner,
                progress=bar.update,
                **settings,
            )
    except Interrupted as stopped:
        raise boundary.PartlyDone(_progress(stopped.finished)) from None
    if len(result.omitted) == len(result.labels):
        label, policy = next(iter(result.omitted.items()))
        raise WriteampError(f"{label}: {policy.reason}")
    drawn = plot if result.is_drawable else None
    options.show_result(result, json=json, csv=csv, plot=drawn)
    if result.failed.height:
        raise typer.Exit(boundary.SOME_FAILED)


def _words(done: int, runs: int) -> str:
    return f"{done:,} of {runs:,} runs"


def _progress(study: FleetRun | TogetherRun) -> str:
    where = f" in {study.store_stats.out}" if study.store_stats else ""
    runs = study.rows.height + len(study.unfinished)
    return f"{study.rows.height:,} of {runs:,} runs have results{where}" + (
        "; run the same command to continue" if study.store_stats else ""
    )
