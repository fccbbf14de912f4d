"""`writeamp compare`: block managers and victim policies on workloads and traces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from writeamp.cli import boundary, options
from writeamp.cli.experiment_options import register_experiment
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.cli.runner_options import with_scheduler
from writeamp.cli.shard_options import with_shards
from writeamp.errors import WriteampError
from writeamp.plots import check_target
from writeamp.runners import Runner
from writeamp.settings.experiment import Experiment
from writeamp.studies.shards import Folders

if TYPE_CHECKING:
    from writeamp.results.card import Card

# Columns to leave out on a narrow terminal.
_SPARE_COLUMNS = (">memory B/page", ">simulated M pages/s")


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    register_experiment(app, with_scheduler(with_shards(compare)))


def compare(
    experiment: Experiment,
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw a bar with the WA of every row (.png, .svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    keep: Folders | None,
    runner: Runner | None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Compare block managers and victim policies: WA by cause, wear, memory, speed.

    All policies get the same host writes, for each workload and trace. Some block managers also
    use hints from the host about the pages; the table marks these.

    Example: writeamp compare --managers single,sepgc --victims greedy,cost-benefit --workload
    zipf:s=0.99 --op 0.15
    """
    if plot is not None:
        check_target(plot)
    from writeamp.studies.compare.comparison import run_comparison  # noqa: PLC0415 (slow)
    from writeamp.studies.compare.warnings import some_of  # noqa: PLC0415 (slow)

    failed = None
    with Bar("comparing", lambda done, runs: f"{done} of {runs} runs") as bar:
        try:
            result = options.finished_part(
                lambda: run_comparison(experiment, bar.update, runner, keep)
            )
        except WriteampError as error:
            if error.finished is None:
                raise
            result, failed = error.finished, error
    drawn = None if result.unfinished else plot
    options.show_result(result, json=json, csv=csv, plot=drawn, print_tables=_print)
    if failed is not None:
        raise failed
    if result.unfinished:
        raise boundary.PartlyDone(
            f"{result.finished} are finished; unfinished: {some_of(result.unfinished)}; no "
            "picture was drawn"
        )


def _print(card: Card) -> None:
    if card.rows:
        of_loads, others = [card], card.parts
    else:
        stdout.print(options.heading(card.title))
        columns = card.parts[0].columns
        of_loads = [table for table in card.parts if table.columns == columns]
        others = [table for table in card.parts if table.columns != columns]
    _print_tables(of_loads)
    for table in others:
        options.print_part(table)
    for line in card.legend:
        stdout.print(line)


def _print_tables(cards: Sequence[Card]) -> None:
    """Print a table for each load; leave out spare columns if the tables fit only without them."""
    for count in range(len(_SPARE_COLUMNS) + 1):
        left_out = _SPARE_COLUMNS[:count]
        tables = _tables(cards, left_out)
        if all(map(stdout.has_room_for, tables)):
            break
    else:
        left_out, tables = (), _tables(cards, ())
    stdout.print(*tables)
    if left_out:
        names = " and ".join(column.removeprefix(">") for column in left_out)
        stdout.print(f"No room for the columns {names}.")


def _tables(cards: Sequence[Card], left_out: Sequence[str]) -> list[Table]:
    """Return a table for each load; numeric columns are equally wide in all tables."""
    columns = cards[0].columns
    shown = [at for at, column in enumerate(columns) if column not in left_out]
    names = [columns[at] for at in shown]
    tables = []
    for card in cards:
        table = options.table(card.title, names, [[row[at] for at in shown] for row in card.rows])
        for at, column in zip(shown, table.columns, strict=True):
            if columns[at].startswith(">"):
                column.min_width = max(len(row[at]) for other in cards for row in other.rows)
        tables.append(table)
    return tables
