"""`writeamp volumes`: fleets of volumes: making, splitting, describing and simulating them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from writeamp.cli import boundary, options
from writeamp.cli.application import App
from writeamp.cli.progress_bar import Bar
from writeamp.cli.runner_options import with_threads
from writeamp.cli.setting_options import with_settings
from writeamp.cli.shard_options import with_shards
from writeamp.cli.volumes_run import run, with_run_settings
from writeamp.plots import check_target
from writeamp.results.card import Card
from writeamp.results.facts import fact_in_words
from writeamp.runners import Runner, Threads
from writeamp.volumes.settings import (
    RUN_OPTIONS,
    SPARE_OPTIONS,
    FleetSettings,
    NeedSettings,
    SelectionSettings,
    SplitSettings,
)

# Quantiles to show in the table; the JSON document has all of them.
_SHOWN_QUANTILES = ("0", "0.25", "0.5", "0.75", "1")

FleetFolder = Annotated[
    Path,
    typer.Argument(help="Folder that `volumes split` wrote.", metavar="DIR", show_default=False),
]


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    verbs = App(
        help="To read the counters of many real drives, use `writeamp measure fleet`.",
        no_args_is_help=True,
    )
    verbs.command("make")(with_settings(make))
    verbs.command("split")(with_settings(split))
    verbs.command("info")(with_settings(info))
    in_need = tuple(name for name in RUN_OPTIONS if name not in SPARE_OPTIONS)
    verbs.command("need")(with_threads(with_run_settings(with_settings(need), in_need)))
    verbs.command("run")(with_threads(with_run_settings(with_settings(with_shards(run)))))
    app.add_typer(verbs, name="volumes")


def make(
    settings: FleetSettings,
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="Trace to write, compressed if it ends in .zst or .gz. The true parameters of the "
            "volumes go to NAME.truth.parquet.",
            metavar="FILE",
            show_default=False,
        ),
    ],
    json: options.Json = False,
) -> None:
    """Make a synthetic fleet: a trace of volumes with given distributions of size and skew.

    Example: writeamp volumes make --volumes 200 --requests 2e6 --seed 1 --out fleet.csv.zst
    """
    from writeamp.volumes.making import make as made  # noqa: PLC0415 (slow)

    with Bar("making", lambda done, whole: f"{done:,} of {whole:,} requests") as bar:
        summary = made(out, progress=bar.update, **vars(settings))
    facts = summary.to_dict()
    options.show(lambda: facts, lambda: _card(facts), json=json)


def split(
    traces: Annotated[
        list[str],
        typer.Argument(
            help="Trace files, also compressed, or addresses such as s3://…, in order of time.",
            metavar="TRACE",
            show_default=False,
        ),
    ],
    settings: SplitSettings,
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="Folder of the fleet to write; an interrupted split continues in it.",
            metavar="DIR",
            show_default=False,
        ),
    ],
    json: options.Json = False,
) -> None:
    """Split traces by volume, in one pass and bounded memory, and describe each volume.

    Example: writeamp volumes split fleet.csv.zst --format alibaba --out fleet/
    """
    from writeamp.volumes.splitting import split as split_fleet  # noqa: PLC0415 (slow)

    with Bar("splitting", _split_words) as bar:
        summary = split_fleet(
            traces,
            out,
            runner=Threads(settings.threads),
            progress=bar.update,
            trace_format=settings.trace_format,
            action=settings.action,
            by_file=settings.by_file,
        )
    facts = summary.to_dict()
    options.show(lambda: facts, lambda: _card(facts), json=json)


def _split_words(done: int, whole: int) -> str:
    if not whole:
        return f"{done:,} requests read"
    return f"{done - whole // 2:,} of {whole // 2:,} requests written by volume"


def info(
    fleet: FleetFolder,
    selection: SelectionSettings,
    *,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Describe the volumes of a fleet: totals and distributions; with --csv, each volume.

    Example: writeamp volumes info fleet/ --where "drive_writes > 2"
    """
    from writeamp.volumes.fleet import Fleet  # noqa: PLC0415 (slow)
    from writeamp.volumes.selection import facts_table  # noqa: PLC0415 (slow)
    from writeamp.volumes.selection import info as info_of  # noqa: PLC0415

    volumes = Fleet.open(fleet)
    if csv:
        options.print_csv(facts_table(volumes, selection))
        return
    with Bar("reading"):
        facts = info_of(volumes, **vars(selection))
    options.show(lambda: facts, lambda: _card_of_info(facts), json=json)


def need(
    fleet: FleetFolder,
    target: NeedSettings,
    selection: SelectionSettings,
    settings: dict[str, Any],
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw the overall WA over op (.png, .svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    keep: options.Keep = None,
    runner: Runner,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Compute the op for a fleet's overall WA; show writes per day and the costliest volumes.

    Example: writeamp volumes need fleet/ --target-wa 2 --manager sepgc --keep savings/
    """
    if plot is not None:
        check_target(plot)
    from writeamp.volumes.fleet import Fleet  # noqa: PLC0415 (slow)
    from writeamp.volumes.needs import need as needed  # noqa: PLC0415 (slow)

    with (
        boundary.runs_kept_in(keep),
        Bar("searching", lambda done, runs: f"{done:,} of {runs:,} runs at this op") as bar,
    ):
        result = needed(
            target.target_wa,
            Fleet.open(fleet),
            target.manager,
            victims=target.victims,
            keep=keep,
            runner=runner,
            progress=bar.update,
            **vars(selection),
            **settings,
        )
    options.show_result(result, json=json, csv=csv, plot=plot)


def _card(facts: dict[str, Any]) -> Card:
    return Card("", [fact_in_words(key, value) for key, value in facts.items()])


def _card_of_info(facts: dict[str, Any]) -> Card:
    distributions, presets = facts["distributions"], facts["presets"]
    heading = ["quantile", *(f">{100 * float(name):g}%" for name in _SHOWN_QUANTILES)]
    rows = [
        [
            fact_in_words(name, quantiles[_SHOWN_QUANTILES[0]])[0],
            *(fact_in_words(name, quantiles[quantile])[1] for quantile in _SHOWN_QUANTILES),
        ]
        for name, quantiles in distributions.items()
    ]
    chosen = ", ".join(f"{name} {count:,}" for name, count in presets.items())
    return replace(
        _card({key: facts[key] for key in facts if key not in ("distributions", "presets")}),
        parts=[Card("Quantiles over the volumes", rows, heading)],
        legend=[f"volumes by preset: {chosen}"],
    )
