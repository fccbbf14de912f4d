"""Results of sweeps as one tidy table (one row per result), and selection of its rows."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import shown
from writeamp.studies.sweep.designs import Choice
from writeamp.studies.sweep.kinds.registry import find_kind
from writeamp.studies.sweep.points import SCHEMA

# Column that is equal for results which differ in the seed only. It covers all settings and the
# contents of files.
ALIKE = "_alike"
# Columns that distinguish results with equal settings: the kind of point, and the engine's version.
ORIGINS = ("kind", "version")
# Column with the hash of a point's inputs without its seed, which is equal for replicas.
STUDY = "study"

_MOST_SHOWN = 8
# Numeric columns that error messages do not suggest.
_NEVER_ASKED = ("seed", "replica", "wa_low", "wa_high")


@dataclass(frozen=True)
class Tidy:
    """Table with a row for each result, and the names of the settings in which rows differ.

    Attributes:
        frame: table of `Sweep.to_frame`, with a column `_alike`, which is equal for replicas.
        parameters: names of the axes, and of other settings that differ between rows.
        settings: names of all settings.
    """

    frame: pl.DataFrame
    parameters: tuple[str, ...]
    settings: tuple[str, ...]

    @staticmethod
    def of(rows: pl.DataFrame, choices: Sequence[Choice] | None = None) -> Tidy:
        """Return the tidy table of a dataset's rows.

        Args:
            rows: rows of a dataset.
            choices: values of the axes for each row, used instead of the stored values.
        """
        settings = settings_of(rows)
        settings_and_studies = zip(settings, rows[STUDY], strict=True)
        alike = pl.Series(
            ALIKE,
            [json.dumps(pair, sort_keys=True) for pair in settings_and_studies],
            dtype=pl.String,
        )
        frame = unfolded(rows, choices).with_columns(alike)
        parameters = tuple(parameters_in(rows, settings))
        names = dict.fromkeys(
            (*parameters, *(name for row_settings in settings for name in row_settings))
        )
        return Tidy(frame, parameters, tuple(name for name in names if name in frame.columns))

    @property
    def varying(self) -> tuple[str, ...]:
        """Names of parameters, kind and version that have more than one value."""
        names = (*self.parameters, *ORIGINS)
        return tuple(name for name in names if self.frame[name].n_unique() > 1)

    def where(self, conditions: Mapping[str, Any]) -> Tidy:
        """Return the rows for which settings have the given values.

        Several values in a list are alternatives. A number may be rounded to the digits that tables
        show, or given as text.

        Raises:
            WriteampError: no setting has the name, or no row has the value.
        """
        frame = self.frame
        for name, value in conditions.items():
            valid = (*self.settings, *ORIGINS)
            if name not in valid:
                raise unknown("setting", name, valid)
            column = frame[name]
            wanted = [
                match
                for alternative in _listed(value)
                for match in _matches(column, name, alternative)
            ]
            frame = frame.filter(column.is_in(wanted))
        return replace(self, frame=frame)

    def values(self, name: str) -> list[Any]:
        """Return a column's distinct values except None: numbers ascending, texts as they come."""
        column = self.frame[name].drop_nulls()
        is_text = column.dtype in (pl.String, pl.Boolean)
        values = column.unique(maintain_order=True)
        return (values if is_text else values.sort()).to_list()

    def number(self, name: str) -> str:
        """Return the name of a numeric column after checking it.

        Raises:
            WriteampError: no numeric column has the name, or the table is empty.
        """
        if self.frame.is_empty():
            raise WriteampError("the folder has no result; run a sweep into the folder first")
        if name in self.frame.columns and self.frame[name].dtype.is_numeric():
            return name
        telling = self._telling
        if name in self.frame.columns:
            raise WriteampError(f"{name} is not a number; valid: {', '.join(telling)}")
        raise unknown("column", name, telling)

    def result_column(self, name: str, role: str) -> str:
        """Return the name of a numeric column of results after checking it.

        Args:
            name: name of the column.
            role: role of the column in a plot, for the error message.

        Raises:
            WriteampError: the column is a setting, or as for `number`.
        """
        if name in self.settings and not self.frame.is_empty():
            kind_of_setting = "an axis" if name in self.parameters else "a setting"
            valid = [
                name_of_column
                for name_of_column in self._telling
                if name_of_column not in self.settings
            ]
            raise WriteampError(
                f"{role} is {name}, which is {kind_of_setting} of the sweep, not a result; use it "
                f"as x, hue or facet; valid as {role}: {', '.join(valid)}"
            )
        return self.number(name)

    @property
    def _telling(self) -> list[str]:
        """Names of numeric columns with more than one value, for messages."""
        return [
            name
            for name, kind in self.frame.schema.items()
            if kind.is_numeric() and name not in _NEVER_ASKED and self.frame[name].n_unique() > 1
        ]


