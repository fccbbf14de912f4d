"""Interval, rows and unfinished parts of every result, each by one name."""

from __future__ import annotations

import ast
import inspect
import math
import re
import signal
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import writeamp as wa
from places import ROOT
from samples import PARTS, SAMPLES, library_classes, served
from writeamp.results.any_result import AnyResult

# What callers say, and do not find.
INPUTS = {"Characteristics", "MeasurementTarget", "Model", "PinFacts", "ReportPage", "Spec"}
# No results: numbers on the way to one, and the interface of those that the command prints.
WITHIN = {"Performance", "ShownResult", "Found", "Round", "SimulationResult"}
# Each is of another kind, and no result has two of them.
INTERVALS = ("ci", "bounds", "interval")
# Names that say what these and `unfinished` say.
INTERVAL, INTERRUPTION = re.compile(r"^ci_|_ci95$|_low$"), re.compile(r"interrupted|^finished")
# A signal, and no part of what was asked for.
SIGNALS = {"interrupted_by"}


def names_of(kind: type) -> set[str]:
    """Return the public attributes of a class, its fields among them."""
    annotated = {name for one in kind.__mro__ for name in getattr(one, "__annotations__", {})}
    return {name for name in {*dir(kind), *annotated} if not name.startswith("_")}


def is_own(kind: type, name: str) -> bool:
    return inspect.getattr_static(kind, name) is not inspect.getattr_static(AnyResult, name)


def returned_types() -> set[Any]:
    """Return the types that public functions return; of one imported for hints only, its name."""
    packages = (wa, wa.allocation, wa.blackbox, wa.meanfield, wa.measure, wa.models, wa.traces)
    named = (getattr(room, name) for room in packages for name in dir(room))
    functions = filter(inspect.isfunction, named)
    return {
        one.__globals__.get(word, word)
        for one in functions
        for word in re.findall(r"[A-Z]\w+", str(one.__annotations__.get("return")))
    }


def results_among(kinds: Iterable[type]) -> list[type]:
    """Return the classes that are results by what they are, say or are returned as."""
    returned = returned_types()
    return [
        kind
        for kind in kinds
        if not kind.__subclasses__()
        and kind.__name__ not in INPUTS | WITHIN
        and (
            issubclass(kind, AnyResult)
            or {kind, kind.__name__} & returned
            or names_of(kind) & {"ci", "unfinished", "interrupted", "to_frame"}
            or names_of(kind) >= {"low", "high", "to_dict"}
        )
    ]


def faults_of(kind: type) -> list[str]:
    """Return what a class of results says by another name than all others."""
    if not issubclass(kind, AnyResult):
        return [f"{kind.__name__} is a result and no AnyResult"]
    names = names_of(kind) - SIGNALS
    said = {
        INTERVALS: {one for one in names if INTERVAL.search(one)},
        ("unfinished",): {one for one in names if INTERRUPTION.search(one)},
    }
    return [
        f"{kind.__name__} has {sorted(others)} and no {own[0]}"
        for own, others in said.items()
        if others and not any(is_own(kind, name) for name in own)
    ]


def interval_faults(found: Any) -> list[str]:
    """Return what breaks the rule that `ci` is a 95% confidence interval and nothing else."""
    given = [name for name in INTERVALS if getattr(found, name) is not None]
    document = found.to_dict() if hasattr(found, "to_dict") else {}
    expected = None
    if "candidates" in document:
        expected = "interval"
    elif "wa_definition" in document or getattr(found, "kind", "") == "real":
        expected = "bounds"
    faults = [f"has {' and '.join(given)}"] if len(given) > 1 else []
    faults += [f"has {name} and no {expected}" for name in given if expected not in (None, name)]
    if "interval" in given and not 0 < found.level < 1:
        faults.append("has interval and no level")
    described = inspect.getattr_static(type(found), "ci").__doc__
    if "ci" in given and isinstance(inspect.getattr_static(type(found), "ci"), property):
        faults += [] if "95% confidence interval" in described else ["describes another ci"]
    return faults


def test_every_class_of_results_has_the_three_names_and_a_sample(
    tmp_path: Path, in_process: None
) -> None:
    kinds = results_among(library_classes())
    assert [fault for kind in kinds for fault in faults_of(kind)] == []
    known = {type(make(tmp_path)) for make in (SAMPLES | PARTS).values()}
    assert {kind for kind in kinds if not inspect.isabstract(kind)} - known == set()


