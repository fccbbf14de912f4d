"""Rows of a dataset as a table for people: a column for every setting and everything found."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from writeamp.studies.sweep.designs import Choice
from writeamp.studies.sweep.kinds.registry import find_kind
from writeamp.studies.sweep.points import SCHEMA

# Columns of a row that are unfolded, and so have none of their own.
_FOLDED = ("axes", "settings", "measures", "place")
_SEED = "seed"
_LAST = ("elapsed_s", "version", "study", "hash", "error", "warnings")


def unfolded(rows: pl.DataFrame, choices: Sequence[Choice] | None = None) -> pl.DataFrame:
    """Return a tidy table, the axes first.

    Args:
        rows: of a dataset.
        choices: the values of the axes in each row, unless those in the rows count.
    """
    if choices is None:
        choices = [json.loads(text) for text in rows["axes"]]
    kinds = [find_kind(name) for name in rows["kind"]]
    settings = [
        kind.columns(json.loads(text)) for kind, text in zip(kinds, rows["settings"], strict=True)
    ]
    measures = [json.loads(text) if text is not None else {} for text in rows["measures"]]
    own = [name for name in SCHEMA if name not in (*_FOLDED, *_LAST)]
    columns = {}
    for name in _names(choices):
        # What is an axis of one sweep is a setting of another, and then all spell it as a setting.
        is_everywhere = all(name in choice for choice in choices)
        sources = (choices, settings) if is_everywhere else (settings, choices)
        found = [_first(name, *each) for each in zip(*sources, measures, strict=True)]
        columns[name] = _column(name, found)
    if _SEED in columns:
        # Replicas have others than the axis says.
        columns[_SEED] = rows[_SEED]
    for name in _names(settings):
        if name not in columns and name not in SCHEMA:
            # A setting that is left to the drive or the trace is what that made of it.
            found = [_first(name, *both) for both in zip(settings, measures, strict=True)]
            columns[name] = _column(name, found)
    columns |= {name: rows[name] for name in own if name not in columns}
    for name in _names(measures):
        if name not in columns and name not in SCHEMA:
            columns[name] = _column(name, [one.get(name) for one in measures])
    return pl.DataFrame(list((columns | {name: rows[name] for name in _LAST}).values()))


def settings_of(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """Return every setting of each row by name, in which replicas agree: all but the seed."""
    found = []
    for kind, text in zip(rows["kind"], rows["settings"], strict=True):
        columns = find_kind(kind).columns(json.loads(text))
        found.append({name: value for name, value in columns.items() if name != _SEED})
    return found


def parameters_in(rows: pl.DataFrame, settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names by which rows differ: the axes, and settings not alike in all rows.

    A setting of which an axis varies a part is not named beside that.
    """
    texts = rows["axes"].unique(maintain_order=True)
    axes = [name for name in _names(json.loads(text) for text in texts) if name != _SEED]
    wholes = {name.partition(".")[0] for name in axes}
    others = [name for name in _names(settings) if "." not in name and name not in wholes]
    return axes + [
        name for name in others if len({json.dumps(one.get(name)) for one in settings}) > 1
    ]


def _names(tables: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for table in tables for name in table))


def _first(name: str, *tables: Mapping[str, Any]) -> Any:
    return next((table[name] for table in tables if table.get(name) is not None), None)


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    """Return a column of the one type that all values have, or of their texts."""
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return pl.Series(name, values, pl.Boolean)
    numbers = [None if value is None else _number(value) for value in values]
    if known and all(one is not None for one in map(_number, known)):
        is_whole = all(isinstance(one, int) for one in numbers if one is not None)
        return pl.Series(name, numbers, pl.Int64 if is_whole else pl.Float64, strict=False)
    texts = [one if one is None or isinstance(one, str) else json.dumps(one) for one in values]
    return pl.Series(name, texts, pl.String)


def _number(value: Any) -> int | float | None:
    """Return a number, also one that stands as text in a spec; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    if not isinstance(value, str):
        return None
    for kind in (int, float):
        try:
            found = kind(value)
        except ValueError:
            continue
        return None if math.isnan(found) else found
    return None
