"""`writeamp diff`: settings and numbers in which two results differ."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from writeamp.cli import options
from writeamp.cli.progress_bar import Bar


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command("diff")(diff)


def diff(
    a: Annotated[
        Path,
        typer.Argument(
            help="First result: a file with the output of --json, or the page of --report.",
            show_default=False,
        ),
    ],
    b: Annotated[
        Path,
        typer.Argument(
            help="Second result, of the same command; differences are second minus first.",
            show_default=False,
        ),
    ],
    *,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Compare two results: settings and numbers that differ, and which differences are noise.

    To compare two snapshots of a drive's counters, use `writeamp measure diff`.

    Example: writeamp diff a.json b.json --report before-and-after.html
    """
    from writeamp.differences.difference import diff as difference  # noqa: PLC0415 (slow)

    with Bar("comparing"):
        differences = difference(a, b)
    options.show(
        differences.to_dict,
        differences.card,
        frame=differences.to_frame,
        json=json,
        csv=csv,
    )
    for note in differences.notes:
        options.note(note)
