"""Points without a simulation: answers of models, and fixed points of the mean field."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import as_ratio, finite, shown
from writeamp.meanfield.fixed_point import hot_cold, hot_cold_swap
from writeamp.meanfield.parameters import MODES, checked_parameters
from writeamp.models._registry import MODELS, find_model
from writeamp.results.numbers import json_number
from writeamp.studies.sweep.axes import Value
from writeamp.studies.sweep.designs import Choice
from writeamp.studies.sweep.kinds.kind import (
    PointFound,
    PointTask,
    Table,
    digest,
    from_plain,
    scalars_of,
    to_plain,
)
from writeamp.theory.prediction import check_question, predict
from writeamp.theory.settings import PredictionSettings
from writeamp.units.ratios import RATIOS


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


_DEFAULTS: dict[str, Any] = {
    name: getattr(PredictionSettings, name)
    for name in ("pages_per_block", "d", "window", "reserve", "logical_blocks")
}
_SHARES = ("utilization", "hot_ratio")


class PredictionKind(TheoryKind):
    """Kind of points that `writeamp.predict` gives: answers of analytic models."""

    name = "predict"
    names = ("model", *RATIOS, "target_wa", *_SHARES, *_DEFAULTS)
    whole_numbers = ("pages_per_block", "window", "reserve")
    ratios = (*RATIOS, *_SHARES)
    # Each says which drive is meant.
    one_of = (*RATIOS, "target_wa")
    defaults = _DEFAULTS

    def checked(self, given: dict[str, Any], choice: Choice) -> dict[str, Any]:
        """Return a question to a model."""
        if "model" not in given:
            raise WriteampError(
                f"model is missing; give one in [predict], or an axis of them: {', '.join(MODELS)}"
            )
        check_numbers(given, texts=("model",))
        find_model(given["model"])
        for name in self.whole_numbers:
            if not float(given[name]).is_integer():
                raise WriteampError(f"{name} is {shown(given[name])}; it must be a whole number")
        check_question(**{name: one for name, one in given.items() if name != "model"})
        return given

    def run(self, settings: Table) -> PointFound:
        """Ask the model."""
        question = from_plain(settings)
        model = question.pop("model")
        answers = predict(models=[model], **question)
        (answer,) = answers
        return PointFound(
            wa=json_number(answer.wa),
            measures=scalars_of({"op": answer.op, "in_domain": answer.in_domain}),
            warnings=(*answers.warnings, *answer.warnings),
        )


_COUNTS = ("pages_per_block", "d", "d_swap")
_HEATS = ("hot_fraction", "hot_write_fraction")
_REQUIRED = ("mode", "d", *_HEATS)

# What rows have elsewhere, and what two runs of one point do not agree in.
_NOT_MEASURES = ("wa", "elapsed_s", "check_elapsed_s")


class MeanFieldKind(TheoryKind):
    """Kind of points that `writeamp meanfield` finds: fixed points of the mean field."""

    name = "meanfield"
    names = ("mode", *RATIOS, *_COUNTS, *_HEATS)
    whole_numbers = _COUNTS
    ratios = (*RATIOS, *_HEATS)
    one_of = RATIOS
    defaults: ClassVar = {"pages_per_block": 128}

    def checked(self, given: dict[str, Any], choice: Choice) -> dict[str, Any]:
        """Return the parameters of a fixed point."""
        if "mode" in choice and given["mode"] == "hcwf":
            given.pop("d_swap", None)  # which only the other mode takes
        _check(given)
        return given

    def run(self, settings: Table) -> PointFound:
        """Find the fixed point."""
        given = from_plain(settings)
        swaps = given.pop("mode") == "hcwf-swap"
        point = hot_cold_swap(**given) if swaps else hot_cold(**given)
        return PointFound(
            wa=point.wa,
            measures=scalars_of(point.to_dict(), without=_NOT_MEASURES),
            warnings=(f"ill-conditioned: {point.why}",) if point.ill_conditioned else (),
        )


def _check(given: dict[str, Any]) -> None:
    mode = given.get("mode")
    needed = (*_REQUIRED, "d_swap") if mode == "hcwf-swap" else _REQUIRED
    for name in needed:
        if name not in given:
            raise WriteampError(f"{name} is missing; give it in [meanfield], or as an axis")
    check_numbers(given, texts=("mode",))
    if mode not in MODES:
        raise unknown("mode", str(mode), MODES)
    if mode == "hcwf" and "d_swap" in given:
        raise WriteampError("d_swap is of mode hcwf-swap; mode hcwf swaps nothing, leave it out")
    numbers = {name: one for name, one in given.items() if name != "mode"}
    absent: dict[str, Any] = dict.fromkeys((*RATIOS, "d_swap"))
    checked_parameters(**(absent | numbers))
