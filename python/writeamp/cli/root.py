"""Root of the command line: options before the subcommand, and the list of subcommands."""

from __future__ import annotations

import typer

from writeamp.cli.boundary import print_version
from writeamp.cli.cite_option import Cite
from writeamp.cli.verbs import Verbs
from writeamp.errors import WriteampError

_HELP = """Predict, simulate, measure and explain the write amplification (WA) of flash SSDs.

Warnings, and at most three notes, go to stderr; --verbose prints all notes.

Example: writeamp answer --workload zipf:s=0.99 --op 0.1
"""

app = typer.Typer(
    name="writeamp",
    cls=Verbs,
    help=_HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print_version()
        raise typer.Exit


@app.callback()
def _root(
    _version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
    cite: Cite = False,
) -> None:
    """Read the options that precede the subcommand."""


def run() -> int | None:
    """Run the command line; return its exit status, or None if it sets none.

    Raises:
        WriteampError: options or arguments are invalid. Its text is empty if a subcommand without
            arguments has printed its help.
    """
    try:
        # `python -m writeamp` would otherwise install completion for a program of that name.
        status: int | None = app(prog_name="writeamp", standalone_mode=False)
    except typer.TyperException as error:
        sentence = " ".join(error.format_message().split())  # may have several lines
        if sentence.startswith("Missing option"):
            from writeamp.cli.application import example_of  # noqa: PLC0415 (slow)

            sentence += example_of(getattr(error, "ctx", None))
        raise WriteampError(sentence) from error
    return status
