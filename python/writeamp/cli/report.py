"""`writeamp report`: reading a page that `--report` wrote."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from writeamp.cli import options
from writeamp.cli.progress_bar import Bar
from writeamp.cli.report_option import without_report


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command("report")(without_report(report))


def report(
    page: Annotated[
        Path,
        typer.Argument(help="A page that --report wrote.", metavar="PAGE.html", show_default=False),
    ],
    *,
    json: options.Json = False,
) -> None:
    """Print the result that a page of --report stores, as Markdown or JSON.

    Most other commands write a page of their result with --report FILE. Scripts in the page are not
    run.

    Example: writeamp report answer.html --json
    """
    from writeamp.reports.reading import report as read_back  # noqa: PLC0415 (slow)

    with Bar("reading"):
        report_ = read_back(page)
        text = "" if json else report_.markdown()
    if json:
        options.print_json(report_.document)
    else:
        sys.stdout.write(text)
