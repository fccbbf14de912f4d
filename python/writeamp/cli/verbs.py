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
from writeamp.extensions import Extension, extensions
from writeamp.text import printable


class HelpPanel(StrEnum):
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
        module: its `register` function adds the verb to a Typer application.
        summary: first paragraph of its help; the help of a group follows it.
        panel: panel of the help, one of `HelpPanel` or a new one.
    """

    module: str
    summary: str
    panel: str


# Stands for the verb of the papers where they are not installed.
REPRODUCE = Verb(
    "writeamp.cli.papers_missing",
    "Compute a paper's published values; exit with status 1 on unexplained differences.",
    HelpPanel.PAPERS,
)


@cache
def verbs() -> dict[str, Verb]:
    """Return all verbs by name, in the order of the help.

    Raises:
        WriteampError: writeamp is on Python's path without being installed.
    """
    entries = extensions("writeamp.verbs")
    if not any(one.is_ours for one in entries.values()):
        raise WriteampError("writeamp is not installed, only on Python's path; run `make` there")
    found = {name: _loaded(one) for name, one in entries.items()}
    panels = {str(panel): place for place, panel in enumerate(HelpPanel)}
    everything = ({"reproduce": REPRODUCE} | found).items()
    return dict(sorted(everything, key=lambda one: (panels.get(one[1].panel, len(panels)), one[0])))


def _loaded(entry: Extension) -> Verb:
    """Return the verb of an entry point, or one whose summary is the reason why it is unusable."""
    try:
        verb = entry.load()
        if not isinstance(verb, Verb) or not all(isinstance(one, str) for one in verb):
            raise entry.fault(f"it is not a {__name__}.Verb of three texts")
    except WriteampError as error:
        return Verb("", str(error), HelpPanel.PAPERS)
    return verb


class Verbs(TyperGroup):
    """A group whose commands are summaries until one of them is called."""

    def __init__(self, **how: Any) -> None:
        """Name all verbs."""
        super().__init__(**how)
        for name, verb in verbs().items():
            summary, panel = _shown(verb)
            self.add_command(TyperCommand(name, help=summary, rich_help_panel=panel))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb that is called, with its options, and the arguments that follow it."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else load(name), rest


def _shown(verb: Verb) -> tuple[str, str]:
    """Return the summary and the panel of a verb, those of other packages made harmless."""
    if verb.module.startswith(("writeamp.", "writeamp_papers.")):
        return verb.summary, verb.panel
    from rich.markup import escape  # noqa: PLC0415 (slow)

    return escape(printable(verb.summary)), escape(printable(verb.panel))


@cache
def load(name: str) -> Any:
    """Return a verb with its options, or a group of verbs."""
    verb = verbs()[name]
    if not verb.module:
        raise WriteampError(verb.summary)
    from writeamp.cli.application import App  # noqa: PLC0415 (slow, and the list needs it not)

    app = App()
    entry = extensions("writeamp.verbs").get(name)
    try:
        import_module(verb.module).register(app)
        command = get_group(app).commands[name]
    except (Exception, SystemExit) as error:
        if entry is None or entry.is_ours:
            raise
        raise entry.fault(f"{verb.module} registers no verb {name} ({error!r})") from error
    if isinstance(command, TyperGroup):
        # The group's own help is what follows the summary.
        command.help = "\n\n".join(filter(None, (verb.summary, command.help)))
    return command
