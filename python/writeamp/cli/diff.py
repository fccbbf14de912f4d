"""`writeamp diff`: what two results of one verb have set and found differently."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar

if TYPE_CHECKING:
    from writeamp.differences.difference import Difference


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("diff")(diff)


def diff(
    a: Annotated[
        Path,
        typer.Argument(
            help="A result, as --json or --report of a verb wrote it.", show_default=False
        ),
    ],
    b: Annotated[Path, typer.Argument(help="Another of the same verb.", show_default=False)],
    *,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Compare two results of one verb: settings and numbers that differ, and which are noise.

    `writeamp measure diff` takes two snapshots of a drive's counters instead.

    Example: writeamp diff a.json b.json --report before-and-after.html
    """
    from writeamp.differences.difference import diff as difference  # noqa: PLC0415 (slow)

    with Bar("comparing"):
        found = difference(a, b)
    if options.printed_json(found.to_dict, json=json):
        return
    if csv:
        options.print_csv(found.to_frame())
    else:
        _show(found)


def _show(found: Difference) -> None:
    if not found.settings:
        stdout.print("No setting differs.")
    for part in found.card().parts:
        options.print_part(part)
    if not found.numbers:
        stdout.print(f"No number differs, of {found.equal}.")
    for key, which in found.only:
        stdout.print(f"only in {which.upper()}: {key}")
    for note in found.notes:
        options.note(note)
