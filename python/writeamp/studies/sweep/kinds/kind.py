"""Interface of kinds of points: check their settings, run them, and give what is found."""

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

# How JSON, which has no word for it, says infinity.
_INFINITE = "inf"


@dataclass(frozen=True)
class PointTask:
    """Task of one point, checked.

    Attributes:
        settings: all of them, as JSON types.
        hash: of what they mean, in hexadecimal digits: the same for spellings that mean the same.
        seed: decides every random draw; None if nothing is drawn.
        study: as `hash`, but without the seed: replicas have it in common.
        files: the identities of those that it reads (`writeamp.files`), by name.
    """

    settings: Mapping[str, Any]
    hash: str
    study: str
    seed: int | None = None
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PointFound:
    """Result of one point.

    Attributes:
        wa: flash pages programmed per host page written; None if the host wrote nothing.
        wa_low: lower end of its 95% interval; None where there is none.
        wa_high: upper end.
        steady: whether it may last; None of models.
        causes: pages programmed by cause; empty of models.
        measures: everything else that was found, by name: numbers, texts, true or false.
        warnings: sentences that a reader of `wa` should know.
    """

    wa: float | None
    wa_low: float | None = None
    wa_high: float | None = None
    steady: bool | None = None
    causes: Mapping[str, float] = field(default_factory=dict)
    measures: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


class PointKind(Protocol):
    """Kind of points: checks their settings and runs them."""

    @property
    def name(self) -> str:
        """Name of the kind in files."""

    @property
    def titles(self) -> tuple[str, ...]:
        """The tables of a file that it reads."""

    @property
    def draws(self) -> bool:
        """True if it has a seed, so that replicas of a point differ."""

    def counts(self) -> tuple[str, ...]:
        """Return the names of the settings that are whole numbers."""

    def check_axis(self, name: str, where: str) -> None:
        """Refuse an axis that is no setting.

        Raises:
            WriteampError: so it is, with the names that are valid.
        """

    def number_of(self, name: str, value: Value) -> Value:
        """Return a value of an axis; of ratios and sizes, text as the number that it means.

        Raises:
            WriteampError: the text means none.
        """

    def template(
        self, tables: Table, folder: Path | None, first: Choice, where: str
    ) -> Callable[[Choice], PointTask]:
        """Return a function that turns a choice of values into a checked point.

        Args:
            tables: what the file says besides its axes.
            folder: what paths in it are relative to; None for the working directory.
            first: any choice, to complete settings that only axes give.
            where: the file, for errors.

        Raises:
            WriteampError: settings that cannot be, also by what is returned.
        """

    def run(self, settings: Table) -> PointFound:
        """Do what the settings of a point say.

        Raises:
            WriteampError: it cannot be done; the sentence says why.
        """

    def columns(self, settings: Table) -> dict[str, Any]:
        """Return every setting that has a value by the name that an axis would have."""


def digest(meaning: Any) -> str:
    """Return the SHA-256 of JSON types in hexadecimal digits."""
    text = json.dumps(meaning, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def to_plain(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments as JSON types."""
    return {name: _INFINITE if one == math.inf else one for name, one in arguments.items()}


def from_plain(settings: Table) -> dict[str, Any]:
    """Return the arguments that `to_plain` turned into JSON types."""
    return {name: math.inf if one == _INFINITE else one for name, one in settings.items()}


def scalars_of(document: Table, *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the numbers, texts and flags of a JSON document; what is nested gets a dotted name."""
    found: dict[str, Any] = {}
    for name, value in document.items():
        if name in without:
            continue
        if isinstance(value, Mapping):
            found |= {f"{name}.{key}": one for key, one in scalars_of(value).items()}
        elif isinstance(value, str | bool | int) or (
            isinstance(value, float) and math.isfinite(value)
        ):
            found[name] = value
    return found
