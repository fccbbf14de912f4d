"""`writeamp allocate`: over-provisioned space divided between groups of pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from writeamp.cli import options
from writeamp.errors import WriteampError
from writeamp.plots import check_target
from writeamp.units.ratios import RATIOS, op_of

_GROUPS = "Groups of pages (as many sizes as frequencies)"
_COLDEST = "Coldest group"


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("allocate")(allocate)


def allocate(
    *,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes",
            help="Share of the logical pages in each group, separated by , or /; they sum to 1.",
            metavar="S1,S2,…",
            rich_help_panel=_GROUPS,
        ),
    ] = None,
    frequencies: Annotated[
        str | None,
        typer.Option(
            "--frequencies",
            help="Share of the host's writes to each group; they sum to 1.",
            metavar="P1,P2,…",
            rich_help_panel=_GROUPS,
        ),
    ] = None,
    op: options.Op = None,
    fill: options.Fill = None,
    spare_factor: options.SpareFactor = None,
    coldest_op: Annotated[
        float | None,
        typer.Option(
            "--coldest-op",
            help="Least space of the coldest group, as a ratio to its own size (paper 3: 0.05).",
            parser=options.ratio,
            metavar="RATIO",
            rich_help_panel=_COLDEST,
        ),
    ] = None,
    coldest_below: Annotated[
        float | None,
        typer.Option(
            "--coldest-below",
            help="Give it exactly that if its hit rate is below this share of the next one's, and "
            "else leave it alone (paper 3: 0.05).",
            parser=options.ratio,
            metavar="SHARE",
            rich_help_panel=_COLDEST,
        ),
    ] = None,
    explore: Annotated[
        int | None,
        typer.Option(
            "--explore",
            help="Instead compare the closed form with the optimum in every workload of 2 to 9 "
            "groups made of so many equal chunks of pages and of writes (paper 3: 10 and 20).",
            parser=options.count,
            metavar="CHUNKS",
        ),
    ] = None,
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
    ratio = op_of(op=op, fill=fill, spare_factor=spare_factor)
    if ratio is None:
        raise WriteampError(f"over-provisioning is missing; give one of {', '.join(RATIOS)}")
    from writeamp.cli import allocate_tables  # noqa: PLC0415 (slow)

    coldest = allocate_tables.coldest_group(coldest_op, coldest_below)
    if plot is not None:
        check_target(plot)
    if explore is not None:
        if sizes is not None or frequencies is not None or coldest is not None:
            raise WriteampError(
                "explore goes through all sizes and frequencies by the plain methods; give it "
                "neither those nor a coldest group"
            )
        allocate_tables.print_exploration(explore, ratio, plot, json=json, csv=csv)
        return
    if sizes is None or frequencies is None:
        missing = "sizes" if sizes is None else "frequencies"
        raise WriteampError(f"{missing} is missing; give sizes and frequencies, or explore")
    groups = _shares("sizes", sizes), _shares("frequencies", frequencies)
    allocate_tables.print_divisions(groups, ratio, coldest, plot, json=json, csv=csv)


def _shares(name: str, text: str) -> list[float]:
    """Read numbers separated by commas or slashes."""
    try:
        return [options.ratio(part.strip()) for part in re.split("[,/]", text)]
    except typer.BadParameter:
        raise WriteampError(
            f"{name} are {text!r}; they must be numbers separated by , or /, such as 0.7,0.3 or "
            "70%,30%"
        ) from None
