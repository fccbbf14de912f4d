"""Function `answer`: the verb in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Unpack

from writeamp.answers.answering import Listener, answered
from writeamp.answers.program import question_of_program
from writeamp.answers.question import Question
from writeamp.answers.result import Answer
from writeamp.answers.row import WayRow
from writeamp.answers.settings import QuestionSettings
from writeamp.devices.device import DeviceLike
from writeamp.files.output import AnyPath
from writeamp.registry.specs import SpecLike
from writeamp.settings.experiment import Experiment
from writeamp.studies.functions import SimulateArguments


def answer(
    device: DeviceLike | None = None,
    workload: SpecLike | None = None,
    *,
    run: str | None = None,
    mount: AnyPath | None = None,
    fs: str | None = None,
    counters: AnyPath | Sequence[AnyPath] | None = None,
    model: str | None = None,
    quick: bool = False,
    row: Callable[[WayRow], None] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    **settings: Unpack[SimulateArguments],
) -> Answer:
    """Answer by every way how much a drive amplifies a load's writes, and why answers differ.

    Formulas and mean fields, a simulation, one in virtual time, a virtual drive behind NBD, and
    counters of a real drive where there are some (docs/answer.md).

    Args:
        device: as for `simulate`.
        workload: as for `simulate`.
        run: a shell command that writes to the virtual drive, in the place of a workload or trace.
        mount: where the virtual drive is mounted for it.
        fs: the file system for that.
        counters: a snapshot of a real drive's counters, or one before this load and one after it.
        model: of that drive, if its files do not say it.
        quick: leave out what takes more than ten seconds.
        row: called with each row as it comes.
        progress: called with what is being done, how far it is, and of how much.
        settings: by keyword, those of `simulate`, but for those of one timed run.

    Raises:
        WriteampError: an input that cannot be used; the sentence says which, and what is valid.
        Interrupted: Ctrl-C; `finished` is what there is.

    >>> import writeamp as wa
    >>> found = wa.answer(workload="uniform", blocks=64, pages_per_block=16, op=0.25, writes=50_000)
    >>> [row.way for row in found.rows]
    ['formula markov', 'mean-field greedy', 'simulate', 'virtual', 'timed']
    """
    one_snapshot = counters is None or isinstance(counters, str) or hasattr(counters, "__fspath__")
    asked = QuestionSettings(
        run=run,
        mount=None if mount is None else str(mount),
        fs=fs,
        counters=counters if counters is None else ((counters,) if one_snapshot else counters),  # type: ignore[arg-type]
        model=model,
        quick=quick,
    )
    experiment = Experiment.of("simulate", device=device, workload=workload, **settings)
    return answer_of(experiment, asked, Listener(row or _nothing, progress or _nothing))


def _nothing(*_: object) -> None:
    """Take no notice."""


def answer_of(experiment: Experiment, asked: QuestionSettings, listener: Listener) -> Answer:
    """Answer for settings."""
    if asked.run is not None:
        with question_of_program(experiment, asked) as question:
            return answered(question, listener)
    return answered(Question.of(experiment, asked), listener)
