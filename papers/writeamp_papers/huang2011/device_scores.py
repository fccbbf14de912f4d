"""Measurements of a device, and scores of its basic and extended models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from writeamp.learn.blackbox.features.feature_sets import find_feature_set
from writeamp_papers.bench import Bench
from writeamp_papers.huang2011.accuracy import Scores, accuracy, process_mre, values_of, vectors_of
from writeamp_papers.huang2011.campaign import Runs, runs_of
from writeamp_papers.huang2011.printed import SPECIFIC, SPECIFIC_DEVICES
from writeamp_papers.huang2011.readings import of_runs
from writeamp_papers.huang2011.runs import METRICS
from writeamp_papers.items import Item, at_most
from writeamp_papers.learners.workload_classes import WORKLOAD_CLASSES, members

# Largest rounding errors of printed values. An R² printed as "1" is taken to have three decimals
# like the others. A mean relative error (MRE) below 1% is printed with one more digit.
_R2_ROUNDING, _MRE_ROUNDING, _SMALL_MRE_ROUNDING = 0.0005, 0.005, 0.0005
_SMALL_MRE = 0.01


def by_kind(rows: Mapping[str, pl.DataFrame]) -> dict[str, dict[str, Scores]]:
    """Return the models' scores for each kind of workload, by the kind's symbol in Table IV.

    Args:
        rows: runs of the workload-specific models' grid, by name of the way of making runs.
    """
    names = find_feature_set("extended").names
    flags = {way: members(vectors_of(frame, "extended"), names) for way, frame in rows.items()}
    return {
        kind.symbol: accuracy(
            {way: frame.filter(pl.Series(flags[way][at])) for way, frame in rows.items()},
            "extended",
        )
        for at, kind in enumerate(WORKLOAD_CLASSES)
    }


def table_items(device: str, scores_by_kind: Mapping[str, Mapping[str, Scores]]) -> list[Item]:
    """Return the items of a device in Table IV, from its models' scores by kind."""
    at, items = SPECIFIC_DEVICES.index(device), []
    for symbol, of_kind in scores_by_kind.items():
        for number, (metric, printed) in enumerate(SPECIFIC.items()):
            r2, mre = (values[at] for values in printed[symbol])
            row, statement = f"Table IV, {metric}, {device}, {symbol}", f"P2-T4-{'abc'[number]}"
            rounding = _SMALL_MRE_ROUNDING if mre < _SMALL_MRE else _MRE_ROUNDING
            for name, published, measure, half in (
                ("1 - R²", 1 - r2, "unexplained", _R2_ROUNDING),
                ("MRE", mre, "mre", rounding),
            ):
                ours = values_of(of_kind[metric], measure)
                items.append(at_most(f"{row}: {name}", published, ours, half, statement=statement))
    return items


@dataclass(frozen=True)
class DeviceScores:
    """Measurements of a device, and errors of its models.

    Attributes:
        runs: measurements by name of the way of making runs.
        basic, extended: scores of each metric's model, by reading (interpretation of the paper).
        kinds: scores of workload-specific models, for devices that have them.
        process_mre: mean relative error of a Gaussian process per metric, on rows that it was not
            fitted to, under the default reading.
    """

    runs: Mapping[str, Runs]
    basic: Mapping[str, Scores]
    extended: Mapping[str, Scores]
    kinds: Mapping[str, Mapping[str, Scores]]
    process_mre: Mapping[str, float]

    @property
    def grid(self) -> dict[str, pl.DataFrame]:
        """Measurements of the paper's grid, by name of the way of making runs."""
        return {way: runs.grid for way, runs in self.runs.items()}

    def mean(self, metric: str, condition: pl.Expr | None = None) -> dict[str, float]:
        """Return the mean of a metric over the grid, or a part of it, under each reading."""
        return of_runs(
            {
                way: float((rows if condition is None else rows.filter(condition))[metric].mean())  # type: ignore[arg-type]
                for way, rows in self.grid.items()
            }
        )

    def curve(self, name: str, metric: str = "latency") -> dict[str, list[float]]:
        """Return a metric along a curve (`workloads.curves`) under each reading."""
        return of_runs(
            {way: runs.curves[name][metric].to_list() for way, runs in self.runs.items()}
        )

    def measure(self, features: str, metric: str, measure: str) -> dict[str, float]:
        """Return a measure of the "basic" or "extended" model under each reading."""
        return values_of((self.basic if features == "basic" else self.extended)[metric], measure)


# Models are fitted once per process, because several tables and statements use the same ones.
_KNOWN: dict[tuple[str, int], DeviceScores] = {}


def score_device(bench: Bench, device: str) -> DeviceScores:
    """Return a device's measurements and the scores of its models.

    Raises:
        WriteampError: a workload cannot be run.
    """
    runs = runs_of(bench, device)
    key = (device, hash(tuple(runs["aged"].grid["latency"].to_list())))
    if key not in _KNOWN:
        bench.step(f"models of {device}")
        grid = {way: of_way.grid for way, of_way in runs.items()}
        _KNOWN[key] = DeviceScores(
            runs,
            accuracy(grid, "basic"),
            accuracy(grid, "extended"),
            by_kind({way: of_way.specific for way, of_way in runs.items()})
            if device in SPECIFIC_DEVICES
            else {},
            {metric: process_mre(grid["aged"], metric) for metric in METRICS},
        )
    return _KNOWN[key]
