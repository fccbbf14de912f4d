"""`writeamp blackbox choose`: drives that meet bounds on their performance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from writeamp.cli import blackbox_inputs as inputs
from writeamp.cli import options
from writeamp.cli.blackbox_display import with_unit
from writeamp.cli.options import stdout
from writeamp.results.numbers import four_digits, range_in_words
from writeamp.units.durations import DURATION

if TYPE_CHECKING:
    from writeamp.blackbox.choosing import Verdict

_BOUNDS = "What is asked"


def _bound(flag: str, help_text: str, metavar: str, **more: Any) -> Any:
    return typer.Option(
        flag, help=help_text, metavar=metavar, rich_help_panel=_BOUNDS, show_default=False, **more
    )


def choose(
    models: Annotated[
        list[Path],
        typer.Argument(
            help="Trained models, each of a drive.", metavar="MODEL…", show_default=False
        ),
    ],
    *,
    workload: inputs.Workload = None,
    trace: inputs.TraceFile = None,
    max_latency: Annotated[
        str | None, _bound("--max-latency", "The greatest mean latency.", "TIME")
    ] = None,
    min_bandwidth: Annotated[
        float | None,
        _bound("--min-bandwidth", "The least MB/s.", "NUMBER", parser=options.number),
    ] = None,
    min_throughput: Annotated[
        float | None,
        _bound("--min-throughput", "The least requests a second.", "NUMBER", parser=options.number),
    ] = None,
    max_wa: Annotated[
        float | None,
        _bound(
            "--max-wa",
            "The greatest write amplification, of workloads and windows that write.",
            "WA",
            parser=options.number,
        ),
    ] = None,
    share: Annotated[
        float,
        typer.Option(
            "--share",
            help="Share of a trace's windows in which it must be met.",
            parser=options.ratio,
            metavar="SHARE",
            rich_help_panel=_BOUNDS,
        ),
    ] = 1.0,
    trace_format: inputs.Format = None,
    window: inputs.Window = None,
    service: inputs.Service = None,
    space: inputs.Space = None,
    fill: inputs.Fill = None,
    recent_writes: inputs.RecentWrites = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Say which of several drives meets a latency, bandwidth, throughput or WA, the best first.

    Example: writeamp blackbox choose a.model b.model --workload random:bs=4k,qd=8 --max-latency 2ms
    """
    from writeamp.blackbox import choosing, model_file  # noqa: PLC0415 (takes seconds)

    question = inputs.ModelInput(
        workload, trace, trace_format, window, service, space, fill, recent_writes
    )
    latency_s = None if max_latency is None else DURATION.check("--max-latency", max_latency)
    given = {
        "latency": None if latency_s is None else latency_s * 1e6,
        "bandwidth": min_bandwidth,
        "throughput": min_throughput,
        "wa": max_wa,
    }
    bounds = {target: bound for target, bound in given.items() if bound is not None}
    trained = {str(path): model_file.load(path) for path in models}
    rows = {one: question.rows(one) for one in {model.features for model in trained.values()}}
    verdicts = choosing.choose(trained, rows, bounds, share)
    if json:
        document = {**question.what, "bounds": bounds, "share": share}
        options.print_json(document | {"choices": [one.to_dict() for one in verdicts]})
        return
    if csv:
        options.print_csv(verdicts.to_frame())
        return
    _print(question.name, verdicts, bounds)


def _print(title: str, verdicts: Sequence[Verdict], bounds: dict[str, float]) -> None:
    columns = ["model", "drive", "meets", ">headroom", *map(with_unit, bounds), ">outside training"]
    rows = [
        [
            one.name,
            one.drive or "–",
            one.meets,
            "–" if math.isinf(one.headroom) else f"× {one.headroom:.3g}",
            *(_shown(*one.predictions[target]) for target in bounds),
            f"{one.outside:.0%}",
        ]
        for one in verdicts
    ]
    stdout.print(options.table(title, columns, rows))


def _shown(value: float, low: float, high: float) -> str:
    shown = four_digits(value)
    return shown if math.isnan(value) else f"{shown} ({range_in_words(low, high)})"
