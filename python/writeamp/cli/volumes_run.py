"""`writeamp volumes run`: a study of a fleet, each volume on a drive of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from writeamp.cli import boundary, options, point_progress
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.cli.setting_options import asked, described, setting_parameters
from writeamp.errors import Interrupted
from writeamp.fields.setting import Places
from writeamp.plots import check_target
from writeamp.plots.style import with_error
from writeamp.runners import Runner
from writeamp.settings.compared import PoliciesSettings
from writeamp.settings.experiment import setting_places
from writeamp.volumes.settings import (
    RUN_OPTIONS,
    ComparedSettings,
    DrivesSettings,
    SelectionSettings,
)

if TYPE_CHECKING:
    from writeamp.volumes.result import FleetRun
    from writeamp.volumes.tenants import TogetherRun


def with_run_settings(
    body: Callable[..., None], names: Sequence[str] = RUN_OPTIONS
) -> Callable[..., None]:
    """Return a verb whose argument `settings` has the options of a run that are given."""
    known = setting_places("simulate")
    places: Places = {name: known[name] for name in names}

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
            help="The folder that was --out of `volumes split`.", metavar="DIR", show_default=False
        ),
    ],
    policies: PoliciesSettings,
    selection: SelectionSettings,
    compared: ComparedSettings,
    drives: DrivesSettings,
    *,
    settings: dict[str, Any],
    out: options.Out = None,
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

    Example: writeamp volumes run fleet/ --managers single,sepgc --op 0.15 --out savings/
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
                out=out,
                selection=selection,
                compared=compared,
                runner=runner,
                progress=bar.update,
                **settings,
            )
    except Interrupted as stopped:
        raise boundary.PartlyDone(_how_far(stopped.finished)) from None
    drawn = plot if found.is_drawable else None
    options.tell(found, lambda: _print(found), json=json, csv=csv, plot=drawn)
    if found.failed.height:
        raise typer.Exit(point_progress.FAILED)


def _words(done: int, runs: int) -> str:
    return f"{done:,} of {runs:,} runs"


def _how_far(found: FleetRun | TogetherRun) -> str:
    where = f" in {found.kept.out}" if found.kept else ""
    runs = found.rows.height + len(found.unfinished)
    return f"{found.rows.height:,} of {runs:,} runs have results{where}" + (
        ", and the same command goes on with the others" if found.kept else ""
    )


def _print(found: FleetRun | TogetherRun) -> None:
    from writeamp.volumes.result import FleetRun  # noqa: PLC0415 (slow)
    from writeamp.volumes.tenants import interval_of  # noqa: PLC0415 (slow)

    if isinstance(found, FleetRun):
        _print_each(found)
        return
    heading = ["manager", ">WA", f">saving over {found.baseline}", "hint"]
    rows = [
        [
            one["manager"],
            with_error(one["overall_wa"], *interval_of(*one["overall_wa_ci95"])),
            "–" if one["saving"] is None else f"{one['saving']:.1%}",
            one["hint"] or "–",
        ]
        for one in found.managers
    ]
    stdout.print(options.table(f"{found.volumes.height:,} volumes on one drive", heading, rows))


def _print_each(found: FleetRun) -> None:
    if found.common.is_empty():
        stdout.print("no volume has a WA under every policy, so that they cannot be compared")
        return
    heading = ["manager", ">overall WA", ">median WA", f">saving over {found.baseline}", ">wins"]
    rows = [
        [
            one["manager"],
            with_error(one["overall_wa"], *one["overall_wa_ci95"]),
            f"{one['median_wa']:.3f}",
            f"{one['saving']:.1%} ({one['saving_ci95'][0]:.1%} to {one['saving_ci95'][1]:.1%})",
            f"{one['wins']:,}",
        ]
        for one in found.managers
    ]
    title = f"{found.common.height:,} of {found.volumes.height:,} volumes, {found.runs:,} runs"
    stdout.print(options.table(title, heading, rows))
    classes = [
        [
            one["by"].replace("_", " "),
            f"{one['class']} ({one['least']:.3g} to {one['greatest']:.3g})",
            f"{one['volumes']:,}",
            one["best"],
            f"{one['overall_wa'][one['best']]:.3f}",
        ]
        for one in found.classes
    ]
    heading = ["volumes by", "third", ">volumes", "best overall", ">its WA"]
    stdout.print(options.table("Who is best where", heading, classes))
