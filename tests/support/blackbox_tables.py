"""Made-up drives whose performance is known, for the tests of black-box models."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

F64 = npt.NDArray[np.float64]

# The grid of paper 2, section IV.A.
_KIB = 1024
GRID = {
    "write_ratio": (0, 0.25, 0.5, 0.75, 1),
    "queue_depth": (1, 4, 16, 64),
    "write_size_bytes": tuple(_KIB * 4**power for power in range(5)),
    "read_size_bytes": tuple(_KIB * 4**power for power in range(5)),
    "write_randomness": (0, 0.5, 1),
    "read_randomness": (0, 0.5, 1),
    "write_stride_bytes": (0, _KIB, 64 * _KIB, 128 * _KIB, 256 * _KIB),
    "read_stride_bytes": (0, _KIB, 64 * _KIB, 128 * _KIB, 256 * _KIB),
}


def latency_us(table: pl.DataFrame) -> F64:
    """Return the latency of a drive that is slow at random writes and serves ten at once."""
    column = {name: table[name].to_numpy() for name in GRID}
    write = 60 + column["write_size_bytes"] / 80
    write += np.where(column["write_randomness"] > 0, 200 + column["write_size_bytes"] / 40, 0)
    write += np.where(column["write_size_bytes"] < 4096, 150, 0)
    read = 90 + column["read_size_bytes"] / 250
    read += np.where(column["read_size_bytes"] < 65536, 40 * column["read_randomness"], 0)
    ratio, depth = column["write_ratio"], column["queue_depth"]
    return (ratio * write + (1 - ratio) * read) * np.maximum(depth / 10, 1)


def mean_size_bytes(table: pl.DataFrame) -> pl.Series:
    """Return the mean size of a request."""
    writes = table["write_ratio"]
    return writes * table["write_size_bytes"] + (1 - writes) * table["read_size_bytes"]


def measured(rows: int, *, seed: int = 0, noise: float = 0.02) -> pl.DataFrame:
    """Return measurements of that drive at random points of the grid."""
    rng = np.random.default_rng(seed)
    table = pl.DataFrame({name: rng.choice(values, rows) for name, values in GRID.items()})
    latency = latency_us(table.cast(pl.Float64)) * np.exp(noise * rng.standard_normal(rows))
    return table.cast(pl.Float64).with_columns(
        latency_us=pl.Series(latency),
        throughput_iops=table["queue_depth"] / pl.Series(latency) * 1e6,
    )


def related(rows: int, *, seed: int = 0, slowness: float = 1.0) -> pl.DataFrame:
    """Return measurements of all targets, of which three follow Little's law exactly."""
    table = measured(rows, seed=seed)
    latency = table["latency_us"] * slowness
    throughput = table["queue_depth"] / latency * 1e6
    is_written = table["write_ratio"] > 0
    noise = np.random.default_rng(seed + 1).uniform(0.99, 1.01, rows)
    wa = (1 + table["write_randomness"] * (1 + table["write_ratio"])) * noise
    return table.with_columns(
        latency_us=latency,
        throughput_iops=throughput,
        bandwidth_mb_s=throughput * mean_size_bytes(table) / 1e6,
        wa=pl.when(is_written).then(wa),
    )
