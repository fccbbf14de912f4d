"""Table IV: models of one kind of workload each, on a grid of their own."""

from __future__ import annotations

import polars as pl

from writeamp.blackbox.features.registry import find_feature_set
from writeamp.blackbox.workload_classes import WORKLOAD_CLASSES, members
from writeamp.reproduce.bench import Bench, Findings
from writeamp.reproduce.huang2011.accuracy import accuracy
from writeamp.reproduce.huang2011.forms import form_of
from writeamp.reproduce.huang2011.judged import cell
from writeamp.reproduce.huang2011.measuring import kept_in, measured
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
            rows = measured(bench, folder, device, points, form.specific_settings)
            items += _of_device(device, rows)
    return Findings(items)


def _of_device(device: str, rows: pl.DataFrame) -> list[Item]:
    extended = find_feature_set("extended")
    flags = members(extended.of(rows).to_numpy(), extended.names)
    at = SPECIFIC_DEVICES.index(device)
    items = []
    for kind, of_kind in zip(WORKLOAD_CLASSES, flags, strict=True):
        ours = accuracy(rows.filter(pl.Series(of_kind)), "extended")
        for metric, printed in SPECIFIC.items():
            r2, mre = (values[at] for values in printed[kind.symbol])
            row = f"Table IV, {metric}, {device}, {kind.symbol}"
            items += [
                cell(f"{row}: 1 - R²", 1 - r2, ours[metric], "unexplained"),
                cell(f"{row}: MRE", mre, ours[metric], "mre"),
            ]
    return items
