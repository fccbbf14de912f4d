"""Options and output that several verbs share."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from writeamp import traces
from writeamp.device import LAYOUTS, profile_names
from writeamp.errors import WriteampError
from writeamp.registry import EngineKind, engine_entries
from writeamp.run import PRECONDITIONS

CAPACITY = "Drive (one size, one ratio; by default 8192 blocks of 128 pages, op 0.28)"


def count(text: str) -> int:
    """Parse a whole number, also written 1e6 or 1_000_000."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not value.is_integer():
        raise typer.BadParameter(f"{text!r} is not a whole number (1000000 and 1e6 are)")
    return int(value)


def number(text: str) -> float:
    """Parse a number."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number") from None


def _names(kind: EngineKind) -> str:
    return ", ".join(entry.example for entry in engine_entries(kind))


def _completer(names: Sequence[str]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def _spec(kind: EngineKind, help_text: str, *flags: str) -> Any:
    return typer.Option(
        *flags,
        metavar="SPEC",
        help=f"{help_text}: {_names(kind)}.",
        autocompletion=_completer([entry.example for entry in engine_entries(kind)]),
    )


def _capacity(flag: str, help_text: str, **more: Any) -> Any:
    return typer.Option(flag, help=help_text, rich_help_panel=CAPACITY, **more)


Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
DeviceOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--device",
        help=f"Device profile ({', '.join(profile_names())}) or the path of a .toml file.",
        rich_help_panel=CAPACITY,
        autocompletion=_completer(profile_names()),
    ),
]
Blocks: TypeAlias = Annotated[
    int | None,
    _capacity("--blocks", "Erase blocks in the drive.", parser=count, metavar="N"),
]
LogicalBlocks: TypeAlias = Annotated[
    int | None,
    _capacity(
        "--logical-blocks",
        "Size that the host sees, in erase blocks.",
        parser=count,
        metavar="N",
    ),
]
PagesPerBlock: TypeAlias = Annotated[
    int | None,
    _capacity("--pages-per-block", "Pages of a flash block.", parser=count, metavar="N"),
]
PageBytes: TypeAlias = Annotated[
    int | None, _capacity("--page-bytes", "Bytes of a page.", parser=count, metavar="N")
]
Op: TypeAlias = Annotated[
    float | None,
    _capacity(
        "--op",
        "Over-provisioning ratio (T-U)/U, T physical and U logical pages.",
        parser=number,
        metavar="RATIO",
    ),
]
Fill: TypeAlias = Annotated[
    float | None,
    _capacity("--fill", "Fill U/T = 1/(1+op).", parser=number, metavar="RATIO"),
]
SpareFactor: TypeAlias = Annotated[
    float | None, _capacity("--spare-factor", "Spare factor (T-U)/T = op/(1+op).")
]
LayoutOption: TypeAlias = Annotated[
    str | None,
    _capacity(
        "--layout",
        f"How blocks are pooled: {', '.join(LAYOUTS)}.",
        autocompletion=_completer(LAYOUTS),
    ),
]
Manager: TypeAlias = Annotated[str, _spec("managers", "Block manager", "--manager")]
Victims: TypeAlias = Annotated[
    str | None, _spec("victims", "Victim policy (default: the manager's)", "--victims")
]
WearLeveling: TypeAlias = Annotated[
    str | None, _spec("wear_levelers", "Wear leveller (default none)", "--wear-leveling")
]
Workload: TypeAlias = Annotated[
    str | None, _spec("workloads", "Synthetic workload (default uniform)", "--workload")
]

RUN = "Run"
TRACE = "Trace"

TraceFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--trace", help="Replay a block trace instead.", rich_help_panel=TRACE),
]
TraceFormat: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--format",
        help=f"Format of the trace if it cannot be detected: {', '.join(traces.FORMATS)}.",
        rich_help_panel=TRACE,
        autocompletion=_completer(tuple(traces.FORMATS)),
    ),
]
Action: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--action", help="Which blkparse action counts: Q, D or C.", rich_help_panel=TRACE
    ),
]
Mapping: TypeAlias = Annotated[
    str,
    typer.Option(
        "--mapping",
        help="compact: the trace's written pages, closed up, are the drive's logical space; "
        "as-is: addresses count.",
        rich_help_panel=TRACE,
        autocompletion=_completer(("compact", "as-is")),
    ),
]
TraceDevice: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--trace-device", help="Use only this device of the trace.", rich_help_panel=TRACE
    ),
]
Precondition: TypeAlias = Annotated[
    str,
    typer.Option(
        "--precondition",
        help=f"What is written once before the run: {', '.join(PRECONDITIONS)}.",
        rich_help_panel=RUN,
        autocompletion=_completer(PRECONDITIONS),
    ),
]
Utilization: TypeAlias = Annotated[
    float,
    typer.Option(
        "--utilization",
        help="Share of the logical pages that the workload uses; the rest is never written.",
        rich_help_panel=RUN,
    ),
]


def read_trace(
    path: Path | None, trace_format: str | None, action: str | None
) -> traces.Trace | None:
    """Read the trace that the options name, if they name one."""
    if path is not None:
        return traces.read(path, trace_format, action=action)
    if (trace_format, action) != (None, None):
        raise WriteampError("--format and --action say how to read a trace; there is no --trace")
    return None


stdout = Console()
stderr = Console(stderr=True)


def print_json(document: Any) -> None:
    """Print one JSON document; numbers keep full double precision."""
    # Whole or not at all: a value that JSON cannot hold must not leave half a document.
    sys.stdout.write(json.dumps(document, allow_nan=False) + "\n")


def warn(sentence: str) -> None:
    """Say something on stderr that does not change the result."""
    print(f"writeamp: warning: {sentence}", file=sys.stderr)


def note(sentence: str) -> None:
    """Say on stderr what was assumed, left out or rounded."""
    print(f"writeamp: note: {sentence}", file=sys.stderr)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Build a table; columns whose name begins with '>' are right-aligned."""
    made = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        made.add_column(
            column.removeprefix(">"), justify="right" if column.startswith(">") else "left"
        )
    for row in rows:
        made.add_row(*map(escape, row))
    return made


def facts(rows: Sequence[tuple[str, str]]) -> Table:
    """Build a table of names and values."""
    made = Table(show_header=False)
    for row in rows:
        made.add_row(*map(escape, row))
    return made
