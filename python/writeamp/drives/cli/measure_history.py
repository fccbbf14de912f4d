"""`writeamp measure watch` and `history`: counters of real drives over time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from writeamp.cli import boundary, options
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.drives.cli.printing import print_result
from writeamp.drives.histories.settings import HistorySettings, WatchSettings
from writeamp.plots import check_target, save

if TYPE_CHECKING:
    from writeamp.drives.histories.watching import Round
    from writeamp.drives.measure.history_metrics import DriveMetrics


def watch(
    sources: Annotated[
        list[str],
        typer.Argument(
            help=(
                "Devices to read (all: every drive of this machine), or files or folders that "
                "another program updates. A folder may have the files of one drive, or a file of "
                "each drive. Each round reads all of them."
            ),
            show_default=False,
            metavar="SOURCE",
        ),
    ],
    settings: WatchSettings,
    *,
    once: Annotated[
        bool,
        typer.Option(
            "--once",
            help="Read the sources once, then end; the exit status is 2 if none could be read.",
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """Record the counters of drives over time, in one SQLite file.

    With --json, each round prints one line: the numbers of sources, and the last state of each
    drive. `--metrics` serves the same for Prometheus.

    Example: writeamp measure watch /var/lib/smart/*.json --db history.sqlite --every 1h
    """
    from writeamp.drives.histories.result import history as history_of  # noqa: PLC0415 (slow)
    from writeamp.drives.measure.by_history import watch as watch_once  # noqa: PLC0415
    from writeamp.drives.measure.history_metrics import HistoryCollector, metrics_of  # noqa: PLC0415

    collector, rounds = HistoryCollector(), 0
    try:
        with ExitStack() as undo:
            if settings.metrics is not None:
                from writeamp.vssd.metrics_server import MetricsServer  # noqa: PLC0415 (slow)

                server = undo.enter_context(MetricsServer(collector, settings.metrics))
                boundary.say(f"metrics are at {server.url}")
            while True:
                began = time.monotonic()
                readings = watch_once(sources, settings.db)
                rounds += 1
                drives = []
                if json or settings.metrics is not None:
                    drives = metrics_of(history_of(settings.db))
                    collector.update(drives)
                _print_round(readings, settings, drives, json=json)
                if once:
                    # A timer that calls this should see a failure if no source could be read.
                    raise typer.Exit(0 if readings.read else 2)
                time.sleep(max(settings.every - (time.monotonic() - began), 0.0))
    except KeyboardInterrupt:
        if not rounds:
            raise
        raise boundary.PartlyDone(
            f"{settings.db} has the readings of this run's {rounds} rounds"
        ) from None


def _print_round(
    readings: Round, settings: WatchSettings, drives: Sequence[DriveMetrics], *, json: bool
) -> None:
    """Print the numbers of a round, and the state of the drives with --json."""
    from writeamp.drives.histories.watching import skipped_in_words  # noqa: PLC0415 (slow)

    tried = readings.read + len(readings.failures)
    for sentence in skipped_in_words(readings.failures):
        options.warn(sentence)
    if json:
        document = {
            "db": str(settings.db),
            "sources": tried,
            "read": readings.read,
            "added": readings.added,
            "failures": [failure._asdict() for failure in readings.failures],
            "watched": [drive.to_dict() for drive in drives],
        }
        print(dumps(document), flush=True)
    else:
        stdout.print(
            f"{readings.read} of {tried} sources read, {readings.added} new readings "
            f"in {settings.db}"
        )


def history(
    settings: HistorySettings,
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
    """Show the write amplification (WA) of drives over time, as recorded by `measure watch`.

    Example: writeamp measure history --db history.sqlite --plot history.html
    """
    if plot is not None:
        check_target(plot)
    from writeamp.drives.counters.snapshot import no_such_drive  # noqa: PLC0415
    from writeamp.drives.histories.result import history as history_of  # noqa: PLC0415

    with Bar("reading", lambda done, whole: f"{done:,} of {whole:,} readings") as bar:
        drives = history_of(settings.db, drive=settings.drive, progress=bar.update)
    if settings.drive is not None and not drives.drives:
        raise no_such_drive(
            settings.drive,
            (drive.life.facts.model or drive.drive for drive in history_of(settings.db).drives),
        )
    if plot is not None:
        save(drives.figure(), plot)
    if settings.prometheus is not None:
        from writeamp.drives.measure.history_metrics import write_metrics  # noqa: PLC0415 (slow)

        write_metrics(drives, settings.prometheus)
    print_result(drives, json=json, csv=csv)
