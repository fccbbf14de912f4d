"""`writeamp doctor`: mistakes in benchmarks, and their effect on WA."""

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
    """Add the command `doctor` to the program."""
    app.command("doctor")(with_settings(doctor))


def doctor(
    inputs: Annotated[
        list[Path] | None,
        typer.Argument(
            help=(
                "fio job files, scripts that run fio, JSON output of fio, block traces, results "
                "that writeamp saved with --json or --report, or counter snapshots (files or "
                "folders, earliest first)."
            ),
            show_default=False,
            metavar="INPUT",
        ),
    ] = None,
    *,
    settings: DoctorSettings,
    verdict: VerdictSettings,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Find mistakes in a benchmark of write amplification, and estimate their effect on WA.

    The doctor reads the inputs. It does not run them, and does not open the files that they name.
    The exit status is 0. With --fail-on, it is 1 if a mistake is at least that severe.

    Example: writeamp doctor examples/fio/looped-randwrite.fio
    """
    from writeamp.drives.doctor.examination import doctor as examine  # noqa: PLC0415 (slow)

    with Bar("examining"):
        report = examine(*(inputs or []), **vars(settings))
    for sentence in report.notes:
        options.note(sentence)
    options.show(
        report.to_dict,
        report.card,
        frame=report.to_frame,
        json=json,
        csv=csv,
        print_tables=lambda _: _show(report),
    )
    if verdict.fail_on is not None and report.is_at_least(verdict.fail_on):
        raise typer.Exit(_FOUND)


def _show(report: DoctorReport) -> None:
    from writeamp.drives.doctor.examination import in_words  # noqa: PLC0415 (slow)

    for name, kind in report.inputs:
        stdout.print(f"{name}: {kind}", highlight=False)
    for finding in report.findings:
        table = Table(show_header=False, box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        table.add_row("", "")
        table.add_row(f"{finding.severity}", finding.id, style="bold")
        for name, text in (
            ("in", finding.where),
            ("problem", finding.message),
            ("found", finding.evidence),
            ("fix", finding.advice),
            ("WA", in_words(finding)),
        ):
            if text:
                table.add_row(name, text)
        stdout.print(table)
    if report.not_judged:
        stdout.print()
    for missing in report.not_judged:
        stdout.print(missing.in_words(), highlight=False)
    if report.drive is not None:
        stdout.print()
        stdout.print(f"WA of each mistake is from a simulation on {report.drive}", highlight=False)
