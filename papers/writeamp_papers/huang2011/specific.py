"""Table IV: models of one kind of workload each, on a grid of their own."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from writeamp.learn.blackbox.features.feature_sets import find_feature_set
from writeamp_papers.huang2011.accuracy import Scores, accuracy, values_of, vectors_of
from writeamp_papers.huang2011.printed import SPECIFIC, SPECIFIC_DEVICES
from writeamp_papers.items import Item, at_most
from writeamp_papers.learners.workload_classes import WORKLOAD_CLASSES, members

# An R² of "1" is read as its three-digit neighbours are; an MRE below 1% has a digit more.
_R2_ROUNDING, _MRE_ROUNDING, _SMALL_MRE_ROUNDING = 0.0005, 0.005, 0.0005
_SMALL_MRE = 0.01


def by_kind(rows: Mapping[str, pl.DataFrame]) -> dict[str, dict[str, Scores]]:
    """Return the scores of each metric's model of each kind of workload, by Table IV's symbol.

    Args:
        rows: runs of the workload-specific models' grid, by the way of the runs.
    """
    names = find_feature_set("extended").names
    flags = {way: members(vectors_of(one, "extended"), names) for way, one in rows.items()}
    return {
        kind.symbol: accuracy(
            {way: one.filter(pl.Series(flags[way][at])) for way, one in rows.items()}, "extended"
        )
        for at, kind in enumerate(WORKLOAD_CLASSES)
    }


def table_items(device: str, found: Mapping[str, Mapping[str, Scores]]) -> list[Item]:
    """Return the cells of Table IV that a device has, given its models' scores by kind."""
    at, items = SPECIFIC_DEVICES.index(device), []
    for symbol, of_kind in found.items():
        for part, (metric, printed) in enumerate(SPECIFIC.items()):
            r2, mre = (values[at] for values in printed[symbol])
            row, statement = f"Table IV, {metric}, {device}, {symbol}", f"P2-T4-{'abc'[part]}"
            rounding = _SMALL_MRE_ROUNDING if mre < _SMALL_MRE else _MRE_ROUNDING
            for name, published, measure, half in (
                ("1 - R²", 1 - r2, "unexplained", _R2_ROUNDING),
                ("MRE", mre, "mre", rounding),
            ):
                ours = values_of(of_kind[metric], measure)
                items.append(at_most(f"{row}: {name}", published, ours, half, statement=statement))
    return items
