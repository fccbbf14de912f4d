"""Options and output that several verbs share."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from glob import escape, glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeAlias, TypeVar

import typer
from rich.table import Table
from rich.text import Text

from writeamp import custom
from writeamp.cli import boundary
from writeamp.cli.notes import note as note  # noqa: PLC0414 (also from here)
from writeamp.cli.report_option import for_report
from writeamp.cli.terminal import Terminal
from writeamp.errors import Interrupted, WriteampError
from writeamp.fields.domains import ratio_of, shown
from writeamp.registry.entries import EngineKind
from writeamp.results.frames import csv_of
from writeamp.text import printable

if TYPE_CHECKING:
    import polars as pl

    from writeamp.results.card import Card

_T = TypeVar("_T")

# So many errors of a study are quoted.
MOST_ERRORS = 5

CAPACITY = "Drive (one size, one ratio; by default 8192 blocks of 128 pages, op 0.28)"


def count(text: str) -> int:
    """Parse a whole number, also written 1e6 or 1_000_000."""
    try:
        return int(_ascii(text))
    except ValueError:
        pass
    try:
        value = float(_ascii(text))
    except ValueError:
        value = float("nan")
    if not value.is_integer():
        raise typer.BadParameter(f"{shown(text)} is not a whole number (1000000 and 1e6 are)")
    return int(value)


def _ascii(text: str) -> str:
    """Return a text without the digits of other alphabets, which Python would read.

    Defaults come as the numbers that they are.
    """
    if isinstance(text, str) and not text.isascii():
        raise ValueError(text)
    return text


def number(text: str) -> float:
    """Parse a number."""
    try:
        return float(_ascii(text))
    except ValueError:
        raise typer.BadParameter(f"{shown(text)} is not a number") from None


def _is_not_finite(text: str) -> bool:
    """Return whether a text is one of the numbers that every domain refuses in its own words."""
    return text.lower().lstrip("+-") in {"nan", "inf", "infinity"}


def ratio(text: str) -> float:
    """Parse a ratio, as a number or in per cent."""
    found = ratio_of(text)
    if math.isnan(found) and not _is_not_finite(text):
        raise typer.BadParameter(
            f"{shown(text)} is not a number such as 0.15, or per cent without a space, such as 15%"
        )
    return found


def completer(names: Sequence[str]) -> Callable[[str], list[str]]:
    """Return a shell completer of a few words."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def policy_completer(kind: EngineKind, examples: Sequence[str]) -> Callable[[str], list[str]]:
    """Return a shell completer of policies: built-in or installed ones, files, their classes."""

    def complete(incomplete: str) -> list[str]:
        file, is_class, _ = incomplete.rpartition(":")
        if is_class and file.endswith(".py"):
            names = [f"{file}:{name}" for name in custom.classes_in(file)]
        else:
            installed = [
                name for of in custom.KINDS if of == kind for name in custom.known_names(of)
            ]
            names = [*examples, *installed, *(_files(incomplete) if incomplete else [])]
        return [name for name in names if name.startswith(incomplete)]

    return complete


def _files(incomplete: str) -> list[str]:
    """Return folders and files of Python that a path may go on with."""
    try:
        found = sorted(glob(f"{escape(incomplete)}*"))
    except (OSError, ValueError):
        return []
    return [
        f"{path}/" if os.path.isdir(path) else f"{path}:"
        for path in found
        if os.path.isdir(path) or path.endswith(".py")
    ]


def _one_form(context: typer.Context, parameter: typer.CallbackParam, is_asked: bool) -> bool:
    """Refuse a second form of what is printed, before anything runs."""
    if is_asked:
        forms = context.meta.setdefault("writeamp.forms", [])
        forms.append(parameter.opts[0])
        if len(forms) > 1:
            raise WriteampError(f"{' and '.join(forms)} are two forms of one result; give only one")
    return is_asked


Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON document.", callback=_one_form)
]
Csv: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--csv",
        help="Print a table as CSV, whose columns are the keys of --json joined by _.",
        callback=_one_form,
    ),
]


# A folder in which the runs of a study are kept.
Keep: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--keep",
        help="Keep each finished run in this folder; a second call runs only what is missing.",
        metavar="DIR",
    ),
]


stdout = Terminal()
stderr = Terminal(stderr=True)


def print_json(document: Any) -> None:
    """Print one JSON document; numbers keep full double precision."""
    # Whole or not at all: a value that JSON cannot hold must not leave half a document.
    sys.stdout.write(json.dumps(document, allow_nan=False) + "\n")


