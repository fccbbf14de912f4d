"""`writeamp diff`: what two results of one verb have set and found differently."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.results.numbers import four_digits

if TYPE_CHECKING:
    from writeamp.differences.difference import Difference, NumberPair


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
    """Tell what two results of one verb have set and found differently, and what noise explains.

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
    if found.settings:
        stdout.print(_settings_table(found))
    else:
        stdout.print("No setting differs.")
    for title, pairs in _tables(found):
        if pairs:
            stdout.print(_numbers_table(title, pairs))
    if not found.numbers:
        stdout.print(f"No number differs, of {found.equal}.")
    for key, which in found.only:
        stdout.print(f"only in {which.upper()}: {key}")
    for note in found.notes:
        options.note(note)


def _tables(found: Difference) -> list[tuple[str, list[NumberPair]]]:
    """Return tables of the differences: WA and its causes first, then mere lengths of the runs."""
    counts = [one for one in found.numbers if one.kind == "length of the run"]
    return [
        ("found", [one for one in found.numbers if one not in counts]),
        ("per host page", list(found.per_host_page)),
        ("length of the run", counts),
    ]


def _settings_table(found: Difference) -> Table:
    rows = ((one.key, _shown(one.a), _shown(one.b)) for one in found.settings)
    return options.bare_table(("set differently", "A", "B"), rows)


def _numbers_table(title: str, pairs: list[NumberPair]) -> Table:
    rows = (
        (
            one.key,
            _with_bounds(one.a, one.a_ci95),
            _with_bounds(one.b, one.b_ci95),
            _change(one),
            "" if one.verdict == "no interval" else one.verdict,
        )
        for one in pairs
    )
    return options.bare_table((title, "A", "B", "B − A", ""), rows)


def _change(one: NumberPair) -> str:
    shown = _with_bounds(one.difference, one.difference_ci95)
    return f"{shown} ({one.difference / one.a:+.2%})" if one.a else shown


def _with_bounds(value: float, bounds: tuple[float, float] | None) -> str:
    text = four_digits(value)
    if bounds is None:
        return text
    return f"{text} [{four_digits(bounds[0])}, {four_digits(bounds[1])}]"


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return four_digits(value)
    return "–" if value is None else str(value)
