"""The divisions of `writeamp allocate`, as tables, documents and figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.text import Text

from writeamp import allocation
from writeamp.allocation.coldest import ColdestGroup
from writeamp.allocation.result import Allocation
from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.errors import WriteampError
from writeamp.plots import save
from writeamp.plots.figures.allocation import op_shares_by_method, over_optimal
from writeamp.results.numbers import json_number
from writeamp.units.ratios import all_ratios, space_in_words


def coldest_group(op: float | None, below: float | None) -> ColdestGroup | None:
    """Return the least space that the coldest group is given, if any is asked for."""
    if op is None:
        if below is not None:
            raise WriteampError(
                "coldest_below is given without coldest_op; give both or coldest_op"
            )
        return None
    return ColdestGroup(op, below)


def print_divisions(
    groups: tuple[list[float], list[float]],
    ratio: float,
    coldest: ColdestGroup | None,
    plot: Path | None,
    *,
    json: bool,
    csv: bool,
) -> None:
    """Divide the space between groups of these sizes and frequencies by every method."""
    found = {name: method(*groups, ratio, coldest) for name, method in allocation.METHODS.items()}
    if plot is not None:
        divisions = {name: (one.op_shares.tolist(), float(one.wa)) for name, one in found.items()}
        subtitle = _drive_in_words(ratio)
        save(
            op_shares_by_method(list(zip(*groups, strict=True)), divisions, subtitle=subtitle), plot
        )
    document = all_ratios(ratio) | {
        "sizes": groups[0],
        "frequencies": groups[1],
        "coldest": vars(coldest) if coldest else None,
        "methods": [_method(name, one) for name, one in found.items()],
    }
    if options.printed_json(lambda: document, json=json):
        return
    if csv:
        named = (
            one.to_frame().insert_column(0, pl.lit(name).alias("method"))
            for name, one in found.items()
        )
        options.print_csv(pl.concat(named))
        return
    _print(found, ratio)


def _drive_in_words(op: float) -> str:
    return space_in_words(**all_ratios(op))


def _method(name: str, found: Allocation) -> dict[str, Any]:
    """Return a method's entry of the JSON document; null is infinite."""
    return {
        "method": name,
        "op_shares": found.op_shares.tolist(),
        "op_of_group": found.op_of_group.tolist(),
        "wa_of_group": [json_number(wa) for wa in found.wa_of_group.tolist()],
        "wa": json_number(float(found.wa)),
        "over_optimal_percent": json_number(float(found.over_optimal_percent)),
    }


def _print(found: Mapping[str, Allocation], op: float) -> None:
    summary = [
        (name, f"{one.wa:.4f}", f"{one.over_optimal_percent:.3f}") for name, one in found.items()
    ]
    stdout.print(_drive_in_words(op), highlight=False)
    columns = ("method", ">WA", ">over the optimum (%)")
    stdout.print(options.table("all writes", columns, summary))
    groups = next(iter(found.values())).groups
    rows: list[tuple[str | Text, ...]] = [
        (
            str(i + 1),
            f"{groups.sizes[i]:.4g}",
            f"{groups.frequencies[i]:.4g}",
            *(Text(f"{one.op_shares[i]:.4f}\n{one.wa_of_group[i]:.3f}") for one in found.values()),
        )
        for i in range(groups.sizes.size)
    ]
    headings = ("group", ">size", ">frequency", *(f">{name}" for name in found))
    stdout.print(
        options.table("by method: share of the spare space, and WA of the group", headings, rows)
    )


def print_exploration(chunks: int, op: float, plot: Path | None, *, json: bool, csv: bool) -> None:
    """Compare the closed form with the optimum in every workload of equal chunks."""
    with Bar("exploring", lambda done, whole: f"{done:,} of {whole:,} workloads") as bar:
        found = allocation.explore(chunks, op, bar.update)
    if plot is not None:
        save(_figure(found, chunks, op), plot)
    weights = found["configurations"].to_numpy()
    overall: dict[str, Any] = {
        "configurations": int(weights.sum()),
        "mean_over_optimal_percent": float(
            np.average(found["mean_over_optimal_percent"].to_numpy(), weights=weights)
        ),
        "max_over_optimal_percent": found["max_over_optimal_percent"].max(),
    }
    document = all_ratios(op) | {"chunks": chunks} | overall | {"by_groups": found.to_dicts()}
    if options.printed_json(lambda: document, json=json):
        return
    if csv:
        options.print_csv(found)
        return
    rows = [_explored("all", overall), *(_explored(row["groups"], row) for row in found.to_dicts())]
    stdout.print(f"every workload of {chunks} equal chunks", highlight=False)
    stdout.print(_drive_in_words(op), highlight=False)
    columns = (">groups", ">workloads", ">mean", ">maximum")
    stdout.print(options.table("closed form over the optimum (%)", columns, rows))


def _explored(label: object, row: Mapping[str, Any]) -> tuple[str, ...]:
    over = (row["mean_over_optimal_percent"], row["max_over_optimal_percent"])
    return (str(label), f"{row['configurations']:,}", *(f"{percent:.3f}" for percent in over))


def _figure(found: pl.DataFrame, chunks: int, op: float) -> Any:
    means, maxima = (found[f"{kind}_over_optimal_percent"].to_list() for kind in ("mean", "max"))
    return over_optimal(
        found["groups"].to_list(),
        {f"{chunks} chunks": (means, maxima)},
        title="The closed form against the optimum",
        subtitle=f"every workload of {chunks} equal chunks of pages and of writes · "
        + _drive_in_words(op),
        x_label="groups",
    )
