"""`writeamp predict`: what the analytic models say, in microseconds."""

from __future__ import annotations

from typing import Annotated

import typer

from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.models import MODELS
from writeamp.prediction import DEFAULT_PAGES_PER_BLOCK
from writeamp.prediction import predict as predict_wa
from writeamp.ratios import op_of


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("predict")(predict)


def predict(
    *,
    op: options.Op = None,
    fill: options.Fill = None,
    spare_factor: options.SpareFactor = None,
    pages_per_block: Annotated[
        int,
        typer.Option(
            "--pages-per-block", help="Pages of an erase block.", parser=options.count, metavar="N"
        ),
    ] = DEFAULT_PAGES_PER_BLOCK,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", help=f"Only this model (repeatable): {', '.join(MODELS)}."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Predict write amplification (WA) under uniform random writes on a full drive.

    Example: writeamp predict --op 0.28 --pages-per-block 256
    """
    predictions = predict_wa(
        op=op,
        fill=fill,
        spare_factor=spare_factor,
        pages_per_block=pages_per_block,
        models=model or None,
    )
    used_op = op_of(op=op, fill=fill, spare_factor=spare_factor)
    assert used_op is not None
    drive = {
        "op": used_op,
        "fill": 1 / (1 + used_op),
        "spare_factor": used_op / (1 + used_op),
        "pages_per_block": pages_per_block,
    }
    if json:
        models = [
            {"model": p.model.name, "wa": p.wa, "assumes": p.model.assumes} for p in predictions
        ]
        options.print_json({**drive, "models": models})
        return
    title = (
        f"op {used_op:.4g} = (T-U)/U, fill {drive['fill']:.4g}, "
        f"spare factor {drive['spare_factor']:.4g}, {pages_per_block} pages per block"
    )
    rows = [(p.model.name, f"{p.wa:.4f}", p.model.assumes) for p in predictions]
    stdout.print(options.table(title, ("model", ">WA", "assumes"), rows))
