"""`writeamp examples`: copies of the shipped traces, fio jobs and notebooks."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Annotated

import typer

from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.cli.report_option import without_report
from writeamp.cli.terminal import LEAST_COLUMNS
from writeamp.files.examples import copy_examples


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command("examples")(without_report(examples))


def examples(
    *,
    folder: Annotated[
        Path,
        typer.Argument(
            help="Folder of the copies; by default `examples` in this folder.",
            metavar="[DIR]",
            show_default=False,
        ),
    ] = Path("examples"),
    json: options.Json = False,
) -> None:
    """Copy the shipped traces, fio jobs, notebooks and scripts to a folder.

    Pages and the help name these files. Files that exist and differ are never replaced.

    Example: writeamp examples
    """
    copied = copy_examples(folder)
    if json:
        files = [
            {"path": str(example.path), "summary": example.summary, "written": example.is_new}
            for example in copied
        ]
        options.print_json({"folder": str(folder), "files": files})
        return
    new = [example for example in copied if example.is_new]
    there = len(copied) - len(new)
    beside = f"; {there} were there already" if there else ""
    stdout.print(f"{len(new)} files were written to {folder}{beside}.", soft_wrap=True)
    for example in copied:
        room = max(stdout.width - len(f"{example.path}: "), LEAST_COLUMNS)
        summary = textwrap.shorten(example.summary, room, placeholder=" …")
        stdout.print(f"{example.path}: {summary}", soft_wrap=True)
