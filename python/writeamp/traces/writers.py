"""Written bytes of a trace by the process, file or placement hint of its requests."""

from __future__ import annotations

from typing import Any

import polars as pl

# Number of names that `trace info` lists.
MOST_NAMES = 10
OF_WRITERS = ("process", "file", "hint")


def writers_of(requests: pl.DataFrame) -> dict[str, Any]:
    """Return the written bytes by process, file and hint, with the keys of `traces.info`.

    For each of these columns that the requests have: the ten names with the most written bytes,
    most first, and the share of the written bytes without a name. The dictionary is empty if the
    requests have no such column.
    """
    columns = [name for name in OF_WRITERS if name in requests.columns]
    if not columns:
        return {}
    writes = requests.filter(pl.col("op") == "write")
    facts: dict[str, Any] = {}
    for column in columns:
        totals = written_bytes(writes[column], writes["length"])
        total = int(totals["bytes_written"].sum())
        shares = totals.with_columns(share=pl.col("bytes_written") / total)
        unknown = shares.filter(pl.col("name").is_null())["share"]
        top = shares.drop_nulls("name").head(MOST_NAMES).rename({"name": column})
        facts[f"written_by_{column}"] = top.to_dicts()
        facts[f"{column}_unknown_share"] = (unknown.sum() or 0.0) if total else None
    return facts


def written_bytes(names: pl.Series, lengths: pl.Series) -> pl.DataFrame:
    """Return the bytes by name, most first: columns `name` (text or null) and `bytes_written`.

    Names with equally many bytes are in alphabetical order.
    """
    sums = pl.DataFrame({"name": names, "bytes_written": lengths.cast(pl.UInt64)})
    totals = sums.group_by("name").agg(pl.col("bytes_written").sum())
    return totals.with_columns(pl.col("name").cast(pl.String)).sort(
        ["bytes_written", "name"], descending=[True, False], nulls_last=True
    )
