"""`writeamp measure watch` and `history`: real drives over time."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from writeamp.cli import boundary, options
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.drives.cli.printing import print_result
from writeamp.drives.histories.settings import HistorySettings, WatchSettings
from writeamp.plots import check_target, save


def watch(
    sources: Annotated[
        list[str],
        typer.Argument(
            help="Devices, files, or folders with the files of one drive, that are read anew each "
            "round.",
            show_default=False,
            metavar="SOURCE",
        ),
    ],
    asked: WatchSettings,
    *,
    once: Annotated[bool, typer.Option("--once", help="End after one round.")] = False,
) -> None:
    """Keep the counters of drives over time, in one SQLite file.

    Example: writeamp measure watch /var/lib/smart/*.json --db history.sqlite --every 1h
    """
    from writeamp.drives.measure.by_history import watch as watch_once  # noqa: PLC0415 (slow)

    rounds = 0
    try:
        while True:
            began = time.monotonic()
            found = watch_once(sources, asked.db)
            rounds += 1
            for one in found.failures:
                options.warn(f"{one.name} is left out of this round: {one.reason}")
            stdout.print(
                f"{found.read} of {len(sources)} sources read, {found.added} new in {asked.db}"
            )
            if once:
                # Where nothing at all could be read, a timer should notice.
                raise typer.Exit(0 if found.read else 2)
            time.sleep(max(asked.every - (time.monotonic() - began), 0.0))
    except KeyboardInterrupt:
        if not rounds:
            raise
        raise boundary.PartlyDone(f"rounds kept in {asked.db}: {rounds}") from None


def history(
    asked: HistorySettings,
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", help="Draw WA over time (.png, .svg, .pdf or .html).", metavar="FILE"
        ),
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Tell the write amplification (WA) of drives over time, as `measure watch` kept them.

    Example: writeamp measure history --db history.sqlite --plot history.html
    """
    if plot is not None:
        check_target(plot)
    from writeamp.drives.counters.snapshot import no_such_drive  # noqa: PLC0415
    from writeamp.drives.histories.result import history as history_of  # noqa: PLC0415
    from writeamp.drives.histories.result import write_metrics  # noqa: PLC0415 (slow)

    with Bar("reading"):
        found = history_of(asked.db, drive=asked.drive)
    if asked.drive is not None and not found.drives:
        raise no_such_drive(
            asked.drive, (one.life.facts.model or one.drive for one in history_of(asked.db).drives)
        )
    if plot is not None:
        save(found.figure(), plot)
    if asked.prometheus is not None:
        write_metrics(found, asked.prometheus)
    print_result(found, json=json, csv=csv)
