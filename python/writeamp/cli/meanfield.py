"""`writeamp meanfield`: the steady state of hot/cold write frontiers, without a simulation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.cli.setting_options import with_settings
from writeamp.errors import WriteampError
from writeamp.meanfield.parameters import MODES
from writeamp.meanfield.settings import MeanFieldSettings
from writeamp.plots import check_target, save

if TYPE_CHECKING:
    from writeamp.meanfield.fixed_point import FixedPoint


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("meanfield")(with_settings(meanfield))


def meanfield(
    asked: MeanFieldSettings,
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw the blocks by valid pages (.png, .svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Compute the write amplification (WA) of hot/cold write frontiers on a large drive.

    Example: writeamp meanfield --mode hcwf-swap --pages-per-block 32 --spare-factor 0.12
    --d 50 --d-swap 8 --hot-fraction 0.2 --hot-write-fraction 0.77
    """
    if plot is not None:
        check_target(plot)
    from writeamp.meanfield.fixed_point import hot_cold, hot_cold_swap  # noqa: PLC0415 (slow)

    drive: dict[str, Any] = dict(vars(asked))
    mode, d_swap = drive.pop("mode"), drive.pop("d_swap")
    if mode == "hcwf-swap":
        if d_swap is None:
            raise WriteampError("d_swap is missing; mode hcwf-swap needs --d-swap, at least 1")
        drive["d_swap"] = d_swap
    elif d_swap is not None:
        raise WriteampError("d_swap is of mode hcwf-swap; mode hcwf swaps nothing, leave it out")
    with Bar("solving"):
        point = (hot_cold if d_swap is None else hot_cold_swap)(**drive)
    if point.ill_conditioned:
        options.warn(f"ill-conditioned: {point.why}")
    if plot is not None:
        save(point.figure(), plot)
    if options.printed_json(point.to_dict, json=json):
        return
    if csv:
        options.print_csv(point.to_frame())
        return
    stdout.print(options.facts(_facts(point)))


def _facts(point: FixedPoint) -> Sequence[tuple[str, str]]:
    drive = point.parameters
    rows = [
        ("write mode", MODES[drive.mode]),
        ("pages per block", str(drive.pages_per_block)),
        ("spare factor (T-U)/T", f"{drive.spare_factor:.6g}"),
        ("op (T-U)/U", f"{drive.op:.6g}"),
        ("hot pages, hot writes", f"{drive.hot_fraction:.6g}, {drive.hot_write_fraction:.6g}"),
        ("WA", f"{point.wa:.6f}"),
        ("error of WA is below", f"{point.wa_error_bound:.2g}"),
        ("residual of the drift", f"{point.residual:.2g}"),
        ("ill-conditioned", "yes" if point.ill_conditioned else "no"),
        ("hot blocks", f"{point.hot_block_share:.6f} of all"),
        (f"collections of d = {drive.d}", f"{point.share_gc_d:.6f} of all"),
    ]
    if drive.d_swap is not None:
        for kind, share in (("hot", point.share_gc_swap_hot), ("cold", point.share_gc_swap_cold)):
            rows.append((f"collections of d* = {drive.d_swap} {kind}", f"{share:.6f} of all"))
    took = (point.elapsed_s, point.check_elapsed_s)
    rows.append(("found, checked in", "{:.2f} ms, {:.2f} ms".format(*(1e3 * s for s in took))))
    return rows
