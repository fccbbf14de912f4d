"""Verdicts on scores: a cell of a table is a match if our model is no worse than the print says.

The paper's devices are not to be had, and ours are profiles of them. What a model errs by is a
bound that ours must keep; what a device's mean is, is a value.
"""

from __future__ import annotations

from collections.abc import Mapping

from writeamp.reproduce.huang2011.accuracy import HELD_OUT, LEFT_ALONE, Accuracy
from writeamp.reproduce.huang2011.measuring import METRICS
from writeamp.reproduce.huang2011.printed import Printed
from writeamp.reproduce.items import Item, OpenDetail, at_most, compared

# How far a value of another device may be from the print, and how far a bound is rounded.
_TOLERANCE, ROUNDING = 0.25, 0.1

DETAIL = (
    'what is scored ("all the observations from the training data are used for fitting and '
    'validation"), and whether a workload counts as often as the grid has it'
)
AGED = "aged by random writes until WA is steady"
CACHED, NOT_CACHED = "with its write cache on", "with its write cache off"
_STATE = "in which state a flash drive is"


def table_row(
    of_row: tuple[str, str, str], printed: Printed, ours: Accuracy, other_state: Mapping[str, float]
) -> list[Item]:
    """Return the cells of a row of Tables II, III, V and VI.

    Args:
        of_row: number of the table, a key of `METRICS`, and the device.
        printed: what the paper has.
        ours: what was found.
        other_state: the mean in another state of the drive, by its name.
    """
    table, metric, device = of_row
    unit = METRICS[metric][1]
    row = f"Table {table}, {metric}, {device}"
    return [
        cell(f"{row}: 1 - R²", 1 - printed.r2, ours, "unexplained"),
        cell(f"{row}: MAE ({unit})", printed.mae, ours, "mae"),
        _mean(f"{row}: mean ({unit})", printed.mean, ours, other_state),
        cell(f"{row}: MRE", printed.mre, ours, "mre"),
    ]


def cell(item: str, printed: float, ours: Accuracy, measure: str) -> Item:
    """Return one cell of a model's errors, which ours are at most."""
    values = ours.values(measure)
    detail = f"{DETAIL}; {_STATE}" if LEFT_ALONE in values else DETAIL
    return at_most(
        item,
        printed,
        values[HELD_OUT],
        ROUNDING * printed,
        note=f"of {ours.held_out.n} rows, where the paper has up to 12,000",
        open_detail=OpenDetail(detail, HELD_OUT, values),
    )


def _mean(item: str, printed: float, ours: Accuracy, other_state: Mapping[str, float]) -> Item:
    detail = OpenDetail(
        "in which state the drive is, and how often a workload counts",
        f"{AGED}, {HELD_OUT}" if LEFT_ALONE in other_state else f"{CACHED}, {HELD_OUT}",
        {**ours.values("mean"), **other_state},
    )
    value = ours.held_out.mean
    return compared(item, printed, value, _TOLERANCE * printed, open_detail=detail)
