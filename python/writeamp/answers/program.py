"""Program as the load: run once on a virtual drive, and recorded for all other ways."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from writeamp.answers.question import Question
from writeamp.answers.settings import QuestionSettings
from writeamp.errors import WriteampError
from writeamp.files.temporary import temporary_folder
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import LoadSettings, PolicySettings, SimulationSettings
from writeamp.vssd.policy_settings import BuiltInPolicySettings
from writeamp.vssd.session import serve
from writeamp.vssd.settings import DriveSettings
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
        question = Question.of(recorded, asked)
        question.served = served
        if served.run_exit_status:
            question.notes.append(f"the command failed with status {served.run_exit_status}")
        yield question