@dataclass(frozen=True)
class Returned:
    """A result that knows nothing of the others."""

    wa: float
    ci: tuple[float, float]


@dataclass(frozen=True)
class OtherNames(AnyResult):
    """A result that says its interval and its interruption by names of its own."""

    wear_ci95: tuple[float, float]
    interrupted_after: int


def test_a_class_with_other_names_for_the_three_is_found() -> None:
    assert results_among([Returned, OtherNames, wa.Spec]) == [Returned, OtherNames]
    assert faults_of(Returned) == ["Returned is a result and no AnyResult"]
    assert faults_of(OtherNames) == [
        "OtherNames has ['wear_ci95'] and no ci",
        "OtherNames has ['interrupted_after'] and no unfinished",
    ]


@dataclass(frozen=True)
class Counted(AnyResult):
    """A result that gives all kinds of intervals, as fields or in its document."""

    document: dict[str, Any]
    level: float = 0.0
    bounds: tuple[float, float] | None = None
    interval: tuple[float, float] | None = None

    @property
    def ci(self) -> tuple[float, float]:
        """Bounds of WA."""
        return 1.0, 2.0

    def to_dict(self) -> dict[str, Any]:
        return self.document


def test_what_is_no_confidence_interval_is_not_named_ci() -> None:
    described = "describes another ci"
    assert interval_faults(Counted({})) == [described]
    assert interval_faults(Counted({"wa_definition": "bytes"})) == [
        "has ci and no bounds",
        described,
    ]
    assert interval_faults(Counted({"candidates": []}, interval=(1, 2))) == [
        "has ci and interval",
        "has ci and no interval",
        "has interval and no level",
        described,
    ]
    real = replace(PARTS["WayRow of counters"](Path()), bounds=None, ci=(1.9, 2.1))
    assert interval_faults(real) == ["has ci and no bounds"]


@pytest.mark.parametrize("name", SAMPLES | PARTS)
def test_a_finished_result_has_an_interval_or_none_rows_and_nothing_unfinished(
    name: str, tmp_path: Path, in_process: None
) -> None:
    found = (SAMPLES | PARTS)[name](tmp_path)
    assert found.unfinished == ()
    frame = found.to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame.height >= 1
    # The answer, of results that do not find WA.
    years = {"Lifetime": "years", "Lifetime of a real drive": "years"}
    answers = {"RequiredOp": "op", "FleetNeed": "op", "Index": "value", **years}
    assert interval_faults(found) == []
    low, high = found.error_bar
    assert math.isnan(low) or low <= frame[answers.get(name, "wa")][0] <= high


def test_a_command_that_a_signal_ended_is_unfinished() -> None:
    ended = replace(served(Path()), run="fio")
    assert ended.unfinished == ()
    assert replace(ended, interrupted_by=signal.SIGINT).unfinished == ("fio",)


# Where results of runs and of studies are declared, but for those of sweeps.
RUNS, SWEEPS = ("writeamp.runs.", "writeamp.studies."), "writeamp.studies.sweep."


def type_tests(code: str, kinds: Collection[str]) -> list[int]:
    """Return the lines on which code asks whether a value is of one of some classes."""
    return [
        call.lineno
        for call in ast.walk(ast.parse(code))
        if isinstance(call, ast.Call)
        and getattr(call.func, "id", "") in ("isinstance", "issubclass")
        and kinds & {getattr(one, "id", getattr(one, "attr", "")) for one in ast.walk(call.args[1])}
    ]


def test_nothing_asks_for_the_type_of_a_result(in_process: None) -> None:
    kinds = {
        kind.__name__
        for kind in library_classes()
        if issubclass(kind, AnyResult)
        and kind.__module__.startswith(RUNS)
        and not kind.__module__.startswith(SWEEPS)
    }
    assert {"Result", "TimedResult", "Mixture", "Comparison", "Endurance"} <= kinds
    seeded = "assert isinstance(found, Result)\nisinstance(found, (int, runs.Mixture | None))"
    assert type_tests(seeded, kinds) == [1, 2]
    assert type_tests("isinstance(found, WriteampError)", kinds) == []
    folders = (ROOT / "python" / "writeamp", ROOT / "papers" / "writeamp_papers")
    files = [file for folder in folders for file in folder.rglob("*.py")]
    assert len(files) > 100
    found = {file: type_tests(file.read_text(), kinds) for file in files}
    assert {file: lines for file, lines in found.items() if lines} == {}
