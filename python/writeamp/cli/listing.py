"""`writeamp list`: the registered names, one line each."""

from __future__ import annotations

import textwrap
from typing import Annotated

import typer

from writeamp.cli import options
from writeamp.cli.report_option import without_report
from writeamp.cli.terminal import LEAST_COLUMNS
from writeamp.listing import KINDS, Row, listed


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command("list")(without_report(list_entries))


def list_entries(
    *,
    kind: Annotated[
        str | None,
        typer.Argument(
            help=f"Kind to list: {', '.join(KINDS)}; all kinds by default.", metavar="[KIND]"
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """List all block managers, victim policies, workloads, models, trace formats, devices….

    If KIND is given, the list has only that kind, and also the parameters of each entry.

    Example: writeamp list victims
    """
    chosen = listed(kind)
    if json:
        options.print_json({name: [_plain(row) for row in rows] for name, rows in chosen.items()})
        return
    for name, rows in chosen.items():
        print(f"{name}:")
        width = max(len(row["name"]) for row in rows)
        for row in rows:
            _print_hanging(f"  {row['name']:<{width}}  ", row["summary"])
            for line in _details(row, at_length=kind is not None):
                _print_hanging(" " * (width + 6), line)


def _print_hanging(beginning: str, text: str) -> None:
    """Print a text after its first column; further lines are indented to the same column."""
    columns = max(options.stdout.width, LEAST_COLUMNS)
    behind = " " * (len(beginning) + 2)
    lines = textwrap.wrap(
        text,
        columns,
        initial_indent=beginning,
        subsequent_indent=behind,
        break_long_words=False,
        break_on_hyphens=False,
    )
    print("\n".join(lines))


def _plain(row: Row) -> Row:
    return row | {"parameters": "; ".join(row["parameters"])}


def _details(row: Row, *, at_length: bool) -> list[str]:
    """Return the lines below an entry.

    With `at_length`, these are its parameters and an example. Otherwise, an entry with required
    parameters has its example, and other entries have no line.
    """
    needs = None in row["defaults"].values()
    example = [f"for example {row['example']}"] if row["example"] != row["name"] else []
    if not at_length:
        return example if needs else []
    return [*row["parameters"], *example]
