"""Tables II, III, V and VI and Fig. 9: basic and extended models of one device.

The paper calls basic models bad and extended ones good. Errors of basic models are compared as
values, within 10%, because the paper measured another device of the same product. Errors of
extended models are upper bounds, to half a unit of the last printed digit. Means of the
measurements are compared within 25%.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import truediv

import polars as pl

from writeamp_papers.bench import Bench, Findings
from writeamp_papers.huang2011.device_scores import DeviceScores, score_device, table_items
from writeamp_papers.huang2011.devices import ARRAY
from writeamp_papers.huang2011.printed import BASIC, EXTENDED, Printed
from writeamp_papers.huang2011.readings import combined
from writeamp_papers.huang2011.runs import METRICS, UNITS
from writeamp_papers.items import Item, at_most, compared, fitted_to

# Relative tolerances of the errors of basic models, and of the device's mean metrics. They are wide
# because the paper measured another device of the same product.
BASIC_ERROR, _MEAN = 0.1, 0.25
# Means to which parameters were fitted: the host's time per request (SSD_I), the disk's queue, and
# the profile of SSD_A, which has no figure.
_FITTED_MEANS = {
    ("SSD_I", "throughput"),
    ("HDD_S", "latency"),
    *(("SSD_A", metric) for metric in METRICS),
}
# Half a unit of the last printed digit: of R², of MRE, and of MAE in the unit of each metric.
R2_ROUNDING, MRE_ROUNDING = 0.0005, 0.005
_MAE_ROUNDING = {"latency": 0.005, "bandwidth": 0.005, "throughput": 0.5}

# Section IV.B: "close to or higher than 60% improvements" is taken as 54% or more, so at most 46%
# of the basic model's MRE remain.
_LEFT_OF_MRE = 0.46
# "The latency tends to increase dramatically when dealing with random writes" is taken as at least
# twofold, so other writes take at most half the time.
_DRAMATIC = 0.5


def of_device(bench: Bench, device: str) -> Findings:
    """Measure a device in every way (`runs.WAYS`), and compare its values in the tables."""
    scores = score_device(bench, device)
    items = [*basic_table(device, scores), *extended_table(device, scores)]
    if device != ARRAY:
        items += _improvements(device, scores) + _random_writes(device, scores)
    if scores.kinds:
        items += table_items(device, scores.kinds)
    return Findings(items)


def basic_table(device: str, scores: DeviceScores) -> list[Item]:
    """Return items on a device's row of Table II or V, compared as values."""
    items = []
    for metric, printed, row, statement in _rows(device, BASIC, "V" if device == ARRAY else "II"):
        for name, published, measure in _cells(printed, metric):
            ours = scores.measure("basic", metric, measure)
            tolerance = BASIC_ERROR * published
            items.append(
                compared(f"{row}: {name}", published, ours, tolerance, statement=statement)
            )
        mean = _mean(row, printed, scores, metric, statement)
        items.append(fitted_to(mean) if (device, metric) in _FITTED_MEANS else mean)
    return items


def extended_table(device: str, scores: DeviceScores) -> list[Item]:
    """Return items on a device's row of Table III or VI, compared as upper bounds.

    Table III repeats the means of Table II.
    """
    items = []
    for metric, printed, row, statement in _rows(
        device, EXTENDED, "VI" if device == ARRAY else "III"
    ):
        rounding = {
            "unexplained": R2_ROUNDING,
            "mae": _MAE_ROUNDING[metric],
            "mre": MRE_ROUNDING,
        }
        for name, published, measure in _cells(printed, metric):
            process = f"MRE of a Gaussian process on unseen rows: {scores.process_mre[metric]:.3f}"
            items.append(
                at_most(
                    f"{row}: {name}",
                    published,
                    scores.measure("extended", metric, measure),
                    rounding[measure],
                    note=process if measure == "mre" else "",
                    statement=statement,
                )
            )
        if device == ARRAY:
            items.append(_mean(row, printed, scores, metric, statement))
    return items


# Id of the statement by table number; the id of a device adds a letter for the metric.
_STATEMENTS = {"II": "P2-T2", "III": "P2-T3", "V": "P2-T5", "VI": "P2-T6"}


def _rows(
    device: str, table: Mapping[str, Mapping[str, Printed]], number: str
) -> Iterator[tuple[str, Printed, str, str]]:
    """Yield each metric with a device's row of a table, the row's name, and its statement."""
    for letter, metric in zip("abc", METRICS, strict=True):
        statement = _STATEMENTS[number] + ("" if device == ARRAY else f"-{letter}")
        yield metric, table[metric][device], f"Table {number}, {metric}, {device}", statement


def _cells(printed: Printed, metric: str) -> list[tuple[str, float, str]]:
    return [
        ("1 - R²", 1 - printed.r2, "unexplained"),
        (f"MAE ({UNITS[metric]})", printed.mae, "mae"),
        ("MRE", printed.mre, "mre"),
    ]


def _mean(row: str, printed: Printed, scores: DeviceScores, metric: str, statement: str) -> Item:
    ours = scores.mean(metric)
    item = f"{row}: mean ({UNITS[metric]})"
    return compared(item, printed.mean, ours, _MEAN * printed.mean, statement=statement)


def _improvements(device: str, scores: DeviceScores) -> list[Item]:
    """Return items on the extended models' MRE divided by the basic models' (Fig. 9)."""
    return [
        at_most(
            f"Fig. 9, {metric}, {device}: extended model's MRE ÷ the basic one's",
            _LEFT_OF_MRE,
            combined(
                truediv,
                scores.measure("extended", metric, "mre"),
                scores.measure("basic", metric, "mre"),
            ),
            statement="P2-F9-1",
        )
        for metric in METRICS
    ]


def _random_writes(device: str, scores: DeviceScores) -> list[Item]:
    """Return items on the write latency of other patterns divided by that of random writes."""
    writes, random = pl.col("write_ratio") == 1, pl.col("write_randomness") == 1
    ours = combined(
        truediv,
        scores.mean("latency", writes & (pl.col("write_randomness") == 0)),
        scores.mean("latency", writes & random),
    )
    item = f"Section IV.B, {device}: latency of sequential and strided writes ÷ that of random ones"
    return [at_most(item, _DRAMATIC, ours, statement="P2-T3-12")]
