"""Notes of a command on stderr: at most three without `--verbose`, and all with it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any

import typer

from writeamp.cli import boundary
from writeamp.text import Caution, Detail

MOST_NOTES = 3
_HELP = (
    f"Print all notes. By default a command prints the first {MOST_NOTES}, without those that "
    "every run would print."
)


@dataclass
class _Notes:
    """Numbers of notes of the running command that were printed, and that were left out."""

    is_verbose: bool
    printed: int = 0
    left_out: int = 0


_notes: ContextVar[_Notes | None] = ContextVar("notes", default=None)


def note(sentence: str) -> None:
    """Print a note on stderr: an assumption, omission or rounding.

    Without `--verbose`, the first three notes are printed and later ones counted; a `Detail` is
    left out. So callers pass important notes first. A `Caution` is printed as a warning, always.
    """
    if isinstance(sentence, Caution):
        boundary.say(f"warning: {sentence}")
        return
    notes = _notes.get()
    if notes is not None and not notes.is_verbose:
        if isinstance(sentence, Detail):
            return
        if notes.printed == MOST_NOTES:
            notes.left_out += 1
            return
        notes.printed += 1
    boundary.say(f"note: {sentence}")


def with_verbose(body: Callable[..., None]) -> Callable[..., None]:
    """Return a subcommand with an option `--verbose`; by default it prints at most three notes."""
    signature = inspect.signature(body, eval_str=True)

    @wraps(body)
    def command(*positional: Any, verbose: bool = False, **arguments: Any) -> None:
        with _limited(is_verbose=verbose):
            body(*positional, **arguments)

    keyword = inspect.Parameter.KEYWORD_ONLY
    option = typer.Option("--verbose", help=_HELP)
    parameters = [
        *signature.parameters.values(),
        inspect.Parameter("verbose", keyword, default=False, annotation=Annotated[bool, option]),
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


@contextmanager
def _limited(*, is_verbose: bool) -> Iterator[None]:
    """Limit the notes of a command; at its end, print how many were left out."""
    notes = _Notes(is_verbose)
    token = _notes.set(notes)
    try:
        yield
    finally:
        _notes.reset(token)
        if notes.left_out:
            more = "1 more note" if notes.left_out == 1 else f"{notes.left_out} more notes"
            boundary.say(f"note: {more}: --verbose")
