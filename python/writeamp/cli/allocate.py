"""`writeamp allocate`: over-provisioned space divided between groups of pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from writeamp.allocation.settings import DivisionSettings
from writeamp.cli import options
from writeamp.cli.progress_bar import Bar
from writeamp.cli.setting_options import with_settings
from writeamp.errors import WriteampError
from writeamp.plots import check_target
from writeamp.units.ratios import RATIOS, op_of


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("allocate")(with_settings(allocate))


def allocate(
    asked: DivisionSettings,
    *,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Draw it (.png, .svg, .pdf or .html).", metavar="FILE"),
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Divide over-provisioned space between groups, and predict the write amplification (WA).

    Example: writeamp allocate --sizes 0.4,0.3,0.2,0.1 --frequencies 0.05,0.1,0.25,0.6 --fill 0.7

    Example: writeamp allocate --explore 20 --fill 0.7
    """
    ratio = op_of(op=asked.op, fill=asked.fill, spare_factor=asked.spare_factor)
    if ratio is None:
        raise WriteampError(f"over-provisioning is missing; give one of {', '.join(RATIOS)}")
    if plot is not None:
        check_target(plot)
    from writeamp.allocation.coldest import ColdestGroup  # noqa: PLC0415 (slow)
    from writeamp.allocation.compared import (  # noqa: PLC0415 (slow)
        AllocationsByMethod,
        Exploration,
    )

    if asked.coldest_op is None and asked.coldest_below is not None:
        raise WriteampError("coldest_below is given without coldest_op; give both or coldest_op")
    coldest = None
    if asked.coldest_op is not None:
        coldest = ColdestGroup(asked.coldest_op, asked.coldest_below)
    found: AllocationsByMethod | Exploration
    if asked.explore is not None:
        if asked.sizes is not None or asked.frequencies is not None or coldest is not None:
            raise WriteampError(
                "explore goes through all sizes and frequencies by the plain methods; give it "
                "neither those nor a coldest group"
            )
        with Bar("exploring", lambda done, whole: f"{done:,} of {whole:,} workloads") as bar:
            found = Exploration.of(asked.explore, ratio, bar.update)
    elif asked.sizes is None or asked.frequencies is None:
        missing = "sizes" if asked.sizes is None else "frequencies"
        raise WriteampError(f"{missing} is missing; give sizes and frequencies, or explore")
    else:
        found = AllocationsByMethod.of(asked.sizes, asked.frequencies, ratio, coldest)
    options.tell(found, lambda: options.print_card(found.card()), json=json, csv=csv, plot=plot)
