"""`writeamp doctor`: mistakes in benchmarks, and what the number would have been."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.cli.setting_options import with_settings
from writeamp.drives.doctor.settings import DoctorSettings, VerdictSettings

if TYPE_CHECKING:
    from writeamp.drives.doctor.examination import DoctorReport

_FOUND = 1


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("doctor")(with_settings(doctor))


def doctor(
    inputs: Annotated[
        list[Path] | None,
        typer.Argument(
            help="fio job files, scripts that run fio, fio's JSON output, block traces, results of "
            "writeamp (--json, --report), counter snapshots (files or folders, in order).",
            show_default=False,
            metavar="INPUT",
        ),
    ] = None,
    *,
    asked: DoctorSettings,
    verdict: VerdictSettings,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Find mistakes in a benchmark of write amplification, and what the number would have been.

    Nothing in an input is run or opened. The status is 0 whatever is found, unless --fail-on says
    otherwise.

    Example: writeamp doctor examples/fio/looped-randwrite.fio
    """
    from writeamp.drives.doctor.examination import doctor as examine  # noqa: PLC0415 (slow)

    with Bar("examining"):
        found = examine(*(inputs or []), **vars(asked))
    for sentence in found.notes:
        options.note(sentence)
    printed = options.printed_json(found.to_dict, json=json)
    if csv:
        options.print_csv(found.to_frame())
    elif not printed:
        _show(found)
    if verdict.fail_on is not None and found.is_at_least(verdict.fail_on):
        raise typer.Exit(_FOUND)


def _show(found: DoctorReport) -> None:
    from writeamp.drives.doctor.examination import in_words  # noqa: PLC0415 (slow)

    for name, kind in found.inputs:
        stdout.print(f"{name}: {kind}", highlight=False)
    if not found.findings:
        of_others = " by the checks that could be made" if found.not_judged else ""
        stdout.print(f"No mistake was found{of_others}.")
    for one in found.findings:
        table = Table(show_header=False, box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        table.add_row("", "")
        table.add_row(f"{one.severity}", one.id, style="bold")
        for name, text in (
            ("in", one.where),
            ("what", one.message),
            ("found", one.evidence),
            ("change", one.advice),
            ("WA", in_words(one)),
        ):
            if text:
                table.add_row(name, text)
        stdout.print(table)
    if found.not_judged:
        stdout.print()
    for missing in found.not_judged:
        stdout.print(missing.in_words(), highlight=False)
    if found.drive is not None:
        stdout.print()
        stdout.print(f"WA is of a simulation on {found.drive}", highlight=False)
