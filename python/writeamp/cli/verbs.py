"""Subcommands, found by entry points; the module of each is imported when it is called.

A package adds a subcommand by an entry point of the group `writeamp.verbs`. The entry point has the
name of the subcommand and refers to a `Verb`.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from writeamp.cli.light_typer import import_help, keep_imports, without_early_adapters
from writeamp.errors import WriteampError
from writeamp.extensions import Extension, extensions
from writeamp.text import printable


class HelpPanel(StrEnum):
    """Headings in the help under which subcommands are listed, in order."""

    START = "Start here"
    SIMULATE = "Simulate"
    VIRTUAL = "Virtual drive"
    REAL = "Real drives"
    LEARN = "Learn"
    PAPERS = "Papers and files"


class Verb(NamedTuple):
    """Verb: a subcommand of `writeamp`.

    Attributes:
        module: module whose `register` function adds the subcommand to a Typer application.
        summary: first paragraph of the help; a group adds its own help.
        panel: panel of the help: one of `HelpPanel`, or a new one.
    """

    module: str
    summary: str
    panel: str


# Replaces the subcommand `reproduce` if the package writeamp-papers is not installed.
REPRODUCE = Verb(
    "writeamp.cli.papers_missing",
    "Compute and compare a paper's values; exit with status 1 on new or changed differences.",
    HelpPanel.PAPERS,
)


@cache
def verbs() -> dict[str, Verb]:
    """Return all subcommands by name, in the order of the help.

    Raises:
        WriteampError: writeamp is on Python's path but not installed.
    """
    entries = extensions("writeamp.verbs")
    if not any(entry.is_ours for entry in entries.values()):
        raise WriteampError(
            "writeamp is on Python's path but not installed; run `make` in its folder"
        )
    installed = {name: _loaded(entry) for name, entry in entries.items()}
    panels = {str(panel): place for place, panel in enumerate(HelpPanel)}
    all_verbs = ({"reproduce": REPRODUCE} | installed).items()
    return dict(
        sorted(all_verbs, key=lambda item: (panels.get(item[1].panel, len(panels)), item[0]))
    )


def _loaded(entry: Extension) -> Verb:
    """Return the subcommand of an entry point; if loading fails, its summary has the reason."""
    try:
        verb = entry.load()
        if not isinstance(verb, Verb) or not all(isinstance(text, str) for text in verb):
            raise entry.fault(f"it is not a {__name__}.Verb of three texts")
    except WriteampError as error:
        return Verb("", str(error), HelpPanel.PAPERS)
    return verb


class Verbs(TyperGroup):
    """Group of subcommands; until a subcommand is called, it has only a summary."""

    def __init__(self, **how: Any) -> None:
        """Add the names of all verbs."""
        super().__init__(**how)
        for name, verb in verbs().items():
            summary, panel = _shown(verb)
            self.add_command(TyperCommand(name, help=summary, rich_help_panel=panel))

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the root options."""
        return without_early_adapters(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        import_help()
        super().format_help(ctx, formatter)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the called subcommand with its options, and the arguments after it."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else load(name), rest


def _shown(verb: Verb) -> tuple[str, str]:
    """Return summary and panel of a subcommand; texts from other packages are escaped."""
    if verb.module.startswith(("writeamp.", "writeamp_papers.")):
        return verb.summary, verb.panel
    from rich.markup import escape  # noqa: PLC0415 (slow)

    return escape(printable(verb.summary)), escape(printable(verb.panel))


@cache
def load(name: str) -> Any:
    """Return a subcommand with its options, or a group of commands."""
    verb = verbs()[name]
    if not verb.module:
        raise WriteampError(verb.summary)
    from writeamp.cli.application import App  # noqa: PLC0415 (slow; not needed for the list)

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
        # The group's own help is printed after the summary.
        command.help = "\n\n".join(filter(None, (verb.summary, command.help)))
    keep_imports()
    return command
