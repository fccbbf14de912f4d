"""Tables II, III, V and VI and Figs. 8 to 10: basic against extended models of every device."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from writeamp.plots import FigureSpec
from writeamp.reproduce.bench import Bench, Findings
from writeamp.reproduce.huang2011 import figures
from writeamp.reproduce.huang2011.accuracy import HELD_OUT, LEFT_ALONE, Accuracy, accuracy
from writeamp.reproduce.huang2011.example_tree import example_tree
from writeamp.reproduce.huang2011.forms import RESTED, Form, form_of
from writeamp.reproduce.huang2011.judged import DETAIL, NOT_CACHED, ROUNDING, table_row
from writeamp.reproduce.huang2011.measuring import DEVICES, DISK, METRICS, kept_in, means, measured
from writeamp.reproduce.huang2011.printed import BASIC, EXTENDED
from writeamp.reproduce.huang2011.workloads import some_cells
from writeamp.reproduce.items import Item, OpenDetail, at_most, compared

_ARRAY = "Array_I"
# Whose model is fitted by quantile regression too, and whose tree is drawn.
_EXAMPLE = "SSD_I"

# Section IV.B: "close to or higher than 60% improvements" of each device; of the array 30%.
_LEFT_OF_MRE, _LEFT_OF_ARRAY = 0.4, 0.7
# "Similar performance" of quantile regression (section III.D).
_SIMILAR = 0.25

_BySet = Mapping[str, Mapping[str, Accuracy]]
# Its name, and the mean of each metric.
_OtherState = tuple[str, Mapping[str, float]]


def run(bench: Bench) -> Findings:
    """Measure every device at cells of the paper's grid, and score both models of each metric."""
    form = form_of(full=bench.full)
    found: dict[str, _BySet] = {}
    other_states: dict[str, _OtherState] = {}
    items: list[Item] = []
    pictures: dict[str, FigureSpec] = {}
    with kept_in(bench) as folder:
        for device in DEVICES:
            bench.step(f"{form.cells} cells of the grid on {device} (Tables II, III, V and VI)")
            rows = measured(bench, folder, device, some_cells(form.cells), form.settings)
            other_states[device] = _other_state(bench, folder, device, rows, form)
            found[device] = {one: accuracy(rows, one) for one in ("basic", "extended")}
            if device == _EXAMPLE:
                if bench.figures:
                    pictures["fig8-tree"] = example_tree(rows, device)
                items += _quantiles(
                    *(accuracy(rows, "extended", one) for one in ("linear-tree", "quantile-tree"))
                )
    items = [
        *_tables(found, other_states),
        *_improvements(found),
        *_against_the_disk(found),
        *items,
    ]
    if bench.figures:
        pictures["fig9-10-improvements"] = figures.improvements(found)
    return Findings(items, pictures)


def _other_state(
    bench: Bench, folder: str | Path, device: str, rows: pl.DataFrame, form: Form
) -> _OtherState:
    """Measure a drive in another state that the paper may mean, and return its name and the means.

    `rows` are what was measured of all cells in the state that is ours.

    A flash drive may have been left alone. Of a disk, "to remove the cache effects" (section IV.A)
    may mean that its write cache is off.
    """
    if device == DISK:
        off = {"disk.write_back": False}
        cells = some_cells(form.cells)
        return NOT_CACHED, means(measured(bench, folder, device, cells, form.settings, changes=off))
    some = some_cells(form.rested_cells)
    rested, aged = means(measured(bench, folder, device, some, RESTED)), means(rows[: len(some)])
    # Of all cells: as much more or less as of those that were measured in both states.
    of_all = means(rows)
    return LEFT_ALONE, {one: of_all[one] * rested[one] / aged[one] for one in of_all}


def _tables(found: Mapping[str, _BySet], other_states: Mapping[str, _OtherState]) -> list[Item]:
    items = []
    for device, by_set in found.items():
        state, in_state = other_states[device]
        numbers = ("V", "VI") if device == _ARRAY else ("II", "III")
        for table, printed, features in zip(
            numbers, (BASIC, EXTENDED), ("basic", "extended"), strict=True
        ):
            for metric in METRICS:
                ours = by_set[features][metric]
                of_row = (table, metric, device)
                items += table_row(of_row, printed[metric][device], ours, {state: in_state[metric]})
    return items


def _improvements(found: Mapping[str, _BySet]) -> list[Item]:
    """Return what is left of the basic models' MRE (Fig. 9), of each device and metric."""
    items = []
    for device, by_set in found.items():
        for metric in METRICS:
            basic, extended = by_set["basic"][metric], by_set["extended"][metric]
            left = _ratios(extended, basic)
            most = _LEFT_OF_ARRAY if device == _ARRAY else _LEFT_OF_MRE
            items.append(
                at_most(
                    f"Fig. 9, {metric}, {device}: extended model's MRE over the basic one's",
                    most,
                    left[HELD_OUT],
                    ROUNDING * most,
                    open_detail=OpenDetail(DETAIL, HELD_OUT, left),
                )
            )
    return items


def _against_the_disk(found: Mapping[str, _BySet]) -> list[Item]:
    """Say that extended models of flash drives are better than the disk's (section IV.B)."""
    items = []
    for metric in METRICS:
        of_disk = found[DISK]["extended"][metric]
        ratios = [
            _ratios(by_set["extended"][metric], of_disk)
            for device, by_set in found.items()
            if device not in (_ARRAY, DISK)
        ]
        worst = {reading: max(one[reading] for one in ratios) for reading in ratios[0]}
        items.append(
            at_most(
                f"Section IV.B, {metric}: largest extended MRE of a flash drive over the disk's",
                1,
                worst[HELD_OUT],
                ROUNDING,
                open_detail=OpenDetail(DETAIL, HELD_OUT, worst),
            )
        )
    return items


def _quantiles(
    by_squares: Mapping[str, Accuracy], by_quantiles: Mapping[str, Accuracy]
) -> list[Item]:
    items = []
    for metric, ours in by_quantiles.items():
        ratios = _ratios(ours, by_squares[metric])
        items.append(
            compared(
                f"Section III.D, {metric}, {_EXAMPLE}: MRE by quantile regression over that "
                "by least squares",
                1,
                ratios[HELD_OUT],
                _SIMILAR,
                open_detail=OpenDetail(DETAIL, HELD_OUT, ratios),
            )
        )
    return items


def _ratios(one: Accuracy, other: Accuracy) -> dict[str, float]:
    over = other.values("mre")
    return {reading: value / over[reading] for reading, value in one.values("mre").items()}
