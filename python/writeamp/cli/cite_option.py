"""Option `--cite` of the program, of each subcommand and of each group of subcommands."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, TypeAlias

import typer

from writeamp.cli.light_typer import verb_of


def _print_citations(context: typer.Context, is_wanted: bool) -> None:
    """Print what to cite, and end the command."""
    if is_wanted and not context.resilient_parsing:
        from writeamp.citations import cite  # noqa: PLC0415 (slow)

        print(cite(verb_of(context) or None))
        raise typer.Exit


Cite: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--cite",
        help="Print what to cite, as BibTeX: writeamp and the papers behind this command.",
        callback=_print_citations,
        is_eager=True,
    ),
]


def with_cite(body: Callable[..., None]) -> Callable[..., None]:
    """Return a subcommand with the option; its function does not receive it."""
    keyword = inspect.Parameter.KEYWORD_ONLY

    @wraps(body)
    def command(*positional: Any, cite: bool = False, **arguments: Any) -> None:
        body(*positional, **arguments)

    parameters = [
        *inspect.signature(body).parameters.values(),
        inspect.Parameter("cite", keyword, default=False, annotation=Cite),
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def group_with_cite() -> Callable[..., None]:
    """Return the function of a group with this option; it has no docstring, which help prints."""

    def group(cite: Cite = False) -> None:
        pass

    return group
