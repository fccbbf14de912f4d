"""`writeamp predict`: predictions of the analytic models, in microseconds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from writeamp.cli import options
from writeamp.cli.setting_options import with_settings
from writeamp.errors import WriteampError
from writeamp.theory.settings import PredictionSettings, PredictionSweepSettings


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("predict")(with_settings(predict))


def predict(
    question: Annotated[dict[str, Any], PredictionSettings],
    swept: PredictionSweepSettings,
    *,
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

    if swept.sweep is not None:
        predict_tables.print_sweep(swept.sweep, question, plot, json=json, csv=csv)
        return
    if plot is not None:
        raise WriteampError("plot draws a sweep; give one, such as --sweep op=0.05:1.0:100")
    predict_tables.print_predictions(question, json=json, csv=csv)
