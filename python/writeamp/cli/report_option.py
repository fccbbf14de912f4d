"""Option `--report` of every verb that prints JSON: a page on the result.

The verb hands its document over where it prints (`options.for_report`), and the page is written
when the verb has ended well.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from writeamp._engine import __version__
from writeamp.errors import WriteampError
from writeamp.files.output import check_distinct, check_target, replacing

_FLAG = "--report"
_SUFFIX = ".html"
_HELP = (
    "Write the result as a page (.html), which opens without a network; the verb `writeamp report` "
    "reads it back."
)


@dataclass
class _Handed:
    """Document that the running verb has handed over, and what is drawn beside it."""

    document: Callable[[], Any] | None = None
    beside: Callable[[], dict[str, Any]] = dict


_handed: ContextVar[_Handed | None] = ContextVar("handed", default=None)


def for_report(
    document: Callable[[], Any], beside: Callable[[], dict[str, Any]] | None = None
) -> None:
    """Hand over what a page is made of, in case one is asked for.

    Args:
        document: returns what `--json` prints.
        beside: returns what is drawn beside it, as `AnyResult.beside` does.
    """
    handed = _handed.get()
    if handed is not None:
        handed.document = document
        handed.beside = beside or dict


def with_report(body: Callable[..., None]) -> Callable[..., None]:
    """Return a verb with the option, if it prints JSON; `without_report` marks those without."""
    signature = inspect.signature(body, eval_str=True)
    if "json" not in signature.parameters or getattr(body, _UNREPORTED, False):
        return body

    @wraps(body)
    def command(
        *positional: Any, _context: typer.Context, report: Path | None = None, **given: Any
    ) -> None:
        if report is None:
            body(*positional, **given)
            return
        _check(report, [*positional, *given.values()])
        with _writing(report, _verb(_context)):
            body(*positional, **given)

    option = typer.Option(_FLAG, help=_HELP, metavar="FILE", show_default=False)
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        one if one.kind is not keyword else one.replace(kind=keyword)
        for one in signature.parameters.values()
    ]
    parameters += [
        inspect.Parameter(
            "report", keyword, default=None, annotation=Annotated[Path | None, option]
        ),
        inspect.Parameter("_context", keyword, annotation=typer.Context),
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


_UNREPORTED = "__unreported__"


def without_report(body: Callable[..., None]) -> Callable[..., None]:
    """Mark a verb that prints JSON and finds nothing of its own, so that it has no option."""
    setattr(body, _UNREPORTED, True)
    return body


def _check(report: Path, given: Iterable[Any]) -> None:
    """Refuse a page of another kind, or onto an input or another output."""
    if report.suffix.lower() != _SUFFIX:
        raise WriteampError(f"{_FLAG} writes a page; {str(report)!r} must end in {_SUFFIX}")
    paths = [
        path
        for one in given
        for path in (one if isinstance(one, list | tuple) else [one])
        if isinstance(path, Path)
    ]
    inputs = [path for path in paths if path.exists()]
    check_target(report, "report", inputs=inputs)
    for path in paths:
        check_distinct([path, report])


@contextmanager
def _writing(path: Path, verb: str) -> Iterator[None]:
    """Write the page after a verb that ends well, or with a status that it has earned."""
    token = _handed.set(_Handed())
    try:
        try:
            yield
        except (typer.Exit, BrokenPipeError):
            _write(path, verb)
            raise
        _write(path, verb)
    finally:
        _handed.reset(token)


def _write(path: Path, verb: str) -> None:
    from writeamp.reports.embedding import without_serials  # noqa: PLC0415 (slow)
    from writeamp.reports.html import report_page  # noqa: PLC0415 (slow)
    from writeamp.reports.report import Report  # noqa: PLC0415

    handed = _handed.get()
    if handed is None or handed.document is None:
        return
    found = Report(verb, _command(), handed.document(), handed.beside(), __version__)
    page = report_page(without_serials(found))
    with replacing(path, "report") as file:
        file.write(page)


def _command() -> tuple[str, ...]:
    """Return the arguments of this command without the option and its value."""
    given = sys.argv[1:]
    # What follows is of another command.
    ours = given.index("--") if "--" in given else len(given)
    for at, one in enumerate(given[:ours]):
        if one == _FLAG:
            return (*given[:at], *given[at + 2 :])
        if one.startswith(f"{_FLAG}="):
            return (*given[:at], *given[at + 1 :])
    return tuple(given)


def _verb(context: typer.Context) -> str:
    """Return the words after the name of the program."""
    names = []
    one: Any = context
    while one is not None and one.parent is not None:
        names.append(str(one.info_name))
        one = one.parent
    return " ".join(reversed(names))
