"""`writeamp blackbox choose`: drives that meet bounds on their performance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.learn.blackbox.model_input import ModelInput
from writeamp.learn.blackbox.settings import BoundSettings
from writeamp.learn.cli.blackbox_display import with_unit
from writeamp.results.numbers import four_digits, range_in_words

if TYPE_CHECKING:
    from writeamp.learn.blackbox.choosing import Verdict


def choose(
    models: Annotated[
        list[Path],
        typer.Argument(
            help="Trained models, each of a drive.", metavar="MODEL…", show_default=False
        ),
    ],
    question: ModelInput,
    asked: BoundSettings,
    *,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Say which of several drives meets a latency, bandwidth, throughput or WA, the best first.

    Example: writeamp blackbox choose a.model b.model --workload random:bs=4k,qd=8 --max-latency 2ms
    """
    from writeamp.learn.blackbox import choosing, model_file  # noqa: PLC0415 (takes seconds)

    bounds = asked.of_targets
    with Bar("predicting"):
        trained = {str(path): model_file.load(path) for path in models}
        rows = {one: question.rows(one) for one in {model.features for model in trained.values()}}
        verdicts = choosing.choose(trained, rows, bounds, asked.share)
    document = {**question.what, "bounds": bounds, "share": asked.share}
    choices = [one.to_dict() for one in verdicts]
    if options.printed_json(lambda: document | {"choices": choices}, json=json):
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
