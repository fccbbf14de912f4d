"""`writeamp volumes run`: a study of a fleet, each volume on a drive of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from writeamp.cli import boundary, options
from writeamp.cli.progress_bar import Bar
from writeamp.cli.setting_options import asked, described, setting_parameters
from writeamp.errors import Interrupted
from writeamp.plots import check_target
from writeamp.runners import Runner
from writeamp.settings.compared import PoliciesSettings
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
    """Return a verb whose argument `settings` has the options of a run that are given."""
    places = run_places(names)

    @wraps(body)
    def verb(**given: Any) -> None:
        values = asked({name: given.pop(name, None) for name in places})
        body(settings=values, **given)

    own = list(inspect.signature(body, eval_str=True).parameters.values())
    place = next(at for at, one in enumerate(own) if one.name == "settings")
    own[place : place + 1] = setting_parameters(places)
    return described(verb, [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own],
                     [places])  # fmt: skip


def run(
    fleet: Annotated[
        Path,
        typer.Argument(
            help="The folder that `volumes split` wrote.", metavar="DIR", show_default=False
        ),
    ],
    policies: PoliciesSettings,
    selection: SelectionSettings,
    compared: ComparedSettings,
    drives: DrivesSettings,
    *,
    settings: dict[str, Any],
    keep: options.Keep = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw boxes and curves of WA, overall WA and savings to a .png, .svg, .pdf or "
            ".html file; with --together WA by cause.",
            metavar="FILE",
        ),
    ] = None,
    runner: Runner,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Run each volume of a fleet on a drive of its own, sized by its written set.

    Example: writeamp volumes run fleet/ --managers single,sepgc --op 0.15 --keep savings/
    """
    if plot is not None:
        check_target(plot)
    from writeamp.volumes.fleet import Fleet  # noqa: PLC0415 (slow)
    from writeamp.volumes.study import run_fleet  # noqa: PLC0415 (slow)
    from writeamp.volumes.tenants import run_together  # noqa: PLC0415 (slow)

    study: Callable[..., FleetRun | TogetherRun] = run_together if drives.together else run_fleet
    try:
        with Bar("running", _words, by_own_pace=True) as bar:
            found = study(
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
        raise boundary.PartlyDone(_how_far(stopped.finished)) from None
    drawn = plot if found.is_drawable else None
    options.tell(found, lambda: options.print_card(found.card()), json=json, csv=csv, plot=drawn)
    if found.failed.height:
        raise typer.Exit(boundary.SOME_FAILED)


def _words(done: int, runs: int) -> str:
    return f"{done:,} of {runs:,} runs"


def _how_far(found: FleetRun | TogetherRun) -> str:
    where = f" in {found.kept.out}" if found.kept else ""
    runs = found.rows.height + len(found.unfinished)
    return f"{found.rows.height:,} of {runs:,} runs have results{where}" + (
        ", and the same command goes on with the others" if found.kept else ""
    )
