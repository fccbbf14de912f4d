"""The paper's devices, and what was measured of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from writeamp.blackbox.designs import once_each
from writeamp.blackbox.ledger import Ledger
from writeamp.blackbox.rows import Account
from writeamp.blackbox.space import CHARACTERISTICS, WorkloadPoint
from writeamp.blackbox.targets.simulated import SimulatedSettings, SimulatedTarget
from writeamp.errors import WriteampError
from writeamp.reproduce.bench import Bench

# Section IV.A; Array_I is a RAID-0 of two SSD_I.
DEVICES = {
    "HDD_S": "spinpoint-m7",
    "SSD_I": "x25-m",
    "SSD_A": "apex",
    "SSD_S": "samsung-slc",
    "Array_I": "raid0:x25-m,x25-m",
}
DISK = "HDD_S"


def kept_in(bench: Bench) -> AbstractContextManager[str | Path]:
    """Give the folder of the measurements: the one to resume in, or one for this time only."""
    return TemporaryDirectory() if bench.resume is None else nullcontext(bench.resume)


def measured(
    bench: Bench,
    folder: str | Path,
    device: str,
    points: Iterable[WorkloadPoint],
    settings: SimulatedSettings,
    *,
    changes: Mapping[str, bool] | None = None,
) -> pl.DataFrame:
    """Return a row for each of the points, in their order, also of those that are the same.

    Measurements that the folder has are not made again.

    Args:
        bench: who runs them.
        folder: where measurements are kept.
        device: one of `DEVICES`.
        points: what is run.
        settings: how precisely.
        changes: what is set otherwise than in the device's profile.

    Raises:
        WriteampError: a point cannot be measured.
    """
    asked = list(points)
    target = SimulatedTarget(
        DEVICES[device], changes=changes, settings=settings, runner=bench.runner
    )
    account = Account(target)
    with Ledger.writing(Path(folder) / f"{device}.parquet") as ledger:
        known = {row["hash"] for row in ledger.rows}
        todo = [one for one in once_each(asked) if account.hash_of(one) not in known]
        if todo:
            target.prepare(is_prepared=False)
        for outcome in target.measured(todo):
            if outcome.error is not None:
                raise WriteampError(f"{device}, {outcome.point.spec}: {outcome.error}")
            ledger.add(account.row(outcome, "paper"))
        table = ledger.table()
    order = pl.DataFrame({"hash": [account.hash_of(one) for one in asked]})
    rows = order.join(table, on="hash", how="left", maintain_order="left")
    return rows.select("workload", *CHARACTERISTICS, *MEASURED)


# Column of each metric, its unit in the paper, and how many of ours make one of these.
METRICS = {
    "latency": ("latency_us", "ms", 1000.0),
    "bandwidth": ("bandwidth_mb_s", "MB/s", 1.0),
    "throughput": ("throughput_iops", "IO/s", 1.0),
}
MEASURED = tuple(column for column, _, _ in METRICS.values())


def means(rows: pl.DataFrame) -> dict[str, float]:
    """Return the mean of each metric in the paper's units."""
    return {
        metric: float(rows[column].to_numpy().mean()) / unit
        for metric, (column, _, unit) in METRICS.items()
    }
