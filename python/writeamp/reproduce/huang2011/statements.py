"""What the text says about Tables II to VI and Figs. 8 to 10 across devices (section IV)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from writeamp.blackbox.features.registry import find_feature_set
from writeamp.plots import FigureSpec
from writeamp.reproduce.bench import Bench, Findings
from writeamp.reproduce.huang2011 import figures
from writeamp.reproduce.huang2011.accuracy import accuracy, tree_for, values_of, vectors_of
from writeamp.reproduce.huang2011.devices import ARRAY, DEVICES, DISK, FLASH
from writeamp.reproduce.huang2011.example_tree import example_tree
from writeamp.reproduce.huang2011.graded import Graded, graded
from writeamp.reproduce.huang2011.readings import by_reading, combined
from writeamp.reproduce.huang2011.runs import METRICS, WAYS
from writeamp.reproduce.huang2011.tables import BASIC_ERROR
from writeamp.reproduce.huang2011.workloads import cells
from writeamp.reproduce.items import Erratum, Item, at_most, compared, ordered, typed_in

_SINGLE = (DISK, *FLASH)
_EXAMPLE = "SSD_I"
_SIMILAR = 0.25

_Devices = Mapping[str, Graded]
_Values = Mapping[str, float]


def run(bench: Bench) -> Findings:
    """Judge the sentences; what they are about was measured before."""
    found = {device: graded(bench, device) for device in DEVICES}
    bench.step("sentences on the tables")
    items = [
        *_of_basic(found),
        *_of_extended(found),
        *_of_gains(found),
        *_of_array(found),
        *_of_performance(found),
        *_of_fitting(found),
        *_of_trees(found),
        *_of_kinds(found),
        typed_in(
            compared(
                "Section IV.A: runs of the grid", 12_000, len(cells()), 3000, statement="P2-G-9"
            )
        ),
    ]
    pictures: dict[str, FigureSpec] = {}
    if bench.figures:
        pictures["fig8-tree"] = example_tree(found[_EXAMPLE].runs["aged"].grid, _EXAMPLE)
        pictures["fig9-10-improvements"] = figures.improvements(found)
    return Findings(items, pictures)


def _of_basic(found: _Devices) -> list[Item]:
    unexplained = _all(found, FLASH, "basic", "unexplained")
    mre = _all(found, FLASH, "basic", "mre")
    throughput = {one: found[one].measure("basic", "throughput", "mre") for one in _SINGLE}
    return [
        compared(
            "Section IV.B: largest 1 - R² of a flash drive's basic models",
            0.541,
            combined(max, *unexplained),
            BASIC_ERROR * 0.541,
            statement="P2-T2-4",
        ),
        compared(
            "Section IV.B: largest MRE of a flash drive's basic models",
            0.86,
            combined(max, *mre),
            BASIC_ERROR * 0.86,
            statement="P2-T2-5",
        ),
        ordered(
            "Section IV.B: 50% over the MRE of SSD_I's basic model of throughput",
            combined(lambda one: 0.5 / one, throughput["SSD_I"]),
            statement="P2-T2-6",
        ),
        ordered(
            "Section IV.B: MRE of the basic model of throughput, HDD_S over SSD_I",
            combined(_ratio, throughput[DISK], throughput["SSD_I"]),
            statement="P2-T2-7",
        ),
        ordered(
            "Section I: MRE of basic models, flash drives over HDD_S",
            combined(max, *_over_disk(found, FLASH, "basic", "mre")),
            statement="P2-I-1",
        ),
    ]


def _of_extended(found: _Devices) -> list[Item]:
    items = [
        ordered(
            "Section IV.B: MRE of an extended model over that of the basic one, at most",
            combined(
                max,
                *(
                    combined(_ratio, extended, basic)
                    for extended, basic in zip(
                        _all(found, _SINGLE, "extended", "mre"),
                        _all(found, _SINGLE, "basic", "mre"),
                        strict=True,
                    )
                ),
            ),
            statement="P2-T3-1",
        ),
        at_most(
            "Abstract: largest MRE of a flash drive's extended models",
            0.20,
            combined(max, *_all(found, FLASH, "extended", "mre")),
            0.005,
            statement="P2-A-2",
        ),
        ordered(
            "Section IV.B: share of the flash drives' extended models with R² below 0.9",
            combined(
                lambda *left: sum(one > 0.1 for one in left) / len(left),
                *_all(found, FLASH, "extended", "unexplained"),
            ),
            below=0.5,
            statement="P2-T3-7",
        ),
        ordered(
            "Section IV.B: errors of extended models, SSD_I over the next best device",
            combined(
                max,
                *(
                    combined(
                        lambda mine, *others: mine / min(others),
                        found["SSD_I"].measure("extended", metric, measure),
                        *(
                            found[one].measure("extended", metric, measure)
                            for one in _SINGLE
                            if one != "SSD_I"
                        ),
                    )
                    for metric in METRICS
                    for measure in ("mre", "unexplained")
                ),
            ),
            statement="P2-T3-10",
        ),
        ordered(
            "Section IV.B: mean MRE of extended models, other metrics over latency",
            combined(
                lambda latency, *others: max(others) / latency,
                *(
                    combined(
                        lambda *several: sum(several) / len(several),
                        *(found[one].measure("extended", metric, "mre") for one in _SINGLE),
                    )
                    for metric in METRICS
                ),
            ),
            statement="P2-T3-11",
        ),
    ]
    for at, metric in enumerate(METRICS):
        for name, measure in (("MRE", "mre"), ("1 - R²", "unexplained")):
            items.append(
                ordered(
                    f"Section IV.B, {metric}: largest {name} of a flash drive's extended model "
                    "over the disk's",
                    combined(
                        max,
                        *_over_disk(found, FLASH, "extended", measure)[at :: len(METRICS)],
                    ),
                    statement="P2-T3-5, P2-T3-8, P2-A-1",
                )
            )
    return items


def _of_gains(found: _Devices) -> list[Item]:
    gains = {one: found_gains(found[one]) for one in _SINGLE}
    return [
        ordered(
            "Section IV.B: 50% over the largest gain of R² of a flash drive",
            combined(
                lambda *several: _over(0.5, max(several)),
                *(gains[one][metric] for one in FLASH for metric in METRICS),
            ),
            statement="P2-T3-6",
        ),
        compared(
            "Fig. 9, SSD_I: largest of the extended models' MREs over the basic ones'",
            0.2,
            combined(
                max,
                *(
                    combined(
                        _ratio,
                        found["SSD_I"].measure("extended", metric, "mre"),
                        found["SSD_I"].measure("basic", metric, "mre"),
                    )
                    for metric in METRICS
                ),
            ),
            0.05,
            statement="P2-F9-2",
        ),
        ordered(
            "Fig. 10, latency: gain of R² of SSD_A or HDD_S over that of SSD_I and SSD_S",
            combined(
                lambda i, s, a, d: _over(max(a, d), min(i, s)),
                *(gains[one]["latency"] for one in ("SSD_I", "SSD_S", "SSD_A", DISK)),
            ),
            statement="P2-F10-2",
        ),
        at_most(
            "Fig. 10, latency, SSD_A: gain of R²",
            0.25,
            gains["SSD_A"]["latency"],
            statement="P2-F10-3",
        ),
    ]


def found_gains(found: Graded) -> dict[str, dict[str, float]]:
    """Return by how much of the basic model's R² the extended one's is larger, by metric."""
    return {
        metric: combined(
            lambda extended, basic: extended / basic - 1,
            found.measure("extended", metric, "r2"),
            found.measure("basic", metric, "r2"),
        )
        for metric in METRICS
    }


def _of_array(found: _Devices) -> list[Item]:
    array, single = found[ARRAY], found["SSD_I"]
    items = [
        ordered(
            f"Section IV.C, {metric}: MRE of the extended model, SSD_I over Array_I",
            combined(
                _ratio,
                single.measure("extended", metric, "mre"),
                array.measure("extended", metric, "mre"),
            ),
            statement="P2-T6-2",
        )
        for metric in METRICS
    ]
    items += [
        ordered(
            f"Section IV.C: mean {metric} of SSD_I over that of Array_I",
            combined(_ratio, single.mean(metric), array.mean(metric)),
            statement="P2-T6-4",
        )
        for metric in ("bandwidth", "throughput")
    ]
    basic = [
        combined(_ratio, array.measure("basic", m, "mre"), single.measure("basic", m, "mre"))
        for m in METRICS
    ]
    falls = [
        combined(
            lambda extended, before: 1 - extended / before,
            array.measure("extended", m, "mre"),
            array.measure("basic", m, "mre"),
        )
        for m in METRICS
    ]
    return [
        *items,
        compared(
            "Section IV.C: MRE of basic models, Array_I over SSD_I, the furthest from 1",
            1.0,
            combined(lambda *several: max(several, key=lambda one: abs(one - 1)), *basic),
            _SIMILAR,
            statement="P2-T5-1",
        ),
        compared(
            "Section IV.C, Array_I: fall of MRE from basic to extended models, mean of the metrics",
            0.3,
            combined(lambda *several: sum(several) / len(several), *falls),
            0.075,
            erratum=Erratum(
                0.622,
                0.25 * 0.622,
                "Tables V and VI have falls of 61.0, 58.3 and 67.3%; 36, 35 and 35 are points",
            ),
            statement="P2-T6-3",
        ),
    ]


def _of_performance(found: _Devices) -> list[Item]:
    items = [
        ordered(
            f"Section II.B, {device}: mean latency of reads over that of writes",
            combined(
                _ratio,
                found[device].mean("latency", pl.col("write_ratio") == 0),
                found[device].mean("latency", pl.col("write_ratio") == 1),
            ),
            statement="P2-B-6",
        )
        for device in FLASH
    ]
    in_order = {
        one: [found[one].curve(f"sequential, {direction}") for direction in ("read", "write")]
        for one in _SINGLE
    }
    for device in FLASH:
        items.append(
            ordered(
                f"Section II.B, {device}: latency of 256 KiB in order over the disk's, reads or "
                "writes",
                combined(
                    lambda a, b, c, d: max(a[-1] / c[-1], b[-1] / d[-1]),
                    *in_order[device],
                    *in_order[DISK],
                ),
                note="bandwidth is one over it",
                statement="P2-B-7",
            )
        )
    bandwidth = {one: found[one].mean("bandwidth") for one in FLASH}
    return [
        *items,
        ordered(
            "Section II.B: mean bandwidth of SSD_S over that of SSD_I or SSD_A",
            combined(
                lambda s, i, a: s / min(i, a),
                bandwidth["SSD_S"],
                bandwidth["SSD_I"],
                bandwidth["SSD_A"],
            ),
            statement="P2-B-8",
        ),
    ]


def _of_fitting(found: _Devices) -> list[Item]:
    """Compare trees of medians, and trees that are not fitted to the logarithm, with ours."""
    one = found[_EXAMPLE]
    medians = accuracy(one.grid, "extended", quantile=0.5)
    items = [
        compared(
            f"Section III.D, {metric}, {_EXAMPLE}: MRE by quantile regression over that by least "
            "squares",
            1.0,
            combined(
                _ratio, values_of(medians[metric], "mre"), one.measure("extended", metric, "mre")
            ),
            _SIMILAR,
            statement="P2-D-4",
        )
        for metric in METRICS
    ]
    for device in _SINGLE:
        plain = accuracy(found[device].grid, "extended", log_target=False, metrics=("latency",))
        items.append(
            ordered(
                f"Section IV.A, {device}: MRE of latency, fitted to the logarithm over not",
                combined(
                    _ratio,
                    found[device].measure("extended", "latency", "mre"),
                    values_of(plain["latency"], "mre"),
                ),
                statement="P2-G-13",
            )
        )
    return items


def _of_trees(found: _Devices) -> list[Item]:
    """Look whether a flash drive's tree for bandwidth is split as Fig. 8's is."""
    splits = {device: _first_splits(found[device]) for device in FLASH}
    items = []
    for name, level, wanted, statement in (
        ("first split", 0, "write_randomness", "P2-F8-1"),
        ("second-level splits", 1, "queue_depth", "P2-F8-2"),
    ):
        share = {
            way: sum(wanted not in splits[device][way][level] for device in FLASH) / len(FLASH)
            for way in (one.name for one in WAYS)
        }
        of_one = float(wanted not in splits[_EXAMPLE]["short span"][level])
        items.append(
            ordered(
                f"Fig. 8: share of the flash drives without {wanted} in the {name} for bandwidth",
                by_reading(
                    aged=share["aged"],
                    fresh=share["fresh"],
                    held_out=share["aged"],
                    short_span=of_one,
                ),
                statement=statement,
            )
        )
    return items


def _first_splits(found: Graded) -> dict[str, tuple[set[str], set[str]]]:
    """Return the variables of the first split and of the two below it, by the way of the runs."""
    names = find_feature_set("extended").names
    by_way = {}
    for way, rows in found.grid.items():
        vectors = vectors_of(rows, "extended")
        tree = tree_for(vectors).fit(vectors, rows["bandwidth"].to_numpy()).tree_
        below = [one for one in (tree.left[0], tree.right[0]) if one >= 0]
        by_way[way] = (
            {names[tree.feature[0]]} if tree.feature[0] >= 0 else set(),
            {names[tree.feature[one]] for one in below if tree.feature[one] >= 0},
        )
    return by_way


def _of_kinds(found: _Devices) -> list[Item]:
    """Judge what the text says of the workload-specific models."""

    def mre(device: str, symbols: Iterable[str]) -> list[_Values]:
        of_kind = found[device].kinds
        return [
            values_of(of_kind[symbol][metric], "mre") for symbol in symbols for metric in METRICS
        ]

    def extended(device: str, symbols: Sequence[str]) -> list[_Values]:
        mixed: list[_Values] = [
            found[device].measure("extended", metric, "mre") for metric in METRICS
        ]
        return mixed * len(symbols)

    directions = ("rd_only", "wr_only")
    others = [symbol for symbol in found["SSD_I"].kinds if symbol not in directions]
    flash, every = ("SSD_I", "SSD_A"), [*directions, *others]
    return [
        ordered(
            "Section IV.B: MRE of a workload-specific model over that of the extended one, at most",
            combined(
                max,
                *(
                    combined(_ratio, mine, mixed)
                    for device in (DISK, *flash)
                    for mine, mixed in zip(mre(device, every), extended(device, every), strict=True)
                ),
            ),
            statement="P2-T4-1",
        ),
        ordered(
            "Section IV.B: the same of the flash drives' six models of one kind",
            combined(
                max,
                *(
                    combined(_ratio, mine, mixed)
                    for device in flash
                    for mine, mixed in zip(
                        mre(device, others), extended(device, others), strict=True
                    )
                ),
            ),
            statement="P2-T4-5",
        ),
        ordered(
            "Section IV.B: MRE of a workload-specific model, a flash drive over HDD_S, at most",
            combined(
                max,
                *(
                    combined(_ratio, mine, disk)
                    for device in flash
                    for mine, disk in zip(mre(device, every), mre(DISK, every), strict=True)
                ),
            ),
            statement="P2-T4-6",
        ),
        ordered(
            "Section IV.D: MRE of rd_only models over wr_only ones, at most",
            combined(
                max,
                *(
                    combined(_ratio, reads, writes)
                    for device in (DISK, *flash)
                    for reads, writes in zip(
                        mre(device, ["rd_only"]), mre(device, ["wr_only"]), strict=True
                    )
                ),
            ),
            statement="P2-T7-6",
        ),
        at_most(
            "Section I: least MRE of SSD_A's workload-specific models",
            0.01,
            combined(min, *mre("SSD_A", every)),
            statement="P2-I-5",
        ),
        at_most(
            "Section IV.B: largest MRE of a flash drive's rd_only and wr_only models",
            0.07,
            combined(max, *(one for device in flash for one in mre(device, directions))),
            0.005,
            statement="P2-T4-3",
        ),
        ordered(
            "Section IV.B: share of the flash drives' other workload-specific models with 10% MRE "
            "or more",
            combined(
                lambda *several: sum(one >= 0.1 for one in several) / len(several),
                *(one for device in flash for one in mre(device, others)),
            ),
            below=0.5,
            statement="P2-T4-4",
        ),
    ]


def _all(found: _Devices, devices: Sequence[str], features: str, measure: str) -> list[_Values]:
    return [
        found[device].measure(features, metric, measure) for device in devices for metric in METRICS
    ]


def _over_disk(
    found: _Devices, devices: Sequence[str], features: str, measure: str
) -> list[_Values]:
    return [
        combined(
            _ratio,
            found[device].measure(features, metric, measure),
            found[DISK].measure(features, metric, measure),
        )
        for device in devices
        for metric in METRICS
    ]


def _over(one: float, other: float) -> float:
    """Return a ratio to a gain, infinite if nothing was gained."""
    return one / other if other > 0 else math.inf


def _ratio(one: float, other: float) -> float:
    return one / other
