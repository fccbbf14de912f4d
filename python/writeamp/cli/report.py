"""`writeamp report`: a page that `--report` wrote, read back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from writeamp.cli import options
from writeamp.cli.progress_bar import Bar
from writeamp.cli.report_option import without_report


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("report")(without_report(report))


def report(
    page: Annotated[
        Path,
        typer.Argument(
            help="A page that --report of a verb wrote.", metavar="PAGE.html", show_default=False
        ),
    ],
    *,
    json: options.Json = False,
) -> None:
    """Read back the result in a page that --report wrote, and print it as Markdown or JSON.

    The option --report of other verbs writes such a page. Its scripts are not run.

    Example: writeamp report answer.html --json
    """
    from writeamp.reports.reading import report as read_back  # noqa: PLC0415 (slow)

    with Bar("reading"):
        found = read_back(page)
        text = "" if json else found.markdown()
    if json:
        options.print_json(found.document)
    else:
        sys.stdout.write(text)
