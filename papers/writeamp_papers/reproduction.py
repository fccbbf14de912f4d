"""Function `reproduce`: published values of a paper beside computed ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from writeamp.errors import Interrupted, WriteampError
from writeamp.files.output import AnyPath
from writeamp.plots import check_target
from writeamp.runners import Progress, Runner
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.known import Form, surprises
from writeamp_papers.paper import Paper
from writeamp_papers.papers import PAPERS, find_paper


@dataclass(frozen=True, kw_only=True)
class Reproduction(Findings):
    """Results of reproducing a paper, and differences that are not known.

    Attributes:
        paper: the paper.
        full: True for full reproductions, with larger drives and longer runs.
    """

    paper: Paper
    full: bool = False

    @property
    def form(self) -> Form:
        """Form of the reproduction, to which known differences belong."""
        return "full" if self.full else "short"

    @property
    def unexpected(self) -> list[str]:
        """A sentence for each difference that is not in the list of known ones, or has changed."""
        whole = not self.unfinished and not self.skipped
        return surprises(self.paper.name, self.items, self.form, whole=whole)

    def to_dict(self) -> dict[str, Any]:
        """Return the items, and how many of them agree under each reading, as JSON types."""
        comparable = len(self.comparable())
        readings = [
            {
                "name": reading.name,
                "choices": dict(reading.choices),
                "default": reading is self.paper.readings[0],
                "matches": self.matches(reading.name),
                "comparable": comparable,
            }
            for reading in self.paper.readings
        ]
        counts_by_reading = {
            "paper": self.paper.name,
            "readings": readings,
            "items": self._records(),
            "unexpected": self.unexpected,
            "skipped": self.skipped,
        }
        return counts_by_reading | ({"interrupted": True} if self.unfinished else {})


def reproduce(
    paper: str,
    *,
    plots: AnyPath | None = None,
    full: bool = False,
    resume: AnyPath | None = None,
    traces: AnyPath | None = None,
    step: Callable[[str], None] | None = None,
    progress: Progress | None = None,
    runner: Runner | None = None,
) -> Reproduction:
    """Compute a paper's published values and compare them; see `writeamp.reproduce`.

    Returns:
        `Reproduction`: `items`, `figures`, `unexpected`, `skipped` and `unfinished`.

    Raises:
        WriteampError: the paper is unknown, or a folder cannot be used.
        Interrupted: Ctrl-C; its `finished` is the `Reproduction` of the finished parts.
    """
    found_paper = find_paper(paper)
    if traces is not None:
        _check_traces(found_paper, Path(traces))
    if resume is not None:
        _make(Path(resume))
    if plots is not None:
        _make(Path(plots))
        check_target(Path(plots) / "figure.png")
    bench = Bench(
        full=full,
        figures=plots is not None,
        plots=None if plots is None else Path(plots),
        step=step or (lambda _: None),
        progress=progress,
        runner=runner,
        resume=None if resume is None else Path(resume),
        traces=None if traces is None else Path(traces),
    )
    try:
        findings = found_paper.run(bench)
    except Interrupted as stopped:
        partial = Reproduction(**vars(stopped.finished), paper=found_paper, full=full)
        raise Interrupted(partial) from None
    return Reproduction(**vars(findings), paper=found_paper, full=full)


def _check_traces(paper: Paper, folder: Path) -> None:
    """Reject a folder of traces that the paper does not use, or that is missing."""
    if not paper.uses_traces:
        users = ", ".join(candidate.name for candidate in PAPERS.values() if candidate.uses_traces)
        raise WriteampError(
            f"{paper.name} does not use the folder of --traces; leave it out (only {users} uses it)"
        )
    if not folder.is_dir():
        raise WriteampError(f"the folder of traces {str(folder)!r} does not exist")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteampError(f"cannot make folder {str(folder)!r}: {error.strerror}") from None
