"""`writeamp trace list` and `writeamp trace fetch`: public traces and their downloads."""

from __future__ import annotations

from typing import Annotated

import typer

from writeamp import traces
from writeamp.cli import boundary, options
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.traces.settings import FetchSettings


def list_traces(*, json: options.Json = False) -> None:
    """List public traces: format, size, licence, and whether the cache has them. No network.

    Example: writeamp trace list
    """
    catalogue = traces.catalogue()
    options.show(catalogue.to_dict, catalogue.card, json=json)


def _names(incomplete: str) -> list[str]:
    """Complete the name of a trace in a shell; the catalogue is read only then."""
    return options.completer([trace.name for trace in traces.catalogue().traces])(incomplete)


def fetch(
    name: Annotated[
        str,
        typer.Argument(
            help="Name of a trace in `writeamp trace list`.",
            autocompletion=_names,
            show_default=False,
        ),
    ],
    settings: FetchSettings,
    *,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Download again, and accept another content than the first time."
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """Download a public trace into the cache, and print the command that simulates it.

    An interrupted download continues when the same command runs again. A file that is already
    there is checked. The first download of a trace without a known checksum records one.

    Example: writeamp trace fetch umass-financial1
    """
    try:
        with Bar("fetching", _progress_in_words) as bar:
            result = traces.fetch(name, settings.to, force=force, progress=bar.update)
    except KeyboardInterrupt as stopped:
        raise boundary.PartlyDone(str(stopped)) from None
    for warning in result.warnings:
        options.warn(warning)
    for note in result.notes:
        options.note(note)
    options.show(result.to_dict, result.card, json=json)
    if not json:
        # The command is printed in one long line, so that it can be copied.
        stdout.print(f"next: {result.command}", highlight=False, soft_wrap=True)


def _progress_in_words(done_bytes: int, expected_bytes: int) -> str:
    of_all = f" of {expected_bytes / 2**20:,.0f}" if expected_bytes else ""
    return f"{done_bytes / 2**20:,.0f}{of_all} MiB"
