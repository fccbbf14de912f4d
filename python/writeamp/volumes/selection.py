"""Selection of volumes of a fleet, and statistics of the selected ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from writeamp.errors import WriteampError
from writeamp.text import one_line
from writeamp.volumes.fleet import OF_STORAGE, Fleet
from writeamp.volumes.settings import PRESETS, SelectionSettings


def select(table: pl.DataFrame, settings: SelectionSettings) -> pl.DataFrame:
    """Return the rows of the selected volumes, in their order.

    Args:
        table: table of the fleet's volumes.
        settings: condition, preset (rule of a paper) and sample size; a volume must meet all
            conditions that are given.

    Raises:
        WriteampError: the condition is invalid, or too few volumes meet it for the sample.
    """
    chosen = table
    for condition in (settings.preset and PRESETS[settings.preset].where, settings.where):
        if condition is not None:
            chosen = _filtered(chosen, condition)
    if chosen.is_empty():
        raise WriteampError(
            f"no volume of {table.height} meets {settings.words}; `writeamp volumes info` shows "
            "the distribution of each column over all volumes"
        )
    if settings.sample is None:
        return chosen
    return _sample(chosen, settings.sample, settings.sample_seed)


def _filtered(table: pl.DataFrame, condition: str) -> pl.DataFrame:
    names = [name for name in table.columns if name not in OF_STORAGE]
    try:
        is_chosen = table.select(pl.sql_expr(condition).alias("is_chosen"))["is_chosen"]
        if is_chosen.dtype != pl.Boolean or len(is_chosen) != table.height:
            raise WriteampError(f"it is {is_chosen.dtype}, but must be true or false per volume")
        return table.filter(is_chosen)
    except (WriteampError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise WriteampError(
            f"where is {condition!r}, which is not a valid condition on volumes "
            f"({one_line(error).partition(';')[0]}); write for example 'drive_writes > 2', with "
            f"the columns {', '.join(names)}"
        ) from None


def _sample(table: pl.DataFrame, size: int, seed: int) -> pl.DataFrame:
    """Return a sample spread evenly over page writes and drive writes, in order of the table.

    The volumes are sorted by tenths of page writes, then by drive writes. The sample takes every
    n-th volume from a random start, so that each volume has the same probability.
    """
    if size > table.height:
        raise WriteampError(
            f"sample is {size}, but only {table.height} volumes are selected; use a smaller sample"
        )
    tens = (pl.col("page_writes").rank("ordinal") - 1) * 10 // table.height
    order = (
        table.with_row_index("place")
        .with_columns(ten=tens)
        .sort("ten", "drive_writes", "volume", nulls_last=True)["place"]
        .to_numpy()
    )
    start = np.random.default_rng(seed).random()
    positions = np.floor((np.arange(size) + start) * (table.height / size)).astype(np.int64)
    places: list[int] = np.sort(order[positions]).tolist()
    return table.select(pl.all().gather(places))


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


def info(
    fleet: Fleet,
    *,
    where: str | None = None,
    preset: str | None = None,
    sample: int | None = None,
    sample_seed: int = SelectionSettings.sample_seed,
) -> dict[str, Any]:
    """Summarize the volumes of a fleet.

    Args:
        fleet: the volumes: `split(…).fleet`, or `Fleet.open(folder)` of what `split` made.
        where: SQL condition on the columns of `Fleet.volumes`.
        preset: rule of a paper that selects volumes, such as "sepbit".
        sample: number of volumes to select, spread evenly over page writes and drive writes.
        sample_seed: seed of the random choice of the sample.

    Returns:
        A dictionary with the keys of `writeamp volumes info --json`: sums over the selected
        volumes, such as `requests` and `bytes_written`; `distributions`, the quantiles of each fact
        by the values of `QUANTILES`; `presets`, the number of volumes that each preset selects;
        `drive_writes_per_day`, page writes / pages of the written sets / days, where `days` is the
        time from the first to the last request of all selected volumes.

    Raises:
        WriteampError: the condition is invalid, or too few volumes meet it for the sample.

    >>> import tempfile
    >>> import writeamp as wa
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trace = wa.volumes.make(f"{folder}/fleet.csv", volumes=3, requests=3000).path
    ...     fleet = wa.volumes.split(trace, f"{folder}/fleet", trace_format="alibaba").fleet
    ...     wa.volumes.info(fleet)["volumes"]
    3
    """
    chosen = select(fleet.volumes, SelectionSettings(where, preset, sample, sample_seed))
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
            name: fleet.volumes.filter(pl.sql_expr(rule.where)).height
            for name, rule in PRESETS.items()
        },
        "inputs": fleet.mark["inputs"],
        "folder": str(fleet.folder),
    }


def facts_table(fleet: Fleet, settings: SelectionSettings | None = None) -> pl.DataFrame:
    """Return the facts of the selected volumes, one row each."""
    return select(fleet.volumes, settings or SelectionSettings()).drop(OF_STORAGE)
