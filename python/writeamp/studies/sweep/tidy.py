"""Results of sweeps as one table, and parts of it by the values of settings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import shown
from writeamp.studies.sweep.designs import Choice
from writeamp.studies.sweep.frames import parameters_in, settings_of, unfolded

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
