"""Statements on the models: fitting, splits of trees, kinds of workloads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import truediv
from typing import TypeAlias

from writeamp.learn.blackbox.features.feature_sets import find_feature_set
from writeamp_papers.huang2011.accuracy import accuracy, tree_for, values_of, vectors_of
from writeamp_papers.huang2011.device_scores import DeviceScores
from writeamp_papers.huang2011.devices import DISK, FLASH
from writeamp_papers.huang2011.readings import by_reading, combined
from writeamp_papers.huang2011.runs import METRICS, WAYS
from writeamp_papers.items import Item, at_most, compared, ordered

SINGLE = (DISK, *FLASH)
# Device whose model of medians is compared, and whose tree is drawn.
EXAMPLE = "SSD_I"
# "Similar" is within 25%.
SIMILAR = 0.25

Devices: TypeAlias = Mapping[str, DeviceScores]
_Values: TypeAlias = Mapping[str, float]


def of_fitting(device_scores: Devices) -> list[Item]:
    """Compare trees of medians, and trees not fitted to the logarithm, with the default trees."""
    example = device_scores[EXAMPLE]
    medians = accuracy(example.grid, "extended", quantile=0.5)
    items = [
        compared(
            f"Section III.D, {metric}, {EXAMPLE}: MRE by quantile regression ÷ MRE by least "
            "squares",
            1.0,
            combined(
                truediv,
                values_of(medians[metric], "mre"),
                example.measure("extended", metric, "mre"),
            ),
            SIMILAR,
            statement="P2-D-4",
        )
        for metric in METRICS
    ]
    for device in SINGLE:
        plain = accuracy(
            device_scores[device].grid, "extended", log_target=False, metrics=("latency",)
        )
        items.append(
            ordered(
                f"Section IV.A, {device}: MRE of latency, fitted to the logarithm ÷ not "
                "fitted to it",
                combined(
                    truediv,
                    device_scores[device].measure("extended", "latency", "mre"),
                    values_of(plain["latency"], "mre"),
                ),
                statement="P2-G-13",
            )
        )
    return items


def of_trees(device_scores: Devices) -> list[Item]:
    """Check whether a flash drive's tree for bandwidth splits like Fig. 8's."""
    splits = {device: _first_splits(device_scores[device]) for device in FLASH}
    items = []
    for name, level, wanted, statement in (
        ("first split", 0, "write_randomness", "P2-F8-1"),
        ("second-level splits", 1, "queue_depth", "P2-F8-2"),
    ):
        share = {
            way: sum(wanted not in splits[device][way][level] for device in FLASH) / len(FLASH)
            for way in (way_of_runs.name for way_of_runs in WAYS)
        }
        of_one = float(wanted not in splits[EXAMPLE]["short span"][level])
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


def _first_splits(scores: DeviceScores) -> dict[str, tuple[set[str], set[str]]]:
    """Return the features of the first split and of the two below it, for each way of `WAYS`."""
    names = find_feature_set("extended").names
    by_way = {}
    for way, rows in scores.grid.items():
        vectors = vectors_of(rows, "extended")
        tree = tree_for(vectors).fit(vectors, rows["bandwidth"].to_numpy()).tree_
        below = [node for node in (tree.left[0], tree.right[0]) if node >= 0]
        by_way[way] = (
            {names[tree.feature[0]]} if tree.feature[0] >= 0 else set(),
            {names[tree.feature[node]] for node in below if tree.feature[node] >= 0},
        )
    return by_way


def of_kinds(device_scores: Devices) -> list[Item]:
    """Check the statements on workload-specific models."""

    def mre(device: str, symbols: Iterable[str]) -> list[_Values]:
        of_kind = device_scores[device].kinds
        return [
            values_of(of_kind[symbol][metric], "mre") for symbol in symbols for metric in METRICS
        ]

    def extended(device: str, symbols: Sequence[str]) -> list[_Values]:
        mixed: list[_Values] = [
            device_scores[device].measure("extended", metric, "mre") for metric in METRICS
        ]
        return mixed * len(symbols)

    def largest_over(
        devices: Sequence[str], symbols: Sequence[str], others: Callable[[str], list[_Values]]
    ) -> dict[str, float]:
        """Return the largest ratio of the MREs of `symbols` on `devices` to those of `others`."""
        pairs = [zip(mre(device, symbols), others(device), strict=True) for device in devices]
        return combined(max, *(combined(truediv, *pair) for several in pairs for pair in several))

    directions = ("rd_only", "wr_only")
    others = [symbol for symbol in device_scores["SSD_I"].kinds if symbol not in directions]
    flash, every = ("SSD_I", "SSD_A"), [*directions, *others]
    return [
        ordered(
            "Section IV.B: MRE of a workload-specific model ÷ MRE of the extended one, largest",
            largest_over((DISK, *flash), every, lambda device: extended(device, every)),
            statement="P2-T4-1",
        ),
        ordered(
            "Section IV.B: MRE ÷ MRE of the extended model, six models of the flash drives, "
            "largest",
            largest_over(flash, others, lambda device: extended(device, others)),
            statement="P2-T4-5",
        ),
        ordered(
            "Section IV.B: MRE of a workload-specific model, a flash drive ÷ HDD_S, largest",
            largest_over(flash, every, lambda _: mre(DISK, every)),
            statement="P2-T4-6",
        ),
        ordered(
            "Section IV.D: MRE of rd_only models ÷ MRE of wr_only ones, largest",
            largest_over((DISK, *flash), ["rd_only"], lambda device: mre(device, ["wr_only"])),
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
            combined(max, *(error for device in flash for error in mre(device, directions))),
            0.005,
            statement="P2-T4-3",
        ),
        ordered(
            "Section IV.B: share of the flash drives' other workload-specific models with 10% MRE "
            "or more",
            combined(
                lambda *several: sum(error >= 0.1 for error in several) / len(several),
                *(error for device in flash for error in mre(device, others)),
            ),
            below=0.5,
            statement="P2-T4-4",
        ),
    ]
