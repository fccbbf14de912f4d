"""`writeamp trace`: look into block traces, and convert them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from writeamp import traces
from writeamp.cli import options
from writeamp.cli.application import App
from writeamp.cli.options import stdout
from writeamp.cli.setting_options import with_settings
from writeamp.traces.settings import ConversionSettings, ReadSettings

TraceFile = Annotated[
    Path, typer.Argument(help="The trace file, or - for standard input.", show_default=False)
]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    verbs = App(help="Look into block traces, and convert them.", no_args_is_help=True)
    verbs.command("info")(with_settings(info))
    verbs.command("convert")(with_settings(convert))
    app.add_typer(verbs, name="trace")


def info(
    file: TraceFile,
    asked: ReadSettings,
    *,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Say what a trace holds: requests, bytes, footprint, duration.

    Example: writeamp trace info examples/postgres-tpcb.parquet
    """
    trace = traces.read(file, asked.trace_format, action=asked.action)
    if csv:
        options.print_csv(trace.to_frame())
        for note in trace.notes:
            options.note(note)
        return
    found = traces.info(trace)
    if json:
        options.print_json(found)
        return
    notes = found.pop("notes")
    rows = [(key.replace("_", " "), _shown(value)) for key, value in found.items()]
    stdout.print(options.facts([("file", trace.path), *rows]))
    for note in notes:
        stdout.print(f"note: {note}", highlight=False)


def convert(
    file: TraceFile,
    out: Annotated[Path, typer.Argument(help="The file to write.", show_default=False)],
    asked: ConversionSettings,
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
    json: options.Json = False,
) -> None:
    """Write a trace in another format.

    Example: writeamp trace convert hm_0.csv hm_0.parquet --from msr
    """
    from writeamp.traces.writing import check_target  # noqa: PLC0415 (slow)

    check_target(out, asked.target, source=file, replace=force)
    trace = traces.read(file, asked.source, action=asked.action)
    notes = [*trace.notes, *traces.write(trace, out, asked.target, replace=force)]
    if json:
        options.print_json({"path": str(out), "requests": trace.requests.height, "notes": notes})
    else:
        for note in notes:
            options.note(note)


def _shown(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return "–" if value is None else str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}"
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return str(value)