def words_of_values(values: Iterable[Any]) -> str:
    """Return the first few values as text, and the number of the others."""
    words = [word_of(value) for value in values]
    more = len(words) - _MOST_SHOWN
    return ", ".join(words[:_MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")


def word_of(value: Any) -> str:
    """Return a value as text, with the number of digits that tables show."""
    if isinstance(value, bool):
        return str(value).lower()
    return "–" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _matches(column: pl.Series, name: str, value: Any) -> list[Any]:
    """Return the values of a column that match the value of a condition."""
    present = column.unique(maintain_order=True).drop_nulls().to_list()
    wanted = [candidate for candidate in present if _is(candidate, value)]
    wanted = wanted or [
        candidate for candidate in present if word_of(candidate) == word_of(_as_number(value))
    ]
    if not wanted:
        raise WriteampError(
            f"no result has {name} = {shown(value)}; there are {words_of_values(present)}"
        )
    return wanted


def _is(candidate: Any, value: Any) -> bool:
    if isinstance(candidate, str | bool):
        return word_of(candidate) == (value if isinstance(value, str) else word_of(value))
    return bool(candidate == _as_number(value))


def _as_number(value: Any) -> Any:
    try:
        return value if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return value


# Columns of JSON text or for internal use, which the tidy table replaces by one column per value.
_FOLDED = ("axes", "settings", "measures", "place")
_SEED = "seed"
_LAST = ("elapsed_s", "version", "study", "hash", "error", "warnings")


def unfolded(rows: pl.DataFrame, choices: Sequence[Choice] | None = None) -> pl.DataFrame:
    """Return stored rows as a tidy table, with the axes as first columns.

    Args:
        rows: rows of a dataset.
        choices: values of the axes for each row, used instead of the stored values.
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
        # An axis of one sweep may be a fixed setting of another sweep. All rows then show the
        # spelling of the setting, so that equal values look equal.
        is_everywhere = all(name in choice for choice in choices)
        sources = (choices, settings) if is_everywhere else (settings, choices)
        values = [_first(name, *tables) for tables in zip(*sources, measures, strict=True)]
        columns[name] = _column(name, values)
    if _SEED in columns:
        # Replicas have seeds of their own, so the column shows these instead of the axis value.
        columns[_SEED] = rows[_SEED]
    for name in _names(settings):
        if name not in columns and name not in SCHEMA:
            # If a setting is determined by the drive or the trace, the measured value is shown.
            values = [_first(name, *both) for both in zip(settings, measures, strict=True)]
            columns[name] = _column(name, values)
    columns |= {name: rows[name] for name in own if name not in columns}
    for name in _names(measures):
        if name not in columns and name not in SCHEMA:
            columns[name] = _column(name, [row_measures.get(name) for row_measures in measures])
    return pl.DataFrame(list((columns | {name: rows[name] for name in _LAST}).values()))


def settings_of(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """Return all settings of each row except the seed, so that replicas have equal ones."""
    settings = []
    for kind, text in zip(rows["kind"], rows["settings"], strict=True):
        columns = find_kind(kind).columns(json.loads(text))
        settings.append({name: value for name, value in columns.items() if name != _SEED})
    return settings


def parameters_in(rows: pl.DataFrame, settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names in which rows differ: the axes, and other settings with several values.

    A setting is left out if an axis varies one of its parameters.
    """
    texts = rows["axes"].unique(maintain_order=True)
    axes = [name for name in _names(json.loads(text) for text in texts) if name != _SEED]
    wholes = {name.partition(".")[0] for name in axes}
    others = [name for name in _names(settings) if "." not in name and name not in wholes]
    return axes + [
        name
        for name in others
        if len({json.dumps(row_settings.get(name)) for row_settings in settings}) > 1
    ]


def _names(tables: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for table in tables for name in table))


def _first(name: str, *tables: Mapping[str, Any]) -> Any:
    return next((table[name] for table in tables if table.get(name) is not None), None)


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    """Return a column of the common type of all values; without one, a column of texts."""
    present = [value for value in values if value is not None]
    if present and all(isinstance(value, bool) for value in present):
        return pl.Series(name, values, pl.Boolean)
    numbers = [None if value is None else _number(value) for value in values]
    if present and all(number is not None for number in map(_number, present)):
        is_whole = all(isinstance(number, int) for number in numbers if number is not None)
        return pl.Series(name, numbers, pl.Int64 if is_whole else pl.Float64, strict=False)
    texts = [
        value if value is None or isinstance(value, str) else json.dumps(value) for value in values
    ]
    return pl.Series(name, texts, pl.String)


def _number(value: Any) -> int | float | None:
    """Return a number, also from its text; None for other values."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    if not isinstance(value, str):
        return None
    for kind in (int, float):
        try:
            number = kind(value)
        except ValueError:
            continue
        return None if math.isnan(number) else number
    return None
