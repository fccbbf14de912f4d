"""`writeamp compare`: block managers and victim policies on workloads and traces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from writeamp._engine import CAUSES
from writeamp.cli import boundary, options
from writeamp.cli.experiment_options import register_experiment
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.cli.runner_options import with_scheduler
from writeamp.errors import WriteampError
from writeamp.plots import check_target
from writeamp.plots.style import with_error
from writeamp.runners import Runner
from writeamp.settings.experiment import Experiment

if TYPE_CHECKING:
    from writeamp.studies.compare.result import Comparison
    from writeamp.studies.compare.row import Row

# What a host can say of its pages, in words.
_HINTS = (
    ("groups", "the groups of pages"),
    ("invalidation_times", "when each page is invalidated"),
)

# What stands before the WA of a row that is not steady.
_UNSTEADY = "* "


def register(app: typer.Typer) -> None:
    """Add the verb."""
    register_experiment(app, with_scheduler(compare))


def compare(
    experiment: Experiment,
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw WA of every manager to a .png, .svg, .pdf or .html file.",
            metavar="FILE",
        ),
    ] = None,
    out: options.Out = None,
    runner: Runner | None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Compare block managers and victim policies: WA by cause, wear, memory, speed.

    All get the same host writes, of each workload and trace that is given. Some get hints of the
    pages that others do not; the table says which.

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
            found = options.whole_or_part(
                lambda: run_comparison(experiment, bar.update, runner, out)
            )
        except WriteampError as error:
            if error.finished is None:
                raise
            found, failed = error.finished, error
    drawn = None if found.unfinished else plot
    options.tell(found, lambda: _print(found), json=json, csv=csv, plot=drawn)
    if failed is not None:
        raise failed
    if found.unfinished:
        raise boundary.PartlyDone(
            f"{_finished(found)} were finished, not {some_of(found.unfinished)}; no picture was "
            "drawn"
        )


def _print(found: Comparison) -> None:
    several = len(found.loads) > 1
    of_what = f"{len(found.loads)} loads" if several else found.loads[0].name
    title = (
        f"{_interrupted(found)}{of_what} on {found.drives}, op {found.ops} = (T-U)/U; "
        f"{len(found.rows[0].results)} run(s) each"
    )
    if several:
        stdout.print(options.heading(title))
    _print_tables(found, title)
    if not all(row.steady for row in found.rows):
        stdout.print(f"{_UNSTEADY}not steady, so this WA may not last; the warnings say why")
    for load in found.loads:
        if load.models:
            stdout.print(load.theory_in_words(named=several), markup=False)
    for line in found.legend:
        stdout.print(line, markup=False)
    for hints, what in _HINTS:
        names = dict.fromkeys(row.policy for row in found.rows if row.hints == hints)
        if names:
            stdout.print(f"hints of {what}: {', '.join(names)}")
    for load in found.loads:
        if load.has_partial_pages:
            of_load = f" of {load.name}" if several else ""
            stdout.print(
                f"WA/byte{of_load} = WA/page × {load.partial_page_factor:.4f}: pages are written "
                "in part, and SMART shows bytes"
            )
    if not found.rows[0].with_victims:
        stdout.print(f"victims: {_victims(found)}")


def _print_tables(found: Comparison, title: str) -> None:
    """Print a table for each load, without its last columns where these would make it a list."""
    *needed, memory, speed = _columns(found)
    left_out: list[_Column] = []
    tables = whole = _tables(found, [*needed, memory, speed], title)
    for spare in ([memory], [memory, speed]):
        if _have_room(tables):
            break
        left_out = spare
        kept = [column for column in (memory, speed) if column not in spare]
        tables = _tables(found, [*needed, *kept], title)
    if not _have_room(tables):
        tables, left_out = whole, []
    stdout.print(*tables)
    if left_out:
        names = " and ".join(column.heading for column in left_out)
        stdout.print(f"no room for {names}")


def _have_room(tables: Sequence[Table]) -> bool:
    return all(map(stdout.has_room_for, tables))


def _tables(found: Comparison, columns: Sequence[_Column], title: str) -> list[Table]:
    """Return a table for each load, all of them with numbers of one width."""
    several = len(found.loads) > 1
    headings = [(">" if column.is_number else "") + column.heading for column in columns]
    widths = [max(len(column.cell(row)) for row in found.rows) for column in columns]
    tables = []
    for load in found.loads:
        rows = [[column.cell(row) for column in columns] for row in load.by_wa]
        table = options.table(load.name if several else title, headings, rows)
        for column, width, shown in zip(columns, widths, table.columns, strict=True):
            if column.is_number:
                shown.min_width = width
        tables.append(table)
    return tables


def _victims(found: Comparison) -> str:
    """Return each manager's victim policy, where none was asked for or one for all."""
    policies = sorted({row.victims for row in found.rows})
    if len(policies) == 1:
        return policies[0]
    managers = {
        policy: dict.fromkeys(row.manager for row in found.rows if row.victims == policy)
        for policy in policies
    }
    return ", ".join(f"{policy} ({', '.join(names)})" for policy, names in managers.items())


@dataclass(frozen=True)
class _Column:
    heading: str
    cell: Callable[[Row], str]
    is_number: bool = True


def _columns(found: Comparison) -> list[_Column]:
    rows = found.rows
    names = [_Column("manager", lambda row: row.manager, is_number=False)]
    if rows[0].with_victims:
        names.append(_Column("victims", lambda row: row.victims, is_number=False))
    wa = _Column("WA", _wa)
    wa_columns = [wa]
    if found.has_partial_pages:
        by_byte = _Column("WA/byte", lambda row: f"{row.wa_bytes:.3f}")
        wa_columns = [by_byte, replace(wa, heading="WA/page")]
    if any(row.theory for row in rows):
        wa_columns.append(_Column("theory", _theory))
    others = [
        cause
        for cause in CAUSES
        if cause == "gc" or (cause != "host" and any(row.causes[cause] for row in rows))
    ]
    return [
        *names,
        *wa_columns,
        *(_Column(f"{cause}/host".replace("_", " "), partial(_share, cause)) for cause in others),
        _Column("fairness", lambda row: f"{row.pe_fairness:.3f}"),
        _Column("B/page", lambda row: f"{row.bytes_per_page:.2f}"),
        _Column("M pages/s", lambda row: f"{row.host_pages_per_s / 1e6:.1f}"),
    ]


def _wa(row: Row) -> str:
    return ("" if row.steady else _UNSTEADY) + with_error(row.wa, *row.ci)


def _theory(row: Row) -> str:
    return f"{row.theory.wa:.3f}" if row.theory else ""


def _share(cause: str, row: Row) -> str:
    return f"{row.causes[cause] / row.causes['host']:.3f}"


def _interrupted(found: Comparison) -> str:
    return f"INTERRUPTED after {_finished(found)}: " if found.unfinished else ""


def _finished(found: Comparison) -> str:
    return f"{len(found.rows)} of {len(found.rows) + len(found.unfinished)} rows"
