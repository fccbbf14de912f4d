"""Results of sweeps as one tidy table, and parts of it by the values of settings."""

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

# Tells apart what no parameter names: settings, and the contents of files that they name.
ALIKE = "_alike"
# What else tells results apart, beside settings.
ORIGINS = ("kind", "version")
# A hash of what a point means but for its seed, in which replicas agree.
STUDY = "study"

_MOST_SHOWN = 8
# Numbers that nobody means who looks for a column.
_NEVER_ASKED = ("seed", "replica", "wa_low", "wa_high")


@dataclass(frozen=True)
class Tidy:
    """Table with a row for each result, and the names by which the rows differ.

    Attributes:
        frame: as `Sweep.to_frame` gives it, with a column `ALIKE` in which replicas agree.
        parameters: the axes, and other settings that are not alike in all rows.
        settings: the names of all settings.
    """

    frame: pl.DataFrame
    parameters: tuple[str, ...]
    settings: tuple[str, ...]

    @staticmethod
    def of(rows: pl.DataFrame, choices: Sequence[Choice] | None = None) -> Tidy:
        """Return the tidy table of a dataset's rows.

        Args:
            rows: of a dataset.
            choices: the values of the axes in each row, unless those in the rows count.
        """
        settings = settings_of(rows)
        known = zip(settings, rows[STUDY], strict=True)
        alike = pl.Series(
            ALIKE, [json.dumps(one, sort_keys=True) for one in known], dtype=pl.String
        )
        frame = unfolded(rows, choices).with_columns(alike)
        parameters = tuple(parameters_in(rows, settings))
        names = dict.fromkeys((*parameters, *(name for one in settings for name in one)))
        return Tidy(frame, parameters, tuple(name for name in names if name in frame.columns))

    @property
    def varying(self) -> tuple[str, ...]:
        """The parameters, and kind and version, that have more than one value."""
        names = (*self.parameters, *ORIGINS)
        return tuple(name for name in names if self.frame[name].n_unique() > 1)

    def where(self, conditions: Mapping[str, Any]) -> Tidy:
        """Return the rows in which settings have some values.

        Several values in a list are alternatives. A number may be given with the digits that tables
        show, and as text.

        Raises:
            WriteampError: there is no such setting, or no row with the value.
        """
        frame = self.frame
        for name, value in conditions.items():
            valid = (*self.settings, *ORIGINS)
            if name not in valid:
                raise unknown("setting", name, valid)
            column = frame[name]
            wanted = [one for each in _listed(value) for one in _matches(column, name, each)]
            frame = frame.filter(column.is_in(wanted))
        return replace(self, frame=frame)

    def values(self, name: str) -> list[Any]:
        """Return the values of a column, each once: numbers rising, texts as they first appear."""
        found = self.frame[name].drop_nulls()
        is_text = found.dtype in (pl.String, pl.Boolean)
        values = found.unique(maintain_order=True)
        return (values if is_text else values.sort()).to_list()

    def number(self, name: str) -> str:
        """Return the name of a column of numbers.

        Raises:
            WriteampError: there is none so called, or no result at all.
        """
        if self.frame.is_empty():
            raise WriteampError("there is no result to look at; run a sweep into the folder first")
        if name in self.frame.columns and self.frame[name].dtype.is_numeric():
            return name
        telling = self._telling
        if name in self.frame.columns:
            raise WriteampError(f"{name} is no number; valid: {', '.join(telling)}")
        raise unknown("column", name, telling)

    def found(self, name: str, part: str) -> str:
        """Return the name of a column of numbers that were found.

        Args:
            name: of the column.
            part: what it is in a picture, for the error.

        Raises:
            WriteampError: it is a setting, or as `number` raises.
        """
        if name in self.settings and not self.frame.is_empty():
            what = "an axis" if name in self.parameters else "a setting"
            valid = [one for one in self._telling if one not in self.settings]
            raise WriteampError(
                f"{part} is {name}, which is {what} of the sweep and not found by it: let it be x, "
                f"hue or a facet; valid as {part}: {', '.join(valid)}"
            )
        return self.number(name)

    @property
    def _telling(self) -> list[str]:
        """The columns of numbers that differ."""
        return [
            one
            for one, kind in self.frame.schema.items()
            if kind.is_numeric() and one not in _NEVER_ASKED and self.frame[one].n_unique() > 1
        ]


def words_of_values(values: Iterable[Any]) -> str:
    """Return values in words, no more of them than a sentence bears."""
    words = [word_of(value) for value in values]
    more = len(words) - _MOST_SHOWN
    return ", ".join(words[:_MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")


def word_of(value: Any) -> str:
    """Return a value with the digits that tables show."""
    if isinstance(value, bool):
        return str(value).lower()
    return "–" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _matches(column: pl.Series, name: str, value: Any) -> list[Any]:
    """Return the values of a column that a filter means."""
    known = column.unique(maintain_order=True).drop_nulls().to_list()
    wanted = [one for one in known if _is(one, value)]
    wanted = wanted or [one for one in known if word_of(one) == word_of(_as_number(value))]
    if not wanted:
        raise WriteampError(
            f"no result has {name} = {shown(value)}; there are {words_of_values(known)}"
        )
    return wanted


def _is(one: Any, value: Any) -> bool:
    if isinstance(one, str | bool):
        return word_of(one) == (value if isinstance(value, str) else word_of(value))
    return bool(one == _as_number(value))


def _as_number(value: Any) -> Any:
    try:
        return value if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return value


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
