"""Choice of volumes of a fleet: by a condition, by the rule of a paper, and by a sample."""

from __future__ import annotations

import numpy as np
import polars as pl

from writeamp.errors import WriteampError
from writeamp.text import one_line
from writeamp.volumes.fleet import OF_STORAGE
from writeamp.volumes.settings import PRESETS, SelectionSettings


def select(table: pl.DataFrame, settings: SelectionSettings) -> pl.DataFrame:
    """Return the rows of the volumes that are asked for, in their order.

    Args:
        table: of the fleet.
        settings: the condition, the preset and the size of the sample; all that are given hold.

    Raises:
        WriteampError: the condition is none, or no volume is left.
    """
    chosen = table
    for condition in (settings.preset and PRESETS[settings.preset].where, settings.where):
        if condition is not None:
            chosen = _filtered(chosen, condition)
    if chosen.is_empty():
        raise WriteampError(
            f"no volume of {table.height} fits {settings.words}; `writeamp volumes info` shows how "
            "they are distributed"
        )
    if settings.sample is None:
        return chosen
    return _sample(chosen, settings.sample, settings.sample_seed)


def _filtered(table: pl.DataFrame, condition: str) -> pl.DataFrame:
    names = [name for name in table.columns if name not in OF_STORAGE]
    try:
        found = table.select(pl.sql_expr(condition).alias("is_chosen"))["is_chosen"]
        if found.dtype != pl.Boolean or len(found) != table.height:
            raise WriteampError(f"it is {found.dtype}, and not true or false for each volume")
        return table.filter(found)
    except (WriteampError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise WriteampError(
            f"where is {condition!r}, which is no condition on volumes "
            f"({one_line(error).partition(';')[0]}); valid is such as 'drive_writes > 2', with "
            f"{', '.join(names)}"
        ) from None


def _sample(table: pl.DataFrame, size: int, seed: int) -> pl.DataFrame:
    """Return so many volumes that are distributed as all are, in the order of the table.

    Along the volumes by their page writes, and of alike ones by drive writes, every so-many-th is
    taken, from a random one on: each has the same chance, and every size is there in its share.
    """
    if size > table.height:
        raise WriteampError(f"sample is {size}, and {table.height} volumes are to choose from")
    tens = (pl.col("page_writes").rank("ordinal") - 1) * 10 // table.height
    order = (
        table.with_row_index("place")
        .with_columns(ten=tens)
        .sort("ten", "drive_writes", "volume", nulls_last=True)["place"]
        .to_numpy()
    )
    first = np.random.default_rng(seed).random()
    at = np.floor((np.arange(size) + first) * (table.height / size)).astype(np.int64)
    places: list[int] = np.sort(order[at]).tolist()
    return table.select(pl.all().gather(places))
