"""Summary of a fleet: how many volumes, what they write together, how they are distributed."""

from __future__ import annotations

from typing import Any

import polars as pl

from writeamp.volumes.fleet import OF_STORAGE, Fleet
from writeamp.volumes.selection import select
from writeamp.volumes.settings import PRESETS, SelectionSettings

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
_DISTRIBUTED = (
    "requests",
    "bytes_written",
    "written_set_bytes",
    "drive_writes",
    "hottest_1pct_share",
    "hottest_10pct_share",
    "median_update_interval_s",
    "sequential_share",
    "span_s",
)
_SECONDS_PER_DAY = 86400.0


def summary(fleet: Fleet, settings: SelectionSettings | None = None) -> dict[str, Any]:
    """Return what a fleet holds, as JSON types, with the keys of `writeamp volumes info --json`.

    Sums are of the volumes that are chosen. `distributions` has the quantiles of each fact over
    these volumes, the keys being those of `QUANTILES`; `presets` the number of volumes that each
    preset chooses of all. `drive_writes_per_day` are the page writes of all for each page of their
    written sets and day of the longest span.
    """
    chosen = select(fleet.volumes, settings or SelectionSettings())
    written_set = int(chosen["written_set_bytes"].sum())
    bytes_of_pages = int(chosen["page_writes"].sum()) * 4096
    days = (int(chosen["last_ns"].max()) - int(chosen["first_ns"].min())) / 1e9 / _SECONDS_PER_DAY  # type: ignore[arg-type]
    return {
        "volumes": chosen.height,
        "volumes_in_all": fleet.volumes.height,
        "requests": int(chosen["requests"].sum()),
        "reads": int(chosen["reads"].sum()),
        "writes": int(chosen["writes"].sum()),
        "bytes_read": int(chosen["bytes_read"].sum()),
        "bytes_written": int(chosen["bytes_written"].sum()),
        "written_set_bytes": written_set,
        "drive_writes": bytes_of_pages / written_set if written_set else None,
        "days": days,
        "drive_writes_per_day": bytes_of_pages / written_set / days
        if written_set and days
        else None,
        "distributions": {
            name: {
                f"{quantile:g}": chosen[name].cast(pl.Float64).quantile(quantile, "linear")
                for quantile in QUANTILES
            }
            for name in _DISTRIBUTED
        },
        "presets": {
            name: fleet.volumes.filter(pl.sql_expr(one.where)).height
            for name, one in PRESETS.items()
        },
        "inputs": fleet.mark["inputs"],
        "folder": str(fleet.folder),
    }


def facts_table(fleet: Fleet, settings: SelectionSettings | None = None) -> pl.DataFrame:
    """Return the facts of the chosen volumes, a row each."""
    return select(fleet.volumes, settings or SelectionSettings()).drop(OF_STORAGE)
