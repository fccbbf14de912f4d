"""`writeamp volumes need`: spare space, wear and the costliest volumes of a fleet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.plots import check_target
from writeamp.runners import Runner
from writeamp.volumes.settings import NeedSettings, SelectionSettings

if TYPE_CHECKING:
    from writeamp.volumes.needs import FleetNeed


def need(
    fleet: Annotated[
        Path,
        typer.Argument(
            help="The folder that was --out of `volumes split`.", metavar="DIR", show_default=False
        ),
    ],
    asked: NeedSettings,
    selection: SelectionSettings,
    settings: dict[str, Any],
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw the overall WA over op to a .png, .svg, .pdf or .html file.",
            metavar="FILE",
        ),
    ] = None,
    out: options.Out = None,
    runner: Runner,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Tell what a fleet needs: op for an overall WA, wear a day, and the volumes that cost most.

    Example: writeamp volumes need fleet/ --target-wa 2 --manager sepgc --out savings/
    """
    if plot is not None:
        check_target(plot)
    from writeamp.volumes.fleet import Fleet  # noqa: PLC0415 (slow)
    from writeamp.volumes.needs import need as needed  # noqa: PLC0415 (slow)

    with Bar("searching", lambda done, runs: f"{done:,} of {runs:,} runs at this op") as bar:
        found = needed(
            Fleet.open(fleet),
            asked.manager,
            asked.target_wa,
            victims=asked.victims,
            out=out,
            selection=selection,
            runner=runner,
            progress=bar.update,
            **settings,
        )
    options.tell(found, lambda: _print(found), json=json, csv=csv, plot=plot)


def _print(found: FleetNeed) -> None:
    said = found.to_dict()
    low, high = found.op_ci95
    per_day, flash = said["drive_writes_per_day"], said["flash_writes_per_day"]
    rows = [
        (
            f"op for an overall WA of {found.target_wa:g}",
            f"{found.op:.4f} = (T-U)/U (95% CI {low:.4f} to {high:.4f})",
        ),
        ("policy", said["manager"]),
        ("volumes", f"{said['volumes']:,}"),
        ("drive writes a day, by the hosts", "–" if per_day is None else f"{per_day:.4g}"),
        ("writes of all the flash a day", "–" if flash is None else f"{flash:.4g}"),
    ]
    stdout.print(options.facts(rows))
    heading = ["volume", ">WA", ">share of the extra writes", ">drive writes", ">hottest 10%"]
    table = [
        [
            one["volume"],
            f"{one['wa']:.3f}",
            f"{one['share']:.1%}",
            f"{one['drive_writes']:.4g}",
            f"{one['hottest_10pct_share']:.1%}",
        ]
        for one in said["costliest"]
    ]
    stdout.print(options.table("Volumes that cost most", heading, table))