def printed_json(
    document: Callable[[], Any],
    beside: Callable[[], dict[str, Any]] | None = None,
    *,
    json: bool,
) -> bool:
    """Hand a document over for a report, and print it if that is asked; return whether it was.

    Args:
        document: returns it.
        beside: returns what a report draws beside it.
        json: whether to print it.
    """
    for_report(document, beside)
    if json:
        print_json(document())
    return json


def print_csv(frame: pl.DataFrame) -> None:
    """Print a table as CSV; numbers keep full double precision, and what is not known is empty."""
    sys.stdout.write(csv_of(frame))


def warn(sentence: str) -> None:
    """Say something on stderr that does not change the result."""
    boundary.say(f"warning: {sentence}")


class Tellable(Protocol):
    """Interface of the results that `tell` prints and draws."""

    @property
    def notes(self) -> Sequence[str]:
        """Sentences on what was assumed, left out or rounded."""

    @property
    def warnings(self) -> Sequence[str]:
        """Sentences that a reader should know."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON types."""

    def beside(self) -> dict[str, Any]:
        """Return what a report draws beside that."""

    def to_frame(self) -> pl.DataFrame:
        """Return it as a data frame."""

    def plot(self, path: Path) -> object:
        """Draw it to a file."""


def tell(
    found: Tellable,
    show: Callable[[], None],
    *,
    json: bool,
    csv: bool,
    plot: Path | None,
    document: Callable[[], Any] | None = None,
    frame: Callable[[], pl.DataFrame] | None = None,
) -> None:
    """Say what a reader of a result should know, print it in the form asked for, and draw it.

    Args:
        found: the result.
        show: prints it as tables.
        json: whether to print its document instead.
        csv: whether to print its frame instead.
        plot: the picture to draw, if any.
        document: what to print as JSON, if not `found.to_dict`.
        frame: what to print as CSV, if not `found.to_frame`.
    """
    for sentence in found.warnings:
        warn(sentence)
    for sentence in found.notes:
        note(sentence)
    try:
        if printed_json(document or found.to_dict, found.beside, json=json):
            return
        if csv:
            print_csv((frame or found.to_frame)())
        else:
            show()
    finally:
        # Also where the reader of a table has closed the pipe before its end.
        if plot is not None:
            found.plot(plot)


def whole_or_part(work: Callable[[], _T]) -> _T:
    """Return the result of the work, or after Ctrl-C the part that was finished by then.

    Raises:
        KeyboardInterrupt: Ctrl-C before anything was finished.
    """
    try:
        return work()
    except Interrupted as stopped:
        if stopped.finished is None:
            raise
        # The type of what was finished is that of the whole: see `Interrupted`.
        return stopped.finished  # type: ignore[no-any-return]


def heading(text: str) -> Text:
    """Return the heading of some tables."""
    return Text(printable(text), style="bold")


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Build a table; columns whose name begins with '>' are right-aligned.

    The names of the columns are ours, and may have line breaks.
    """
    made = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        is_number = column.startswith(">")
        made.add_column(
            Text(column.removeprefix(">")),
            justify="right" if is_number else "left",
            no_wrap=is_number,
            overflow="fold",
        )
    for row in rows:
        made.add_row(*row)
    return made


def print_card(card: Card, *, most_rows: int | None = None) -> None:
    """Print the tables of a card; one whose columns have no names is of names and values.

    The notes of the card itself are left to the caller, who prints those of results on stderr.

    Args:
        card: the card.
        most_rows: of a table that are printed; a line below it says how many are left out.
    """
    _print_table(card, most_rows)
    for part in card.parts:
        print_part(part, most_rows=most_rows)


def print_part(part: Card, *, most_rows: int | None = None) -> None:
    """Print a table of a card, and its notes."""
    _print_table(part, most_rows)
    for sentence in part.notes:
        stdout.print(sentence)


def _print_table(card: Card, most_rows: int | None) -> None:
    rows = card.rows[:most_rows]
    if not rows and (card.parts or not card.columns):
        stdout.print(Text(printable(card.title, keep="\n")))
    elif not card.columns:
        stdout.print(facts(rows))
    elif card.is_ruled:
        stdout.print(table(card.title, card.columns, rows))
    else:
        stdout.print(bare_table(card.columns, rows))
    if len(card.rows) > len(rows):
        stdout.print(f"{len(card.rows) - len(rows):,} more rows are in the output of --json")


def bare_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Build a table without lines; columns whose name begins with '>' are right-aligned."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(
            column.removeprefix(">"),
            justify="right" if column.startswith(">") else "left",
            overflow="fold",
        )
    for row in rows:
        made.add_row(*row)
    return made


def facts(rows: Sequence[Sequence[str]]) -> Table:
    """Build a table of names and values."""
    made = Table(show_header=False)
    made.add_column(overflow="fold")
    made.add_column(overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made
