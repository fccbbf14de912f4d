"""Sweep points without a simulation: predictions of models, and mean-field fixed points."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import as_ratio, finite, shown
from writeamp.fields.old_names import SETTINGS, by_better_names
from writeamp.meanfield.fixed_point import hot_cold, hot_cold_swap
from writeamp.meanfield.parameters import MODES, checked_parameters
from writeamp.models._registry import MODELS, find_model
from writeamp.results.numbers import json_number
from writeamp.studies.sweep.axes import Value
from writeamp.studies.sweep.designs import Choice
from writeamp.studies.sweep.kinds.kind import (
    PointResult,
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
    """Sweep points whose settings are a function's arguments, in a table of the kind's name."""

    name: ClassVar[str]
    draws: ClassVar[bool] = False
    # Names of all arguments, then of those that are whole numbers, of those that are ratios, and of
    # those that exclude each other.
    names: ClassVar[tuple[str, ...]]
    whole_numbers: ClassVar[tuple[str, ...]]
    ratios: ClassVar[tuple[str, ...]]
    one_of: ClassVar[tuple[str, ...]]
    defaults: ClassVar[Mapping[str, Any]]

    @property
    def titles(self) -> tuple[str, ...]:
        """Name of the table in a sweep file that the kind reads."""
        return (self.name,)

    def counts(self) -> tuple[str, ...]:
        """Return the names of the arguments that are whole numbers."""
        return self.whole_numbers

    def check_axis(self, name: str, where: str) -> None:
        """Reject an axis whose name is not an argument."""
        if name not in self.names:
            raise WriteampError(f"{where}: {unknown('axis', name, self.names)}")

    def number_of(self, name: str, value: Value) -> Value:
        """Return a value of an axis; a ratio in percent is converted to a number."""
        return as_ratio(name, value) if name in self.ratios else value

    def template(
        self, tables: Table, folder: Path | None, first: Choice, where: str
    ) -> Callable[[Choice], PointTask]:
        """Return a function that converts the axes' values into checked arguments."""
        base = {**self.defaults, **_arguments_of(tables, self.name, self.names, where)}

        def task_of(choice: Choice) -> PointTask:
            chosen = _chosen(base, choice, self.one_of)
            numbers = {
                name: as_ratio(name, value) if name in self.ratios else value
                for name, value in chosen.items()
            }
            arguments = self.checked(numbers, choice)
            its_hash = digest(_meaning(self.name, arguments))
            return PointTask(to_plain(arguments), its_hash, study=its_hash)

        return task_of

    @abstractmethod
    def checked(self, arguments: dict[str, Any], choice: Choice) -> dict[str, Any]:
        """Return checked arguments, without those that the axes' values make unused.

        Raises:
            WriteampError: an argument is missing or invalid.
        """

    def columns(self, settings: Table) -> dict[str, Any]:
        """Return all arguments, by name."""
        return from_plain(settings)


def check_numbers(arguments: Mapping[str, Any], *, texts: Sequence[str]) -> None:
    """Reject arguments that are not numbers, and text arguments that are not texts.

    Raises:
        WriteampError: an argument has the wrong type.
    """
    for name, value in arguments.items():
        if name in texts:
            if not isinstance(value, str):
                raise WriteampError(f"{name} is {shown(value)}; it must be a name")
        elif value != math.inf and math.isnan(finite(value)):
            raise WriteampError(f"{name} is {shown(value)}; it must be a number")


def _arguments_of(tables: Table, title: str, names: Sequence[str], where: str) -> dict[str, Any]:
    """Return a table of the file, with arguments of a function as keys.

    Raises:
        WriteampError: it is not a table, or has a key that is not an argument.
    """
    table = tables.get(title, {})
    if not isinstance(table, Mapping):
        raise WriteampError(f"{where}:{title} is {shown(table)}; it must be a table of arguments")
    for key in table:
        if key not in names:
            raise WriteampError(f"{where}:{title}.{key}: {unknown('key', str(key), names)}")
    return dict(table)


def _chosen(base: Mapping[str, Any], choice: Choice, one_of: Sequence[str]) -> dict[str, Any]:
    """Return arguments with some replaced; a value for one of `one_of` removes the others."""
    replaced = one_of if set(one_of) & set(choice) else ()
    return {name: value for name, value in base.items() if name not in replaced} | choice


