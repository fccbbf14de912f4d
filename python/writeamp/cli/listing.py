"""`writeamp list`: everything registered, one line each."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Annotated, Any

import typer

from writeamp import custom, traces
from writeamp.cli import options
from writeamp.cli.report_option import without_report
from writeamp.cli.terminal import LEAST_COLUMNS
from writeamp.devices.data_sheet import DataSheet
from writeamp.devices.profile import profile, profile_names
from writeamp.errors import unknown
from writeamp.extensions import extensions, loaded
from writeamp.registry import EngineKind, Entry, Param, engine_entries

_Row = dict[str, Any]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("list")(without_report(list_entries))


def _of_engine(kind: EngineKind) -> Callable[[], list[_Row]]:
    return lambda: [
        *(_engine_row(entry) for entry in engine_entries(kind)),
        *(_custom_row(one) for of in custom.KINDS if of == kind for one in custom.listed(of)),
    ]


def _custom_row(one: custom.ListedPolicy) -> _Row:
    return {
        "name": one.name,
        "summary": one.summary,
        "example": one.name,
        "defaults": one.defaults,
        "parameters": [
            f"{name} must be given" if default is None else f"{name}={default} by default"
            for name, default in one.defaults.items()
        ],
    }


def _engine_row(entry: Entry) -> _Row:
    return {
        "name": entry.name,
        "summary": entry.summary,
        "example": entry.example,
        "defaults": {param.name: param.default or None for param in entry.params},
        "parameters": [_param(p) for p in entry.params],
    }


def _param(param: Param) -> str:
    names = " or ".join((param.name, *param.aliases))
    default = f"={param.default} by default" if param.default else " must be given"
    return f"{names}{default} ({param.help}: {param.domain})"


def _plain_row(name: str, summary: str) -> _Row:
    return {"name": name, "summary": summary, "example": name, "defaults": {}, "parameters": []}


def _device_row(name: str) -> _Row:
    found = profile(name)
    sheet = found.data_sheet
    return _plain_row(name, found.summary) | {
        "sources": dict(found.sources),
        "data_sheet": None if sheet is None else sheet.to_dict(),
        "rated_erases": found.shape.rated_erases,
        "parameters": [] if sheet is None else [_promised(sheet)],
    }


def _promised(sheet: DataSheet) -> str:
    return (
        f"held against {sheet.product}, {sheet.state}: sequential reads "
        f"{sheet.sequential_read_mb_s:,.0f} and writes {sheet.sequential_write_mb_s:,.0f} MB/s, "
        f"random reads {sheet.random_read_iops:,.0f} and writes {sheet.random_write_iops:,.0f} a "
        "second"
    )


def _models() -> list[_Row]:
    from writeamp.models._registry import MODELS  # noqa: PLC0415 (slow)

    return [_plain_row(one.name, one.summary) for one in MODELS.values()]


def _formats() -> list[_Row]:
    from writeamp.traces import column_format  # noqa: PLC0415 (slow)

    return [
        *(_plain_row(one.name, one.summary) for one in traces.FORMATS.values()),
        _plain_row("columns:…", column_format.SUMMARY),
    ]


def _of_others(listed: Callable[[], list[tuple[str, str]]]) -> list[_Row]:
    """Return the rows of a kind that another part of writeamp lists, as names and summaries."""
    return [_plain_row(name, summary) for name, summary in listed()]


_OWN: dict[str, Callable[[], list[_Row]]] = {
    "managers": _of_engine("managers"),
    "victims": _of_engine("victims"),
    "workloads": _of_engine("workloads"),
    "detectors": _of_engine("detectors"),
    "wear_levelers": _of_engine("wear_levelers"),
    "models": _models,
    "formats": _formats,
    "devices": lambda: [_device_row(name) for name in profile_names()],
}
_ADDED = {
    kind: partial(_of_others, listed)
    for kind, listed in loaded(extensions("writeamp.lists").values(), FunctionType).items()
}
KINDS = _OWN | _ADDED | _OWN


def list_entries(
    *,
    kind: Annotated[
        str | None,
        typer.Argument(help=f"One of {', '.join(KINDS)}; all by default.", metavar="[KIND]"),
    ] = None,
    json: options.Json = False,
) -> None:
    """List what is registered: managers, victim policies, workloads, models, formats, devices….

    Example: writeamp list victims
    """
    if kind is not None and kind not in KINDS:
        raise unknown("kind", kind, KINDS)
    chosen = {name: rows() for name, rows in KINDS.items() if kind in (None, name)}
    if json:
        options.print_json({name: [_plain(row) for row in rows] for name, rows in chosen.items()})
        return
    for name, rows in chosen.items():
        print(f"{name}:")
        width = max(len(row["name"]) for row in rows)
        for row in rows:
            _print_hanging(f"  {row['name']:<{width}}  ", row["summary"])
            for line in _details(row, at_length=kind is not None):
                _print_hanging(" " * (width + 6), line)


def _print_hanging(beginning: str, text: str) -> None:
    """Print a text behind its beginning, in lines that the terminal has room for."""
    columns = max(options.stdout.width, LEAST_COLUMNS)
    behind = " " * (len(beginning) + 2)
    lines = textwrap.wrap(
        text,
        columns,
        initial_indent=beginning,
        subsequent_indent=behind,
        break_long_words=False,
        break_on_hyphens=False,
    )
    print("\n".join(lines))


def _plain(row: _Row) -> _Row:
    return row | {"parameters": "; ".join(row["parameters"])}


def _details(row: _Row, *, at_length: bool) -> list[str]:
    """Return the details below an entry: parameters, and a spec that is only an example."""
    needs = None in row["defaults"].values()
    example = [f"for example {row['example']}"] if row["example"] != row["name"] else []
    if not at_length:
        return example if needs else []
    return [*row["parameters"], *example]
