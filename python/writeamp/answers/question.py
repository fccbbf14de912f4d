"""Question that all ways answer: one drive, its load and its policies; and its simulation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from writeamp.answers.case import Case, MeasuredCase
from writeamp.answers.settings import QuestionSettings
from writeamp.answers.window import LoadWindow, window_of
from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.errors import WriteampError
from writeamp.registry.specs import Spec
from writeamp.runs.inputs import PreparedRun, prepare
from writeamp.runs.one_run import new_simulation
from writeamp.runs.plan import Plan, policy_of
from writeamp.runs.runner import run
from writeamp.runs.simulation_result import Result
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import PolicySettings, SimulationSettings
from writeamp.studies.candidates import mixture_from, others_alone
from writeamp.studies.mixture import Mixture
from writeamp.studies.simulation import in_pages, plan_of
from writeamp.traces.touching import OPS
from writeamp.vssd.result import ServeResult

# A synthetic load that trims comes to its share of held pages after so many drive writes.
_WRITES_UNTIL_HELD = 4
# What a single run is about, of all that `simulate` can do.
_NOT_HERE = ("time", "host_bytes", "rb_capture")


@dataclass(frozen=True, eq=False)
class Question:
    """A drive, its load and its policies.

    Attributes:
        experiment: the settings, for `simulate`.
        settings: the settings besides.
        prepared: the drive, and the load in its pages.
        plan: of the simulation.
        others: of a drive that is known by candidates, the question of each but the first.
        program: result of the program on the virtual drive whose writes are the load, if any.
        notes: sentences on what was assumed.
    """

    experiment: Experiment
    settings: QuestionSettings
    prepared: PreparedRun
    plan: Plan
    others: tuple[Question, ...] = ()
    program: ServeResult | None = None
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(
        experiment: Experiment,
        settings: QuestionSettings,
        *,
        program: ServeResult | None = None,
        notes: tuple[str, ...] = (),
    ) -> Question:
        """Prepare a question.

        Raises:
            WriteampError: an input that cannot be used.
        """
        run_settings, policy = experiment.run, experiment.policy
        assert isinstance(run_settings, SimulationSettings)
        assert isinstance(policy, PolicySettings)
        _check(experiment, run_settings)
        prepared = prepare(experiment)
        if prepared.drive.kind != "flash":
            raise WriteampError(
                f"{prepared.drive.name} is a {prepared.drive.kind}, which amplifies no writes; "
                "answer is about one flash drive"
            )
        untimed = in_pages(replace(run_settings, timed=False), prepared.drive)
        plan = plan_of(prepared, experiment, policy_of(policy), untimed)
        # What cannot be simulated is refused before the first row is printed.
        new_simulation(plan, prepared.drive, plan.run.seed)
        others = tuple(Question.of(one, settings) for one in others_alone(experiment))
        return Question(experiment, settings, prepared, plan, others, program, notes)

    def mixed(self, measured: Sequence[tuple[int, MeasuredCase, bool]]) -> Mixture:
        """Return the mixture of candidates: number, WA and whether the run is steady, of each."""
        found = ((at, one.wa, one.error_bar, is_steady) for at, one, is_steady in measured)
        return mixture_from(self.experiment, self.plan.load_name, found)

    @property
    def drive(self) -> Device:
        """The drive."""
        return self.prepared.drive

    @property
    def policy(self) -> Policy:
        """Its policies."""
        return self.plan.policy

    @property
    def is_trace(self) -> bool:
        """True if the load is a trace."""
        return not isinstance(self.plan.load, Spec)

    @property
    def written_pages(self) -> int:
        """Distinct logical pages that the host writes."""
        load = self.plan.load
        if isinstance(load, Spec):
            return self.plan.used_pages(self.drive)
        return load.footprint_pages

    @cached_property
    def simulation(self) -> Case:
        """The simulation, from which the other ways differ by one thing after another."""
        return Case(self.plan, self.drive, self.held_pages)

    def interval(self, of_run: tuple[float, float]) -> tuple[float, float]:
        """Return the interval of a run of the window; one pass over a trace has none.

        What differs within a pass is the trace itself, and no chance.
        """
        return (math.nan, math.nan) if self.is_trace else of_run

    @cached_property
    def held_pages(self) -> int:
        """Logical pages that hold data once the load has run for long."""
        plan, load = self.plan, self.plan.load
        used = plan.used_pages(self.drive)
        if isinstance(load, Spec):
            if "trim" not in load.params:
                return used
            run_of = replace(plan.run, writes=_WRITES_UNTIL_HELD * self.drive.logical_pages)
            return self._held_after(replace(plan, run=replace(run_of, warmup=0, replicas=1)))
        fills_all = plan.host.precondition not in ("workload", "none")
        if not (load.op == OPS["trim"]).any():
            return self.drive.logical_pages if fills_all else load.footprint_pages
        once = replace(plan.run, writes=None, warmup=0, replicas=1)
        return self._held_after(replace(plan, run=once, host=replace(plan.host, repeat=1)))

    def _held_after(self, plan: Plan) -> int:
        return run(plan, self.drive).held_pages


@dataclass(frozen=True, eq=False)
class SimulatedQuestion:
    """A question and its simulation, with which the other ways are compared.

    Attributes:
        question: the drive, its load and its policies.
        result: of the simulation.
        others: by number from 1, the other candidates of a learnt profile that were simulated.
        mixture: WA over all candidates; None of one drive.
    """

    question: Question
    result: Result
    others: Mapping[int, SimulatedQuestion] = field(default_factory=dict)
    mixture: Mixture | None = None

    @property
    def measured(self) -> MeasuredCase:
        """WA by the simulation."""
        if self.mixture is not None:
            return MeasuredCase.of(self.mixture, self.result)
        return MeasuredCase(self.result.wa, self.result.ci, self.result)

    @cached_property
    def window(self) -> LoadWindow:
        """The part of the load that slow ways run, on a drive aged as the simulation was."""
        return window_of(self.question.plan, self.question.drive, self.result.passes.height)

    @cached_property
    def windowed(self) -> Case:
        """The simulation of the window."""
        question = self.question
        plan, drive, held_pages = self.window.plan, question.drive, question.held_pages
        return Case(plan, drive, held_pages, is_pass=question.is_trace)


def _check(experiment: Experiment, settings: SimulationSettings) -> None:
    """Refuse settings of one way, which the others have not.

    Raises:
        WriteampError: the first of them.
    """
    defaults: Any = SimulationSettings()
    for name in (*_NOT_HERE, "time_scale"):
        if getattr(settings, name) != getattr(defaults, name):
            raise WriteampError(
                f"{name} is of one timed run, and answer runs each way for as long as it needs; "
                "leave it out, or ask writeamp simulate"
            )
    if experiment.device.capacity is not None:
        raise WriteampError(
            "capacity is simulated by a smaller drive, and times do not scale; give answer a size"
        )
