"""Option `--report` of subcommands that print JSON: write the result as an HTML page.

The subcommand registers its document with `for_report`. If it succeeds, the page is then written.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from writeamp._engine import __version__
from writeamp.cli.light_typer import verb_of
from writeamp.errors import WriteampError
from writeamp.files.output import check_distinct, check_target, replacing

if TYPE_CHECKING:
    from writeamp.plots.spec import FigureSpec
    from writeamp.results.card import Card

_FLAG = "--report"
_SUFFIX = ".html"
_HELP = (
    "Also write the result to this page (.html), which works offline. `writeamp report` reads it."
)


@dataclass
class _Registered:
    """Functions that return the JSON document, the terminal's tables, and data to draw."""

    document: Callable[[], Any] | None = None
    card: Callable[[], Card] | None = None
    beside: Callable[[], dict[str, Any]] = dict
    picture: Callable[[], FigureSpec] | None = None


_registered: ContextVar[_Registered | None] = ContextVar("registered", default=None)


def for_report(
    document: Callable[[], Any],
    card: Callable[[], Card] | None = None,
    beside: Callable[[], dict[str, Any]] | None = None,
    figure: Callable[[], FigureSpec] | None = None,
) -> None:
    """Register the content of a page; without `--report` this has no effect.

    Args:
        document: returns the document that `--json` prints.
        card: returns the tables that the terminal prints.
        beside: returns the data that the page draws and the document does not have, as
            `AnyResult.beside`.
        figure: returns the picture of the result, which a page without other drawings shows.
    """
    registered = _registered.get()
    if registered is not None:
        registered.document = document
        registered.card = card
        registered.beside = beside or dict
        registered.picture = figure


def is_reported() -> bool:
    """Return whether a page of this command's result is written."""
    return _registered.get() is not None


def with_report(body: Callable[..., None]) -> Callable[..., None]:
    """Return a subcommand with an option `--report`.

    A subcommand that has no `--json`, or is marked by `without_report`, is returned unchanged.
    """
    signature = inspect.signature(body, eval_str=True)
    if "json" not in signature.parameters or getattr(body, _UNREPORTED, False):
        return body

    @wraps(body)
    def command(
        *positional: Any, _context: typer.Context, report: Path | None = None, **arguments: Any
    ) -> None:
        if report is None:
            body(*positional, **arguments)
            return
        _check(report, [*positional, *arguments.values()])
        with _writing(report, verb_of(_context)):
            body(*positional, **arguments)

    option = typer.Option(_FLAG, help=_HELP, metavar="FILE", show_default=False)
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        parameter if parameter.kind is not keyword else parameter.replace(kind=keyword)
        for parameter in signature.parameters.values()
    ]
    parameters += [
        inspect.Parameter(
            "report", keyword, default=None, annotation=Annotated[Path | None, option]
        ),
        inspect.Parameter("_context", keyword, annotation=typer.Context),
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


_UNREPORTED = "__unreported__"


def without_report(body: Callable[..., None]) -> Callable[..., None]:
    """Mark a subcommand that has no result for a page, so that it does not get `--report`."""
    setattr(body, _UNREPORTED, True)
    return body


def _check(report: Path, arguments: Iterable[Any]) -> None:
    """Reject a page path with a wrong suffix, or that is an input or another output."""
    if report.suffix.lower() != _SUFFIX:
        raise WriteampError(f"{_FLAG} is {str(report)!r}; the page must end in {_SUFFIX}")
    paths = [
        path
        for argument in arguments
        for path in (argument if isinstance(argument, list | tuple) else [argument])
        if isinstance(path, Path)
    ]
    inputs = [path for path in paths if path.exists()]
    check_target(report, "report", inputs=inputs)
    for path in paths:
        check_distinct([path, report])


@contextmanager
def _writing(path: Path, verb: str) -> Iterator[None]:
    """Write the page after the subcommand, also if the subcommand sets an exit status.

    The page is also written if the reader of the output has closed the pipe. It is not written
    after an error.
    """
    token = _registered.set(_Registered())
    try:
        try:
            yield
        except (typer.Exit, BrokenPipeError):
            _write(path, verb)
            raise
        _write(path, verb)
    finally:
        _registered.reset(token)


def _write(path: Path, verb: str) -> None:
    from writeamp.reports.embedding import without_serials  # noqa: PLC0415 (slow)
    from writeamp.reports.html import report_page  # noqa: PLC0415 (slow)
    from writeamp.reports.report import Report  # noqa: PLC0415
    from writeamp.reports.sections.tables import tables_of  # noqa: PLC0415

    registered = _registered.get()
    if registered is None or registered.document is None:
        return
    tables = {} if registered.card is None else tables_of(registered.card())
    more = registered.beside() | tables
    figure = None
    if registered.picture is not None:
        # A result without data for a picture has a page, too.
        with suppress(WriteampError):
            figure = registered.picture()
    content = Report(verb, _command(), registered.document(), more, __version__, figure)
    page = report_page(without_serials(content))
    with replacing(path, "report") as file:
        file.write(page)


def _command() -> tuple[str, ...]:
    """Return the arguments of this command, without `--report` and its value."""
    words = sys.argv[1:]
    # Words after "--" are the arguments of another command, so they are not searched.
    ours = words.index("--") if "--" in words else len(words)
    for at, word in enumerate(words[:ours]):
        if word == _FLAG:
            return (*words[:at], *words[at + 2 :])
        if word.startswith(f"{_FLAG}="):
            return (*words[:at], *words[at + 1 :])
    return tuple(words)
