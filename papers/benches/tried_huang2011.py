"""Changes tried to bring the errors of paper 2's basic models (Tables II, V) to the print.

Prints how many of a device's nine errors match under the default reading: as they are, with noise
in each run, and with sequential requests merged by the host.
Run `.venv/bin/python papers/benches/tried_huang2011.py FOLDER`, where FOLDER has the measurements
of `writeamp reproduce huang2011 --resume FOLDER`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.learn.blackbox.predictions import score
from writeamp_papers.bench import Bench
from writeamp_papers.huang2011.accuracy import tree_for, value_of, vectors_of
from writeamp_papers.huang2011.campaign import runs_of
from writeamp_papers.huang2011.devices import DEVICES
from writeamp_papers.huang2011.printed import BASIC
from writeamp_papers.huang2011.runs import METRICS
from writeamp_papers.huang2011.tables import BASIC_ERROR

_NOISES = (0.06, 0.15)
# Largest request that Linux 2.6 merges to.
_MERGED_BYTES = 512 << 10
_MIB = 1 << 20


def _merged(rows: pl.DataFrame) -> pl.DataFrame:
    """Return runs with the waiting requests of sequential workloads merged, at no further cost.

    Their bandwidth is at most the largest of all sequential workloads.
    """
    share = pl.col("write_ratio")
    size = share * pl.col("write_size_bytes") + (1 - share) * pl.col("read_size_bytes")
    names = [
        f"{way}_{what}" for way in ("write", "read") for what in ("randomness", "stride_bytes")
    ]
    sequential = pl.sum_horizontal(names) == 0
    limit = pl.col("bandwidth").filter(sequential).max() / pl.col("bandwidth")
    merged = pl.min_horizontal("queue_depth", _MERGED_BYTES / size, limit)
    factor = pl.when(sequential).then(pl.max_horizontal(merged, 1.0)).otherwise(1.0)
    return rows.with_columns(
        pl.col("latency") / factor, pl.col("bandwidth") * factor, pl.col("throughput") * factor
    )


def _noisy(rows: pl.DataFrame, noise: float) -> pl.DataFrame:
    """Return runs whose metrics are multiplied by log-normal noise, each for itself."""
    draws = np.random.default_rng(7)
    return rows.with_columns(
        pl.col(metric) * pl.Series(draws.lognormal(0, noise, rows.height)) for metric in METRICS
    )


def _show(device: str, name: str, rows: pl.DataFrame, vectors: npt.NDArray[np.float64]) -> None:
    """Print the means, the errors of the basic models and how many of them match."""
    texts, matches = [], 0
    for metric in METRICS:
        values, printed = rows[metric].to_numpy(), BASIC[metric][device]
        ours = score(metric, values, tree_for(vectors).fit(vectors, values).predict(vectors))
        pairs = [
            (value_of(ours, "unexplained"), 1 - printed.r2),
            (ours.mae, printed.mae),
            (ours.mre, printed.mre),
        ]
        matches += sum(abs(value - print_) <= BASIC_ERROR * print_ for value, print_ in pairs)
        errors = ", ".join(f"{value:.3g} ({print_:.3g})" for value, print_ in pairs)
        texts.append(f"{metric} mean {values.mean():.4g} ({printed.mean:g}), errors {errors}")
    print(f"{device}, {name}: {matches} of 9; {'; '.join(texts)}", flush=True)


def main() -> None:
    """Print each change for each device."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="saved measurements")
    bench = Bench(full=False, resume=parser.parse_args().folder)
    for device in DEVICES:
        rows = runs_of(bench, device)["aged"].grid
        usual = vectors_of(rows, "basic")
        _show(device, "as it is", rows, usual)
        for noise in _NOISES:
            _show(device, f"noise of {noise:.0%}", _noisy(rows, noise), usual)
        _show(device, "merged requests", _merged(rows), usual)


if __name__ == "__main__":
    main()
