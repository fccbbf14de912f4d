"""Function `reproduce`: published values of a paper beside computed ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from writeamp.errors import Interrupted, WriteampError
from writeamp.files.output import AnyPath
from writeamp.plots import check_target, save
from writeamp.runners import Progress, Runner
from writeamp_papers.bench import Bench, Findings, Paper
from writeamp_papers.known import Form, surprises
from writeamp_papers.papers import PAPERS, find_paper

_PLOT_SUFFIX = ".png"


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
    folders = {
        name: None if folder is None else Path(folder)
        for name, folder in (("resume", resume), ("traces", traces))
    }
    _check_folders(found_paper, folders)
    if plots is not None:
        _make(Path(plots))
        check_target(Path(plots) / f"figure{_PLOT_SUFFIX}")
    report_step = step or (lambda _: None)
    bench = Bench(
        full=full,
        figures=plots is not None,
        step=report_step,
        progress=progress,
        runner=runner,
        **folders,
    )
    try:
        findings = found_paper.run(bench)
    except Interrupted as stopped:
        partial = Reproduction(**vars(stopped.finished), paper=found_paper, full=full)
        raise Interrupted(partial) from None
    for name, spec in findings.figures.items() if plots is not None else ():
        report_step(f"drawing {name}")
        save(spec, Path(plots or "") / f"{name}{_PLOT_SUFFIX}")
    return Reproduction(**vars(findings), paper=found_paper, full=full)


def _check_folders(paper: Paper, folders: dict[str, Path | None]) -> None:
    """Reject folders that the paper does not use, that are missing, or that cannot be created."""
    for name, folder in folders.items():
        if folder is not None and name not in paper.options:
            users = ", ".join(
                candidate.name for candidate in PAPERS.values() if name in candidate.options
            )
            raise WriteampError(
                f"{paper.name} does not use the folder of --{name}; leave it out (only {users} "
                "uses it)"
            )
    resume, traces = folders["resume"], folders["traces"]
    if resume is not None:
        _make(resume)
    if traces is not None and not traces.is_dir():
        raise WriteampError(f"the folder of traces {str(traces)!r} does not exist")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteampError(f"cannot make folder {str(folder)!r}: {error.strerror}") from None
