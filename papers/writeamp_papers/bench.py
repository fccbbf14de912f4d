"""Bench and findings: the options of a reproduction, and the results of a paper's parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from writeamp.errors import Interrupted
from writeamp.plots import FigureSpec
from writeamp.results.any_result import AnyResult
from writeamp.runners import Runner, gather_whole, local_runner
from writeamp_papers.items import COMPARABLE, VERDICTS, Item, Verdict
from writeamp_papers.known import without_comparison
from writeamp_papers.readings import AS_PRINTED, Reading

Step: TypeAlias = Callable[[str], None]
_T = TypeVar("_T")

# A drive of a real size takes half a gigabyte.
_MOST_THREADS = 4


def _silent(_: str) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class Bench:
    """Options of a reproduction: at full length or in short, with figures or without.

    `step` is told what is being computed, in a few words. `runner` does the simulations; by default
    threads of this process do. `resume` is a folder in which a paper that can resume keeps its
    measurements, and goes on from those that it has; `traces` is one with published traces.
    """

    full: bool = False
    figures: bool = False
    step: Step = _silent
    runner: Runner | None = None
    resume: Path | None = None
    traces: Path | None = None

    def map(self, work: Callable[..., _T], arguments: Sequence[tuple[Any, ...]]) -> list[_T]:
        """Return `work(*one)` for every `one` of the arguments, several at a time, in order.

        Args:
            work: a function of a module, also with arguments bound to it by `functools.partial`.
            arguments: plain values.
        """
        runner = self.runner or local_runner(len(arguments), _MOST_THREADS)
        return gather_whole(runner, partial(_apply, work), arguments)


def _apply(work: Callable[..., _T], one: tuple[Any, ...]) -> _T:
    return work(*one)


@dataclass(frozen=True)
class Findings(AnyResult):
    """Results of reproducing a paper: items, and figures by the name of their file.

    The name of a figure's file has no suffix.

    `skipped` has a sentence for each part that this machine cannot run, with what it lacks.
    `unfinished` are the numbers of the parts, from 1, that an interruption left out.
    """

    items: list[Item] = field(default_factory=list)
    figures: dict[str, FigureSpec] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    unfinished: tuple[int, ...] = ()

    def _records(self) -> list[dict[str, Any]]:
        return [item.to_dict() for item in self.items]

    def __add__(self, other: Findings) -> Findings:
        """Return both findings together, in order."""
        return Findings(
            self.items + other.items, self.figures | other.figures, self.skipped + other.skipped
        )

    def count(self) -> dict[Verdict, int]:
        """Return how many items have each verdict."""
        return {verdict: [i.verdict for i in self.items].count(verdict) for verdict in VERDICTS}

    def comparable(self) -> list[Item]:
        """Return the items that compare a printed number with a computed one."""
        return [item for item in self.items if item.verdict in COMPARABLE]

    def matches(self, reading: str) -> int:
        """Return how many of the comparable items agree under one joint reading."""
        return sum(item.agrees(item.values[reading]) for item in self.comparable())


def part(module: str, function: str = "run", *arguments: str) -> Callable[[Bench], Findings]:
    """Return a part of a paper that is imported as it is run.

    Whoever only lists papers does not wait for what computes them, nor needs the extras of one.

    Args:
        module: its full name.
        function: called with the bench and `arguments`; it returns findings.
        arguments: further ones.
    """

    def run(bench: Bench) -> Findings:
        found: Findings = getattr(import_module(module), function)(bench, *arguments)
        return found

    return run


@dataclass(frozen=True)
class Paper:
    """A registered paper: `parts` compute everything anew each time, one after the other.

    The first of the joint `readings` is the default, which the verdicts follow.
    """

    name: str
    citation: str
    summary: str
    parts: tuple[Callable[[Bench], Findings], ...]
    readings: tuple[Reading, ...] = (AS_PRINTED,)
    # Of a bench's, those that not every paper can use.
    options: frozenset[str] = frozenset()

    def run(self, bench: Bench) -> Findings:
        """Return the findings of all parts, every item with its value under each joint reading.

        Raises:
            Interrupted: Ctrl-C, with the findings of the parts that were finished.
        """
        found, done = Findings(), 0
        try:
            for part in self.parts:
                found += self._judged(part(bench))
                done += 1
        except KeyboardInterrupt:
            left = tuple(range(done + 1, len(self.parts) + 1))
            raise Interrupted(replace(found, unfinished=left)) from None
        return found

    def _judged(self, found: Findings) -> Findings:
        names = [reading.name for reading in self.readings]
        items = [item.under(names) for item in found.items]
        return replace(found, items=without_comparison(self.name, items))
