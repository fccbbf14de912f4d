"""Second runs of papers, in which everything that was computed is changed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import singledispatch
from typing import Any

import numpy as np
import polars as pl
import pytest

from stand_in_runners import AsElsewhere
from writeamp.devices.device import Device
from writeamp.runners.runner import J, Lost, T
from writeamp_papers import Findings
from writeamp_papers.huang2011.runs import METRICS

# Smaller whole numbers are settings, not counts.
_LEAST_COUNT = 1000


class Replay(AsElsewhere):
    """A runner that stores all results; `changed()` returns a runner that replays them changed."""

    def __init__(self) -> None:
        """Begin without results."""
        super().__init__()
        self.calls: list[list[Any]] = []

    def of(self, work: Callable[[J], T], jobs: Sequence[J]) -> Iterator[tuple[int, T]]:
        """Give the results, and store them."""
        results = dict(super().of(work, jobs))
        self.calls.append([results[at] for at in range(len(jobs))])
        yield from results.items()

    def changed(self) -> Changed:
        """Return a runner that gives the stored results, in which no two numbers moved alike."""
        return Changed(self.calls)


class Changed:
    """A runner that runs nothing, and gives stored results with all their numbers changed."""

    def __init__(self, calls: Sequence[Sequence[Any]]) -> None:
        """Take the results of each call, in the order of the calls."""
        self._calls = iter(calls)
        self._factors = factors()

    def results(
        self,
        work: Callable[[J], T],
        jobs: Sequence[J],
        *,
        lost: Lost[J, T] | None = None,
        files: Collection[str] = (),
    ) -> Iterator[tuple[int, T]]:
        """Give the changed results of the next stored call."""
        stored = next(self._calls)
        assert len(stored) == len(jobs)
        for at, result in enumerate(stored):
            yield at, moved(result, self._factors)


def factors() -> Iterator[float]:
    """Yield factors from 1.2 to 1.5, none of them twice."""
    for number in itertools.count(1):
        yield 1.2 + 0.3 * (number * 0.6180339887 % 1)


@singledispatch
def moved(value: Any, by: Iterator[float]) -> Any:
    """Return a result with each number multiplied by the next factor.

    These numbers stay: whole ones that are small, those of devices, and in tables with metrics
    those of the workloads.
    """
    if not is_dataclass(value) or isinstance(value, Device):
        return value
    new = object.__new__(type(value))
    for field in fields(value):
        object.__setattr__(new, field.name, moved(getattr(value, field.name), by))
    return new


@moved.register
def _(value: float, by: Iterator[float]) -> float:
    return value * next(by)


@moved.register
def _(value: int, by: Iterator[float]) -> int:
    return round(value * next(by)) if value >= _LEAST_COUNT else value


@moved.register
def _(value: np.ndarray, by: Iterator[float]) -> Any:
    if value.dtype.kind != "f":
        return value
    return value * np.fromiter(by, float, value.size).reshape(value.shape)


@moved.register
def _(value: pl.DataFrame, by: Iterator[float]) -> pl.DataFrame:
    floats = [name for name, kind in value.schema.items() if kind.is_float()]
    results = [name for name in METRICS if name in floats] or floats
    return value.with_columns(
        pl.Series(name, moved(value[name].to_numpy(), by)) for name in results
    )


@moved.register
def _(value: Mapping, by: Iterator[float]) -> dict[Any, Any]:  # type: ignore[type-arg]
    return {key: moved(of_key, by) for key, of_key in value.items()}


@moved.register(list)
@moved.register(tuple)
def _(value: Sequence[Any], by: Iterator[float]) -> Any:
    return type(value)(moved(of_row, by) for of_row in value)


def assert_matches_are_computed(
    found: Findings,
    run_again: Callable[[], Findings],
    *roots: tuple[object, str],
    counted: Collection[str] = (),
) -> None:
    """Check that each match of a paper moves if everything does that is computed for it.

    A match that stays is a copy of the print, or follows from copies: an input.

    Args:
        found: findings of the paper.
        run_again: runs it again, with a runner that changes the results of its simulations.
        roots: functions besides simulations: an object or module, and the name of the function.
        counted: items that count things that stay; they have tests of their own.
    """
    by = factors()
    with pytest.MonkeyPatch.context() as patch:
        for owner, name in roots:
            patch.setattr(owner, name, _moving(getattr(owner, name), by))
        again = {item.item: item.values for item in run_again().items}
    matches = [item for item in found.items if item.verdict in ("match", "match-if")]
    staying = {
        item.item
        for item in matches
        if (reading := item.reading) and item.values[reading] == again[item.item][reading]
    }
    assert staying <= set(counted), staying - set(counted)


def _moving(function: Callable[..., Any], by: Iterator[float]) -> Callable[..., Any]:
    return lambda *arguments, **settings: moved(function(*arguments, **settings), by)
