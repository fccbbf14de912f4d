"""`writeamp meanfield`: steady state of hot/cold write frontiers by a mean-field model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from writeamp.cli import options
from writeamp.cli.progress_bar import Bar
from writeamp.cli.setting_options import with_settings
from writeamp.errors import WriteampError
from writeamp.meanfield.settings import MeanFieldSettings
from writeamp.plots import check_target, save


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command("meanfield")(with_settings(meanfield))


def meanfield(
    settings: MeanFieldSettings,
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw the distribution of valid pages per block to this file (.png, .svg, .pdf or "
            ".html).",
            metavar="FILE",
        ),
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Compute the write amplification (WA) of hot/cold write frontiers, without a simulation.

    The mean-field model is exact in the limit of infinitely many blocks.

    Example: writeamp meanfield --mode hcwf-swap --pages-per-block 32 --spare-factor 0.12
    --d 50 --d-swap 8 --hot-fraction 0.2 --hot-write-fraction 0.77
    """
    if plot is not None:
        check_target(plot)
    from writeamp.meanfield.fixed_point import hot_cold, hot_cold_swap  # noqa: PLC0415 (slow)

    drive: dict[str, Any] = dict(vars(settings))
    mode, d_swap = drive.pop("mode"), drive.pop("d_swap")
    if mode == "hcwf-swap":
        if d_swap is None:
            raise WriteampError("mode hcwf-swap needs --d-swap; give a whole number from 1")
        drive["d_swap"] = d_swap
    elif d_swap is not None:
        raise WriteampError("--d-swap is for mode hcwf-swap only; leave it out with mode hcwf")
    with Bar("solving"):
        point = (hot_cold if d_swap is None else hot_cold_swap)(**drive)
    if point.ill_conditioned:
        options.warn(f"ill-conditioned: {point.why}")
    if plot is not None:
        save(point.figure(), plot)
    options.show(
        point.to_dict,
        point.card,
        frame=point.to_frame,
        json=json,
        csv=csv,
        figure=point.figure,
    )
