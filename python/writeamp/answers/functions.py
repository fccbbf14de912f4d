"""Function `answer`: the verb in Python, also of a program that is run on a virtual drive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Unpack

from writeamp.answers.answering import Listener, answered
from writeamp.answers.question import Question
from writeamp.answers.result import Answer
from writeamp.answers.settings import QuestionSettings
from writeamp.answers.way import WayRow
from writeamp.devices.device import DeviceLike
from writeamp.errors import WriteampError
from writeamp.fields.shown_settings import with_settings_of
from writeamp.files.output import AnyPath
from writeamp.files.temporary import temporary_folder
from writeamp.registry.specs import SpecLike
from writeamp.runners import Progress
from writeamp.settings.experiment import Experiment, untimed_places
from writeamp.settings.settings import LoadSettings, PolicySettings, SimulationSettings
from writeamp.studies.arguments import SimulateArguments
from writeamp.vssd.session import serve
from writeamp.vssd.settings import BuiltInPolicySettings, DriveSettings
from writeamp.vssd.specification import specify

# The output of the command must not come into a document.
_STDERR = 2


@contextmanager
def question_of_program(experiment: Experiment, asked: QuestionSettings) -> Iterator[Question]:
    """Run the command of a question, and give the question of what it wrote.

    Raises:
        WriteampError: the drive cannot be, a program is missing, or nothing was written.
        KeyboardInterrupt: a signal ended the command.
    """
    load, policy, run = experiment.load, experiment.policy, experiment.run
    assert isinstance(load, LoadSettings)
    assert isinstance(policy, PolicySettings)
    assert isinstance(run, SimulationSettings)
    if load.workload is not None or load.trace is not None:
        raise WriteampError("--run is a load of its own; give it without --workload and --trace")
    with temporary_folder("answer-") as folder:
        trace = folder / "program.parquet"
        drive = DriveSettings(
            mount=asked.mount,
            fs=asked.fs,
            precondition=load.precondition,
            seed=run.seed,
            record=str(trace),
        )
        built_in = BuiltInPolicySettings(
            manager=policy.manager, victims=policy.victims, wear_leveling=policy.wear_leveling
        )
        served = serve(specify(experiment.device, built_in, drive), run=asked.run, stdout=_STDERR)
        if served.interrupted_by is not None:
            raise KeyboardInterrupt
        if not served.host_pages:
            raise WriteampError("the command of --run wrote nothing to the drive")
        recorded = Experiment.of("simulate", trace=str(trace), repeat=1, spread=False)
        status = served.run_exit_status
        notes = (f"the command failed with status {status}",) if status else ()
        yield Question.of(recorded, asked, program=served, notes=notes)


@with_settings_of(untimed_places())
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
    part: Callable[[str], None] | None = None,
    progress: Progress | None = None,
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
        part: called with the name of each part as it begins.
        progress: called with the amount done and the total of the current part.
        settings: those of untimed runs of `simulate`; listed below.

    Returns:
        `Answer`: `rows` (one for each way, with `wa` and `reason`), `differences`, `advice`,
        `warnings`; `row(way)` returns one row.

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
    return answer_of(
        experiment, asked, Listener(row or _nothing, part or _nothing, progress or _nothing)
    )


def _nothing(*_: object) -> None:
    """Ignore all arguments."""


def answer_of(experiment: Experiment, asked: QuestionSettings, listener: Listener) -> Answer:
    """Answer for settings."""
    if asked.run is not None:
        with question_of_program(experiment, asked) as question:
            return answered(question, listener)
    return answered(Question.of(experiment, asked), listener)