def _meaning(kind: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with one spelling for each number, so that 1 and 1.0 give one hash."""
    plain = to_plain(arguments)
    return {"verb": kind} | {
        name: float(value) if isinstance(value, int) else value for name, value in plain.items()
    }


_DEFAULTS: dict[str, Any] = {
    name: getattr(PredictionSettings, name)
    for name in ("pages_per_block", "d", "window", "reserve", "logical_blocks")
}
_SHARES = ("utilization", *chain.from_iterable(SETTINGS.items()))


class PredictionKind(TheoryKind):
    """Sweep points of `writeamp.predict`: predictions of analytic models."""

    name = "predict"
    names = ("model", *RATIOS, "target_wa", *_SHARES, *_DEFAULTS)
    whole_numbers = ("pages_per_block", "window", "reserve")
    ratios = (*RATIOS, *_SHARES)
    # Each of these arguments determines the drive's op, so only one may be given.
    one_of = (*RATIOS, "target_wa")
    defaults = _DEFAULTS

    def checked(self, arguments: dict[str, Any], choice: Choice) -> dict[str, Any]:
        """Return the checked arguments of a prediction."""
        if "model" not in arguments:
            raise WriteampError(
                f"model is missing; give one in [predict], or make it an axis: {', '.join(MODELS)}"
            )
        check_numbers(arguments, texts=("model",))
        find_model(arguments["model"])
        for name in self.whole_numbers:
            if not float(arguments[name]).is_integer():
                raise WriteampError(
                    f"{name} is {shown(arguments[name])}; it must be a whole number"
                )
        question = {name: value for name, value in arguments.items() if name != "model"}
        check_question(**by_better_names(question))
        return arguments

    def run(self, settings: Table) -> PointResult:
        """Return the model's prediction."""
        question = from_plain(settings)
        model = question.pop("model")
        answers = predict(models=[model], **question)
        (answer,) = answers
        return PointResult(
            wa=json_number(answer.wa),
            measures=scalars_of({"op": answer.op, "in_domain": answer.in_domain}),
            warnings=(*answers.warnings, *answer.warnings),
        )


_COUNTS = ("pages_per_block", "d", "d_swap")
_HEATS = ("hot_fraction", "hot_write_fraction")
_REQUIRED = ("mode", "d", *_HEATS)

# Results that rows have in other columns, or that differ between runs of one point.
_NOT_MEASURES = ("wa", "elapsed_s", "check_elapsed_s")


class MeanFieldKind(TheoryKind):
    """Sweep points of `writeamp meanfield`: fixed points of the mean-field model."""

    name = "meanfield"
    names = ("mode", *RATIOS, *_COUNTS, *_HEATS)
    whole_numbers = _COUNTS
    ratios = (*RATIOS, *_HEATS)
    one_of = RATIOS
    defaults: ClassVar = {"pages_per_block": 128}

    def checked(self, arguments: dict[str, Any], choice: Choice) -> dict[str, Any]:
        """Return the checked parameters of a fixed-point computation."""
        if "mode" in choice and arguments["mode"] == "hcwf":
            arguments.pop("d_swap", None)  # only mode hcwf-swap has d_swap
        _check(arguments)
        return arguments

    def run(self, settings: Table) -> PointResult:
        """Compute the fixed point."""
        arguments = from_plain(settings)
        swaps = arguments.pop("mode") == "hcwf-swap"
        point = hot_cold_swap(**arguments) if swaps else hot_cold(**arguments)
        return PointResult(
            wa=point.wa,
            measures=scalars_of(point.to_dict(), without=_NOT_MEASURES),
            warnings=(f"ill-conditioned: {point.why}",) if point.ill_conditioned else (),
        )


def _check(arguments: dict[str, Any]) -> None:
    mode = arguments.get("mode")
    needed = (*_REQUIRED, "d_swap") if mode == "hcwf-swap" else _REQUIRED
    for name in needed:
        if name not in arguments:
            raise WriteampError(f"{name} is missing; give it in [meanfield], or make it an axis")
    check_numbers(arguments, texts=("mode",))
    if mode not in MODES:
        raise unknown("mode", str(mode), MODES)
    if mode == "hcwf" and "d_swap" in arguments:
        raise WriteampError("d_swap is only for mode hcwf-swap; omit it, or change the mode")
    numbers = {name: value for name, value in arguments.items() if name != "mode"}
    absent: dict[str, Any] = dict.fromkeys((*RATIOS, "d_swap"))
    checked_parameters(**(absent | numbers))
