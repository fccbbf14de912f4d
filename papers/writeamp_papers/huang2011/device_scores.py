"""Measurements of a device, and scores of its basic and extended models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from writeamp_papers.bench import Bench
from writeamp_papers.huang2011.accuracy import Scores, accuracy, process_mre, values_of
from writeamp_papers.huang2011.campaign import Runs, runs_of
from writeamp_papers.huang2011.printed import SPECIFIC_DEVICES
from writeamp_papers.huang2011.readings import of_runs
from writeamp_papers.huang2011.runs import METRICS
from writeamp_papers.huang2011.specific import by_kind


@dataclass(frozen=True)
class DeviceScores:
    """Measurements of a device, and errors of its models.

    Attributes:
        runs: by the way of the runs.
        basic, extended: the scores of each metric's model, by reading.
        kinds: the scores of workload-specific models, of the devices that have any.
        process_mre: of each metric, a Gaussian process's on rows of the default reading that it has
            not seen.
    """

    runs: Mapping[str, Runs]
    basic: Mapping[str, Scores]
    extended: Mapping[str, Scores]
    kinds: Mapping[str, Mapping[str, Scores]]
    process_mre: Mapping[str, float]

    @property
    def grid(self) -> dict[str, pl.DataFrame]:
        """Measurements of the grid by the way of the runs."""
        return {way: runs.grid for way, runs in self.runs.items()}

    def mean(self, metric: str, condition: pl.Expr | None = None) -> dict[str, float]:
        """Return the mean of a metric over the grid under each reading, or over a part of it."""
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
        """Return a measure of the "basic" or the "extended" model under each reading."""
        return values_of((self.basic if features == "basic" else self.extended)[metric], measure)


# Models are fitted once in a process; several tables and sentences are about the same ones.
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
