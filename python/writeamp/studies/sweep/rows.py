"""Outcomes as rows of a table, as a dataset holds them, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from writeamp._engine import TIMED_CAUSES
from writeamp.studies.dataset import Contents, Dataset
from writeamp.studies.sweep.kinds.kind import to_plain
from writeamp.studies.sweep.points import Outcome

# What varies from kind to kind is JSON text, so that all parts of a dataset have these columns.
SCHEMA: Mapping[str, Any] = {
    "hash": pl.String,
    "version": pl.String,
    "study": pl.String,
    "kind": pl.String,
    "place": pl.Int64,
    "axes": pl.String,
    "replica": pl.Int64,
    "seed": pl.Int64,
    "settings": pl.String,
    "error": pl.String,
    "elapsed_s": pl.Float64,
    "wa": pl.Float64,
    "wa_low": pl.Float64,
    "wa_high": pl.Float64,
    "steady": pl.Boolean,
    **{f"{cause}_programs": pl.Float64 for cause in TIMED_CAUSES},
    "measures": pl.String,
    "warnings": pl.List(pl.String),
}


class SweepDataset(Dataset):
    """The results of sweeps in one folder."""

    contents = Contents("sweep", "points", SCHEMA, version=3, without_digests=2)


def table_of(outcomes: Iterable[Outcome]) -> pl.DataFrame:
    """Return a row for each outcome."""
    return pl.DataFrame([_row(one) for one in outcomes], schema=SCHEMA, orient="row")


def _row(outcome: Outcome) -> tuple[Any, ...]:
    point, found = outcome.point, outcome.found
    values: dict[str, Any] = {
        "hash": point.hash,
        "version": point.version,
        "study": point.study,
        "kind": point.kind,
        "place": point.place,
        "axes": _json(to_plain(point.choice)),
        "replica": point.replica,
        "seed": point.seed,
        "settings": _json(point.settings),
        "error": outcome.error,
        "elapsed_s": outcome.elapsed_s,
    }
    if found is not None:
        values |= {
            "wa": found.wa,
            "wa_low": found.wa_low,
            "wa_high": found.wa_high,
            "steady": found.steady,
            **{f"{cause}_programs": float(pages) for cause, pages in found.causes.items()},
            "measures": _json(found.measures),
            "warnings": list(found.warnings),
        }
    return tuple(values.get(name) for name in SCHEMA)


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
