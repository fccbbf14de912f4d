"""Table IV: models of one kind of workload each, on a grid of their own.

Flash drives are measured in two states, of which the paper names neither. On an aged drive a write
of a page in part waits until the rest of the page is read amid collections, which no characteristic
of the paper shows; on one that was left alone, it hardly does.
"""

from __future__ import annotations

import polars as pl

from writeamp.blackbox.features.registry import find_feature_set
from writeamp.blackbox.workload_classes import WORKLOAD_CLASSES, members
from writeamp.reproduce.bench import Bench, Findings
from writeamp.reproduce.huang2011.accuracy import Accuracy, accuracy
from writeamp.reproduce.huang2011.forms import RESTED, form_of
from writeamp.reproduce.huang2011.judged import cell
from writeamp.reproduce.huang2011.measuring import DISK, kept_in, measured
from writeamp.reproduce.huang2011.printed import SPECIFIC, SPECIFIC_DEVICES
from writeamp.reproduce.huang2011.workloads import specific
from writeamp.reproduce.items import Item


def run(bench: Bench) -> Findings:
    """Measure the three devices at reads or writes only, and score a model of each kind."""
    form = form_of(full=bench.full)
    points = specific(form.sizes, form.steps)
    items = []
    with kept_in(bench) as folder:
        for device in SPECIFIC_DEVICES:
            bench.step(f"{len(points)} workloads of one kind on {device} (Table IV)")
            found = _by_kind(measured(bench, folder, device, points, form.specific_settings))
            if device != DISK:
                left_alone = _by_kind(measured(bench, folder, device, points, RESTED))
                found = {
                    kind: {name: one.beside(left_alone[kind][name]) for name, one in ours.items()}
                    for kind, ours in found.items()
                }
            items += _of_device(device, found)
    return Findings(items)


def _by_kind(rows: pl.DataFrame) -> dict[str, dict[str, Accuracy]]:
    """Return the accuracy of each metric's model of each kind of workload, by Table IV's symbol."""
    extended = find_feature_set("extended")
    flags = members(extended.of(rows).to_numpy(), extended.names)
    return {
        kind.symbol: accuracy(rows.filter(pl.Series(of_kind)), "extended")
        for kind, of_kind in zip(WORKLOAD_CLASSES, flags, strict=True)
    }


def _of_device(device: str, found: dict[str, dict[str, Accuracy]]) -> list[Item]:
    at = SPECIFIC_DEVICES.index(device)
    items = []
    for symbol, ours in found.items():
        for metric, printed in SPECIFIC.items():
            r2, mre = (values[at] for values in printed[symbol])
            row = f"Table IV, {metric}, {device}, {symbol}"
            items += [
                cell(f"{row}: 1 - R²", 1 - r2, ours[metric], "unexplained"),
                cell(f"{row}: MRE", mre, ours[metric], "mre"),
            ]
    return items
