"""Function `answer`: the command `answer` in Python, including a program on a virtual drive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Unpack

from writeamp.answers.answering import Listener, answered
from writeamp.answers.question import Question
from writeamp.answers.result import Answer
from writeamp.answers.settings import QuestionSettings
from writeamp.answers.way import WayRow
from writeamp.devices.device import DeviceLike
from writeamp.errors import WriteampError
from writeamp.fields.setting import words_of
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

# The program's output goes to standard error, so that it does not mix with the result on standard
# output.
_STDERR = 2
# Settings of loads and runs that also apply to a program. `spread` is off in any case.
_OF_PROGRAMS = {"precondition", "seed", "spread"}


@contextmanager
def question_of_program(experiment: Experiment, settings: QuestionSettings) -> Iterator[Question]:
    """Run a question's command on a virtual drive; yield the question for the recorded load.

    Raises:
        WriteampError: an impossible drive, a missing program, or a command that wrote nothing.
        KeyboardInterrupt: a signal ended the command.
    """
    load, policy, run = experiment.load, experiment.policy, experiment.run
    assert isinstance(load, LoadSettings)
    assert isinstance(policy, PolicySettings)
    assert isinstance(run, SimulationSettings)
    if load.workload is not None or load.trace is not None:
        raise WriteampError(
            "--run is the load; leave out --workload, --fio, --fio-run and --trace, or leave out "
            "--run"
        )
    _check_program(experiment)
    with temporary_folder("answer-") as folder:
        trace = folder / "program.parquet"
        drive = DriveSettings(
            mount=settings.mount,
            fs=settings.fs,
            precondition=load.precondition,
            seed=run.seed,
            record=str(trace),
        )
        built_in = BuiltInPolicySettings(
            manager=policy.manager, victims=policy.victims, wear_leveling=policy.wear_leveling
        )
        served = serve(
            specify(experiment.device, built_in, drive), run=settings.run, stdout=_STDERR
        )
        if served.interrupted_by is not None:
            raise KeyboardInterrupt
        if not served.host_pages:
            raise WriteampError(
                "the command of --run wrote nothing to the drive; write to $uri, $unixsocket or "
                "$mountpoint"
            )
        recorded = Experiment.of("simulate", trace=str(trace), repeat=1, spread=False)
        status = served.run_exit_status
        notes = (f"the command of --run failed with status {status}",) if status else ()
        yield Question.of(recorded, settings, program=served, notes=notes)


def _check_program(experiment: Experiment) -> None:
    """Reject settings of a simulated load, since the load is the command's.

    Raises:
        WriteampError: a setting that would have no effect.
    """
    if experiment.device.capacity is not None:
        raise WriteampError(
            "capacity is for simulated loads, but the command of --run writes to a virtual drive "
            "of the full size; give --size instead"
        )
    idle = [
        words_of(field).name or field.name
        for group in (experiment.load, experiment.run)
        for field in fields(group)
        if field.name not in _OF_PROGRAMS and not words_of(field).is_speed
        if getattr(group, field.name) != field.default
    ]
    if idle:
        raise WriteampError(
            f"{idle[0]} is for simulated loads, but the command of --run is the load; leave it out"
        )


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
    """Compute WA of a load on a drive by all sources, and explain their differences.

    The sources are formulas, mean fields, a simulation, a simulation in virtual time, a virtual
    drive behind NBD, and counters of a real drive, if given (docs/answer.md).

    Args:
        device: as for `simulate`.
        workload: as for `simulate`.
        run: a shell command that writes to the virtual drive, instead of a workload or trace.
        mount: folder where the virtual drive is mounted for the command.
        fs: file system for the mount.
        counters: a snapshot of a real drive's counters, or two: before and after this load.
        model: model of the real drive, if the files of `counters` do not contain it.
        quick: leave out each step after the simulation that would take more than ten seconds.
        row: called with each row when it is finished.
        part: called with the name of each step when it starts.
        progress: called with the amount done and the total of the current step.
        settings: settings of untimed runs of `simulate`; listed below.

    Returns:
        `Answer`: `rows` (one for each source, with `wa` and `reason`), `differences`, `advice`,
        `warnings`; `row(kind)` returns the first row of a kind, such as "simulate".

    Raises:
        WriteampError: an invalid input; the sentence names it and the valid values.
        Interrupted: Ctrl-C; `finished` is the answer so far.

    >>> import writeamp as wa
    >>> drive = {"blocks": 64, "pages_per_block": 16, "op": 0.25}
    >>> answer = wa.answer(workload="uniform", writes=50_000, **drive)
    >>> [row.way for row in answer.rows]
    ['formula markov', 'mean-field greedy', 'simulate', 'virtual', 'timed']
    """
    one_snapshot = counters is None or isinstance(counters, str) or hasattr(counters, "__fspath__")
    question_settings = QuestionSettings(
        run=run,
        mount=None if mount is None else str(mount),
        fs=fs,
        counters=counters if counters is None else ((counters,) if one_snapshot else counters),  # type: ignore[arg-type]
        model=model,
        quick=quick,
    )
    experiment = Experiment.of("simulate", device=device, workload=workload, **settings)
    return answer_of(
        experiment,
        question_settings,
        Listener(row or _ignore, part or _ignore, progress or _ignore),
    )


def _ignore(*_: object) -> None:
    """Ignore all arguments."""


def answer_of(experiment: Experiment, settings: QuestionSettings, listener: Listener) -> Answer:
    """Return the answer for an experiment and a question's settings."""
    if settings.run is not None:
        with question_of_program(experiment, settings) as question:
            return answered(question, listener)
    return answered(Question.of(experiment, settings), listener)
