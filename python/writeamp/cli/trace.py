"""`writeamp trace`: description, conversion, recording and download of block traces."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from writeamp import traces
from writeamp.cli import options
from writeamp.cli.application import App
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.cli.report_option import without_report
from writeamp.cli.setting_options import with_settings
from writeamp.cli.trace_fetch import fetch, list_traces
from writeamp.cli.trace_record import record
from writeamp.traces.settings import ConversionSettings, ReadSettings

# Minimum number of blocks of the drive in the suggested command. With fewer blocks, rounding to
# whole blocks changes op too much.
_FEWEST_BLOCKS = 64
_USUAL_PAGES_PER_BLOCK, _FEWEST_PAGES_PER_BLOCK = 128, 2

TraceFile = Annotated[
    Path, typer.Argument(help="Trace file, or - for standard input.", show_default=False)
]


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    verbs = App(no_args_is_help=True)
    verbs.command("info")(with_settings(info))
    verbs.command("convert")(without_report(with_settings(convert)))
    verbs.command("record")(with_settings(record))
    verbs.command("list")(list_traces)
    verbs.command("fetch")(with_settings(fetch))
    app.add_typer(verbs, name="trace")


def info(
    file: TraceFile,
    settings: ReadSettings,
    *,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Describe a trace: requests, bytes, footprint, duration, skew of its writes.

    Example: writeamp trace info examples/postgres-tpcb.parquet
    """
    with Bar("reading"):
        trace = traces.read(file, settings.trace_format, action=settings.action, origins=True)
        document = {} if csv else traces.info(trace)
    for warning in trace.warnings:
        options.warn(warning)
    for note in trace.notes:
        options.note(note)
    options.show(lambda: document, trace.card, frame=trace.to_frame, json=json, csv=csv)
    if json or csv:
        return
    command = _next_command(file, settings, document["pages_written"])
    if command is not None:
        # The command is printed in one long line, so that it can be copied.
        stdout.print(f"next: {command}", highlight=False, soft_wrap=True)


def _next_command(file: Path, settings: ReadSettings, pages_written: int) -> str | None:
    """Return a command that simulates the trace, or None if the trace writes too few pages."""
    if pages_written < _FEWEST_BLOCKS * _FEWEST_PAGES_PER_BLOCK:
        return None
    options: dict[str, Any] = {
        "--trace": file,
        "--format": settings.trace_format,
        "--action": settings.action,
        "--op": "0.1",
        "--pages-per-block": _pages_per_block(pages_written),
    }
    words = (str(word) for pair in options.items() if pair[1] is not None for word in pair)
    return shlex.join(["writeamp", "simulate", *words])


def _pages_per_block(pages: int) -> int | None:
    """Return the pages per block for a drive of this many pages, or None for the default of 128.

    Small drives get a smaller power of two, so that they have at least 64 blocks.
    """
    pages_per_block = _USUAL_PAGES_PER_BLOCK
    while pages_per_block > _FEWEST_PAGES_PER_BLOCK and pages < _FEWEST_BLOCKS * pages_per_block:
        pages_per_block //= 2
    return None if pages_per_block == _USUAL_PAGES_PER_BLOCK else pages_per_block


def convert(
    file: TraceFile,
    out: Annotated[Path, typer.Argument(help="File to write.", show_default=False)],
    settings: ConversionSettings,
    *,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace OUT if it exists (never the file that is read)."),
    ] = False,
    json: options.Json = False,
) -> None:
    """Write a trace in another format.

    Example: writeamp trace convert hm_0.csv hm_0.parquet --from msr
    """
    from writeamp.traces.writing import check_target  # noqa: PLC0415 (slow)

    check_target(out, settings.target, source=file, replace=force)
    with Bar("converting"):
        trace = traces.read(file, settings.source, action=settings.action, origins=True)
        notes = [*trace.notes, *traces.write(trace, out, settings.target, replace=force)]
    for warning in trace.warnings:
        options.warn(warning)
    for note in notes:
        options.note(note)
    if json:
        summary = {"path": str(out), "requests": trace.requests.height}
        options.print_json(summary | {"warnings": trace.warnings, "notes": notes})
