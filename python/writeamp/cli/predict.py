"""`writeamp predict`: predictions of the analytic models, in microseconds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from writeamp.cli import options
from writeamp.errors import WriteampError
from writeamp.models.names import MODEL_NAMES
from writeamp.theory.words import DEFAULT_PAGES_PER_BLOCK, SWEEPABLE

if TYPE_CHECKING:
    from writeamp.theory.prediction import Question

_PARTLY = "Drive that is partly full"
_MODELS = "Models"


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("predict")(predict)


def _of_models(flag: str, help_text: str, **more: Any) -> Any:
    return typer.Option(flag, help=help_text, rich_help_panel=_MODELS, metavar="N", **more)


def predict(
    *,
    op: options.Op = None,
    fill: options.Fill = None,
    spare_factor: options.SpareFactor = None,
    pages_per_block: Annotated[
        int | None,
        typer.Option(
            "--pages-per-block",
            help=f"Pages of an erase block (default {DEFAULT_PAGES_PER_BLOCK}).",
            parser=options.count,
            metavar="N",
            rich_help_panel=options.CAPACITY,
        ),
    ] = None,
    target_wa: Annotated[
        float | None,
        typer.Option(
            "--target-wa",
            help="Ask for the op that this WA needs, instead of giving a ratio.",
            parser=options.number,
            metavar="WA",
        ),
    ] = None,
    utilization: Annotated[
        float | None,
        typer.Option(
            "--utilization",
            help="Share of the logical space that holds data; the models then get the effective "
            "op ((1 - utilization) + op) / hot ratio.",
            parser=options.ratio,
            metavar="SHARE",
            rich_help_panel=_PARTLY,
        ),
    ] = None,
    hot_ratio: Annotated[
        float | None,
        typer.Option(
            "--hot-ratio",
            help="Share of the logical space that is written (default: all that holds data).",
            parser=options.ratio,
            metavar="SHARE",
            rich_help_panel=_PARTLY,
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            help=f"Only this model (repeatable): {', '.join(MODEL_NAMES)}. Without it, all but "
            "coupon-collector, which is known to be wrong.",
            rich_help_panel=_MODELS,
        ),
    ] = None,
    d: Annotated[
        float, _of_models("--d", "d-choices: blocks drawn; inf is greedy.", parser=options.number)
    ] = 10,
    window: Annotated[
        int,
        _of_models(
            "--window", "coupon-collector: oldest blocks that compete.", parser=options.count
        ),
    ] = 64,
    reserve: Annotated[
        int,
        _of_models("--reserve", "coupon-collector: blocks held free.", parser=options.count),
    ] = 0,
    logical_blocks: Annotated[
        float,
        _of_models(
            "--logical-blocks",
            "Blocks that the host sees; inf is the limit of a large drive.",
            parser=options.number,
        ),
    ] = math.inf,
    sweep: Annotated[
        str | None,
        typer.Option(
            "--sweep",
            help=f"Run through evenly spaced values of {', '.join(SWEEPABLE)}.",
            metavar="NAME=FROM:TO:POINTS",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Draw the sweep (.png, .svg, .pdf or .html).", metavar="FILE"),
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Predict write amplification (WA) under uniform random writes, or the op that a WA needs.

    Example: writeamp predict --op 0.28 --pages-per-block 256

    Example: writeamp predict --sweep op=0.05:1.0:100 --plot wa.html
    """
    from writeamp.cli import predict_tables  # noqa: PLC0415 (slow)

    question: Question = {
        "op": op,
        "fill": fill,
        "spare_factor": spare_factor,
        "target_wa": target_wa,
        "utilization": utilization,
        "hot_ratio": hot_ratio,
        "d": d,
        "window": window,
        "reserve": reserve,
        "logical_blocks": logical_blocks,
        "models": model or None,
    }
    if pages_per_block is not None:
        question["pages_per_block"] = pages_per_block
    if sweep is not None:
        predict_tables.print_sweep(sweep, question, plot, json=json, csv=csv)
        return
    if plot is not None:
        raise WriteampError("plot draws a sweep; give one, such as --sweep op=0.05:1.0:100")
    predict_tables.print_predictions(question, json=json, csv=csv)
