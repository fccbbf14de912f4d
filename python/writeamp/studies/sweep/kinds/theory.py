"""Base of kinds of points without a simulation: settings in one table of plain arguments."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import as_ratio, finite, shown
from writeamp.studies.sweep.axes import Value
from writeamp.studies.sweep.designs import Choice
from writeamp.studies.sweep.kinds.kind import PointTask, Table, digest, from_plain, to_plain


class TheoryKind(ABC):
    """Points whose settings are the arguments of a function, in a table called like the kind."""

    name: ClassVar[str]
    draws: ClassVar[bool] = False
    # All arguments, those that are whole numbers or ratios, and those that exclude each other.
    names: ClassVar[tuple[str, ...]]
    whole_numbers: ClassVar[tuple[str, ...]]
    ratios: ClassVar[tuple[str, ...]]
    one_of: ClassVar[tuple[str, ...]]
    defaults: ClassVar[Mapping[str, Any]]

    @property
    def titles(self) -> tuple[str, ...]:
        """The table of a file that it reads."""
        return (self.name,)

    def counts(self) -> tuple[str, ...]:
        """Return the names of the arguments that are whole numbers."""
        return self.whole_numbers

    def check_axis(self, name: str, where: str) -> None:
        """Refuse an axis that is no argument."""
        if name not in self.names:
            raise WriteampError(f"{where}: {unknown('axis', name, self.names)}")

    def number_of(self, name: str, value: Value) -> Value:
        """Return a value of an axis; a ratio in per cent as the number that it means."""
        return as_ratio(name, value) if name in self.ratios else value

    def template(
        self, tables: Table, folder: Path | None, first: Choice, where: str
    ) -> Callable[[Choice], PointTask]:
        """Return a function that turns a choice of values into checked arguments."""
        base = {**self.defaults, **_arguments_of(tables, self.name, self.names, where)}

        def asked(choice: Choice) -> PointTask:
            chosen = _chosen(base, choice, self.one_of)
            numbers = {
                name: as_ratio(name, one) if name in self.ratios else one
                for name, one in chosen.items()
            }
            given = self.checked(numbers, choice)
            its_hash = digest(_meaning(self.name, given))
            return PointTask(to_plain(given), its_hash, study=its_hash)

        return asked

    @abstractmethod
    def checked(self, given: dict[str, Any], choice: Choice) -> dict[str, Any]:
        """Return checked arguments, perhaps without some that a choice leaves no use for.

        Raises:
            WriteampError: one is missing, or cannot be.
        """

    def columns(self, settings: Table) -> dict[str, Any]:
        """Return every argument."""
        return from_plain(settings)


def check_numbers(arguments: Mapping[str, Any], *, texts: Sequence[str]) -> None:
    """Refuse an argument that is no number, unless it is one of the texts.

    Raises:
        WriteampError: so it is.
    """
    for name, value in arguments.items():
        if name in texts:
            if not isinstance(value, str):
                raise WriteampError(f"{name} is {shown(value)}; it must be a name")
        elif value != math.inf and math.isnan(finite(value)):
            raise WriteampError(f"{name} is {shown(value)}; it must be a number")


def _arguments_of(tables: Table, title: str, names: Sequence[str], where: str) -> dict[str, Any]:
    """Return the table of a file, whose keys are arguments of a function.

    Raises:
        WriteampError: it is no table, or has a key that is no argument.
    """
    table = tables.get(title, {})
    if not isinstance(table, Mapping):
        raise WriteampError(f"{where}:{title} is {shown(table)}; it must be a table of arguments")
    for key in table:
        if key not in names:
            raise WriteampError(f"{where}:{title}.{key}: {unknown('key', str(key), names)}")
    return dict(table)


def _chosen(base: Mapping[str, Any], choice: Choice, one_of: Sequence[str]) -> dict[str, Any]:
    """Return arguments with some replaced; of `one_of`, a choice of one replaces all."""
    replaced = one_of if set(one_of) & set(choice) else ()
    return {name: one for name, one in base.items() if name not in replaced} | choice


def _meaning(kind: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with one spelling for each number: 1 and 1.0 mean the same."""
    plain = to_plain(arguments)
    return {"verb": kind} | {
        name: float(one) if isinstance(one, int) else one for name, one in plain.items()
    }
