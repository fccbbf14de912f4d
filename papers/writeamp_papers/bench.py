"""Options of a reproduction (`Bench`), and results of a paper's parts (`Findings`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from writeamp.plots import FigureSpec
from writeamp.results.any_result import AnyResult
from writeamp.runners import Progress, Runner, gather_whole, local_runner
from writeamp_papers.items import COMPARABLE, VERDICTS, Item, Verdict

Step: TypeAlias = Callable[[str], None]
_T = TypeVar("_T")

# A simulated drive of full size takes half a gigabyte of memory, so few run at once.
_MOST_THREADS = 4


def _silent(_: str) -> None:
    """Ignore the description of a step (default callback)."""


@dataclass(frozen=True)
class Bench:
    """Options of a reproduction.

    Attributes:
        full: True for larger drives and longer runs, up to the paper's, False for small ones.
        figures: whether figures are computed.
        plots: folder in which the figures of each finished part are drawn, if they are computed.
        step: called with a short description of each step when it begins.
        progress: called with the number of finished runs of the step, and of all its runs.
        runner: runs the simulations; by default threads of this process.
        resume: folder in which finished parts are kept and from which they are reused.
        traces: folder with published traces; only papers with `Paper.uses_traces` use it.
    """

    full: bool = False
    figures: bool = False
    plots: Path | None = None
    step: Step = _silent
    progress: Progress | None = None
    runner: Runner | None = None
    resume: Path | None = None
    traces: Path | None = None

    def map(self, work: Callable[..., _T], arguments: Sequence[tuple[Any, ...]]) -> list[_T]:
        """Return the results of `work` on each tuple of arguments, in order; run several at a time.

        Args:
            work: a module-level function, possibly with arguments bound by `functools.partial`.
            arguments: tuples of plain values.
        """
        runner = self.runner or local_runner(len(arguments), _MOST_THREADS)
        return gather_whole(runner, partial(_apply, work), arguments, progress=self.progress)


def _apply(work: Callable[..., _T], row: tuple[Any, ...]) -> _T:
    return work(*row)


@dataclass(frozen=True)
class Findings(AnyResult):
    """Results of reproducing a paper: items, and figures by file name without suffix.

    `skipped` has a sentence for each part that this machine cannot run, with the missing
    requirement. `unfinished` has the numbers, from 1, of the parts that an interruption left out.
    """

    items: list[Item] = field(default_factory=list)
    figures: dict[str, FigureSpec] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    unfinished: tuple[int, ...] = ()

    def _records(self) -> list[dict[str, Any]]:
        return [item.to_dict() for item in self.items]

    def __add__(self, other: Findings) -> Findings:
        """Return the items, figures and skipped parts of both; `unfinished` is empty."""
        return Findings(
            self.items + other.items, self.figures | other.figures, self.skipped + other.skipped
        )

    def count(self) -> dict[Verdict, int]:
        """Return the number of items with each verdict."""
        return {verdict: [i.verdict for i in self.items].count(verdict) for verdict in VERDICTS}

    def count_text(self) -> str:
        """Return the number of items with each verdict as text, without verdicts of no item."""
        return ", ".join(f"{count} {verdict}" for verdict, count in self.count().items() if count)

    def comparable(self) -> list[Item]:
        """Return the items that compare a printed number with a computed one.

        Their verdicts are match, match-if or differs. Bounds and orderings are included. Misprints,
        inputs, checked values and numbers that cannot be computed are left out.
        """
        return [item for item in self.items if item.verdict in COMPARABLE]

    def matches(self, reading: str) -> int:
        """Return the number of comparable items that agree under one reading of the paper."""
        return sum(item.agrees(item.values[reading]) for item in self.comparable())
