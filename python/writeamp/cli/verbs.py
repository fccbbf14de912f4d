"""Verbs of the command: found by their entry points, and imported when they are called.

A package adds a verb by an entry point of the group `writeamp.verbs`: its name is that of the verb,
and it leads to a `Verb`.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from writeamp.errors import WriteampError
from writeamp.extensions import extensions


class Panel(StrEnum):
    """Panels of the help, in its order."""

    START = "Start here"
    SIMULATE = "Simulate"
    VIRTUAL = "Virtual drive"
    REAL = "Real drives"
    LEARN = "Learn"
    PAPERS = "Papers and files"


class Verb(NamedTuple):
    """A verb.

    Attributes:
        module: that has a function `register`, which adds the verb to a typer.
        summary: the first paragraph of its help.
        panel: of the help, one of `Panel` or a new one.
    """

    module: str
    summary: str
    panel: str


# Verbs of packages that need not be installed: the modules say so.
_ELSEWHERE = {
    "reproduce": Verb(
        "writeamp.cli.papers_missing",
        "Compute a paper's published values anew; the status is 1 if one differs unexplained.",
        Panel.PAPERS,
    ),
}


@cache
def verbs() -> dict[str, Verb]:
    """Return all verbs by name, in the order of the help."""
    found = {name: _loaded(name) for name in extensions("writeamp.verbs")}
    panels = {str(panel): place for place, panel in enumerate(Panel)}
    everything = (_ELSEWHERE | found).items()
    return dict(sorted(everything, key=lambda one: (panels.get(one[1].panel, len(panels)), one[0])))


def _loaded(name: str) -> Verb:
    entry = extensions("writeamp.verbs")[name]
    try:
        verb = entry.load()
        if not isinstance(verb, Verb):
            raise TypeError(f"it is not a {__name__}.Verb")
    except Exception as error:  # of whatever class: the other verbs are to work
        return Verb("", f"Cannot be loaded from {entry.value}: {error}", Panel.PAPERS)
    return verb


class Verbs(TyperGroup):
    """A group whose commands are summaries until one of them is called."""

    def __init__(self, **how: Any) -> None:
        """Name all verbs."""
        super().__init__(**how)
        for name, verb in verbs().items():
            self.add_command(TyperCommand(name, help=verb.summary, rich_help_panel=verb.panel))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb that is called, with its options, and the arguments that follow it."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else load(name), rest


@cache
def load(name: str) -> Any:
    """Return a verb with its options, or a group of verbs."""
    verb = verbs()[name]
    if not verb.module:
        raise WriteampError(f"{name}: {verb.summary}")
    from writeamp.cli.application import App  # noqa: PLC0415 (slow, and the list needs it not)

    app = App()
    import_module(verb.module).register(app)
    command = get_group(app).commands[name]
    if isinstance(command, TyperGroup):
        command.help = verb.summary
    return command
