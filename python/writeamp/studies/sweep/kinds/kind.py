"""Interface of kinds of sweep points: check their settings, run them, return their results."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from writeamp.studies.sweep.axes import Value
from writeamp.studies.sweep.designs import Choice

Table: TypeAlias = Mapping[str, Any]

# Text that represents infinity, since JSON cannot.
_INFINITE = "inf"


@dataclass(frozen=True)
class PointTask:
    """Checked inputs of one sweep point.

    Attributes:
        settings: all settings, as JSON types.
        hash: hash of the settings in canonical form, in hexadecimal digits, so that other spellings
            of the same settings give the same hash.
        seed: seed of every random draw, or None without draws.
        study: as `hash`, but without the seed, so that it is equal for replicas.
        files: identity (`writeamp.files`) of each file that the point reads, by name.
    """

    settings: Mapping[str, Any]
    hash: str
    study: str
    seed: int | None = None
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PointResult:
    """Result of one sweep point.

    Attributes:
        wa: flash pages programmed per host page written; None if the host wrote nothing.
        wa_low: lower end of the 95% interval of `wa`, or None.
        wa_high: upper end of the 95% interval of `wa`, or None.
        steady: whether WA is steady; None for models.
        causes: pages programmed by cause; empty for models.
        measures: further results by name: numbers, texts and booleans.
        warnings: warnings for readers of `wa`.
    """

    wa: float | None
    wa_low: float | None = None
    wa_high: float | None = None
    steady: bool | None = None
    causes: Mapping[str, float] = field(default_factory=dict)
    measures: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


class PointKind(Protocol):
    """Kind of sweep points: checks their settings and runs them."""

    @property
    def name(self) -> str:
        """Name of the kind, as written in sweep files."""

    @property
    def titles(self) -> tuple[str, ...]:
        """Names of the tables of a sweep file that this kind reads."""

    @property
    def draws(self) -> bool:
        """True if points of this kind have a seed, so that replicas of a point differ."""

    def counts(self) -> tuple[str, ...]:
        """Return the names of the settings that are whole numbers."""

    def check_axis(self, name: str, where: str) -> None:
        """Reject an axis whose name is not a setting.

        Raises:
            WriteampError: the axis is not a setting; the message has the valid names.
        """

    def number_of(self, name: str, value: Value) -> Value:
        """Return a value of an axis; text of ratios and sizes is converted to a number.

        Raises:
            WriteampError: the text is not a valid number.
        """

    def template(
        self, tables: Table, folder: Path | None, first: Choice, where: str
    ) -> Callable[[Choice], PointTask]:
        """Return a function that converts the axes' values into a checked point.

        Args:
            tables: tables of the file, without its axes.
            folder: base of relative paths; None for the working directory.
            first: a value for each axis, to complete settings that only axes state.
            where: name of the file, for error messages.

        Raises:
            WriteampError: settings are invalid; the returned function raises it too.
        """

    def run(self, settings: Table) -> PointResult:
        """Run a point, given its settings.

        Raises:
            WriteampError: the point cannot be run; the message gives the reason.
        """

    def columns(self, settings: Table) -> dict[str, Any]:
        """Return every setting that has a value, by the name of the axis that could vary it."""


def digest(meaning: Any) -> str:
    """Return the SHA-256 of JSON types in hexadecimal digits."""
    text = json.dumps(meaning, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def to_plain(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments as JSON types."""
    return {name: _INFINITE if value == math.inf else value for name, value in arguments.items()}


def from_plain(settings: Table) -> dict[str, Any]:
    """Return the arguments that `to_plain` converted to JSON types."""
    return {name: math.inf if value == _INFINITE else value for name, value in settings.items()}


def scalars_of(document: Table, *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the numbers, texts and flags of a JSON document; nested keys are joined by dots."""
    scalars: dict[str, Any] = {}
    for name, value in document.items():
        if name in without:
            continue
        if isinstance(value, Mapping):
            scalars |= {f"{name}.{key}": scalar for key, scalar in scalars_of(value).items()}
        elif isinstance(value, str | bool | int) or (
            isinstance(value, float) and math.isfinite(value)
        ):
            scalars[name] = value
    return scalars
