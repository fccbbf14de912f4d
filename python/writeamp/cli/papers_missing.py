"""`writeamp reproduce` if the package writeamp-papers is not installed."""

from __future__ import annotations

from typing import Annotated

import typer

from writeamp.cli.report_option import without_report
from writeamp.errors import WriteampError
from writeamp.extensions import PAPERS_MISSING


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    any_arguments = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command("reproduce", context_settings=any_arguments)(without_report(reproduce))


def reproduce(
    paper: Annotated[str | None, typer.Argument(help="Name of a paper.", metavar="PAPER")] = None,
) -> None:
    """Compute and compare a paper's values; exit with status 1 on new or changed differences.

    This verb is in the package writeamp-papers, which is not installed.

    Example: pip install writeamp-papers
    """
    raise WriteampError(PAPERS_MISSING)
