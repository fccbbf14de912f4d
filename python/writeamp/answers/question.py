"""Question for all methods: one drive, its load and its policies; and its simulation."""

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

# Drive writes after which the share of pages that hold data is steady under a load with TRIM.
_WRITES_UNTIL_HELD = 4
# Settings of `simulate` that apply to a single timed run only, so `answer` rejects them.
_NOT_HERE = ("time", "host_bytes", "rb_capture")


@dataclass(frozen=True, eq=False)
class Question:
    """A drive, its load and its policies.

    Attributes:
        experiment: settings that `simulate` also has.
        settings: settings that only `answer` has.
        prepared: the drive, and the load in pages of this drive.
        plan: plan of the simulation.
        others: questions for the candidates (possible drives) of a learnt profile, without the
            most probable one.
        program: result of the program that wrote the load to the virtual drive, or None.
        notes: sentences on assumptions.
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
            WriteampError: an invalid input.
        """
        run_settings, policy = experiment.run, experiment.policy
        assert isinstance(run_settings, SimulationSettings)
        assert isinstance(policy, PolicySettings)
        _check(experiment, run_settings)
        prepared = prepare(experiment)
        if prepared.drive.kind != "flash":
            raise WriteampError(
                f"{prepared.drive.name} is a {prepared.drive.kind}, which has no write "
                "amplification; answer needs one flash drive"
            )
        untimed = in_pages(replace(run_settings, timed=False), prepared.drive)
        plan = plan_of(prepared, experiment, policy_of(policy), untimed)
        # Reject an impossible simulation before the first row is printed.
        new_simulation(plan, prepared.drive, plan.run.seed)
        others = tuple(Question.of(candidate, settings) for candidate in others_alone(experiment))
        return Question(experiment, settings, prepared, plan, others, program, notes)

    def mixed(self, measured: Sequence[tuple[int, MeasuredCase, bool]]) -> Mixture:
        """Return WA over all candidates, each given as (number, WA, whether the run is steady)."""
        wa_by_candidate = (
            (number, result.wa, result.error_bar, is_steady)
            for number, result, is_steady in measured
        )
        return mixture_from(self.experiment, self.plan.load_name, wa_by_candidate)

    @property
    def drive(self) -> Device:
        """The drive."""
        return self.prepared.drive

    @property
    def policy(self) -> Policy:
        """Block manager, victim policy and wear leveller of the drive."""
        return self.plan.policy

    @property
    def is_trace(self) -> bool:
        """Whether the load is a trace."""
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
        """Settings of the simulation, from which causes are switched."""
        return Case(self.plan, self.drive, self.held_pages)

    def interval(self, of_run: tuple[float, float]) -> tuple[float, float]:
        """Return the 95% interval of WA in a run of the window, or NaN for one pass over a trace.

        The variation within a pass is not random.
        """
        return (math.nan, math.nan) if self.is_trace else of_run

    @cached_property
    def held_pages(self) -> int:
        """Logical pages that hold data in the long run."""
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
    """A question and its simulation, with which the other methods are compared.

    Attributes:
        question: the drive, its load and its policies.
        result: result of the simulation.
        others: the other candidates of a learnt profile with their simulations, by number from 1.
        mixture: WA over all candidates; None for one drive.
    """

    question: Question
    result: Result
    others: Mapping[int, SimulatedQuestion] = field(default_factory=dict)
    mixture: Mixture | None = None

    @property
    def measured(self) -> MeasuredCase:
        """WA of the simulation and its interval."""
        if self.mixture is not None:
            return MeasuredCase.of(self.mixture, self.result)
        return MeasuredCase(self.result.wa, self.result.ci, self.result)

    @cached_property
    def window(self) -> LoadWindow:
        """Part of the load that slow methods run, on a drive aged like the simulated one."""
        return window_of(self.question.plan, self.question.drive, self.result.passes.height)

    @cached_property
    def windowed(self) -> Case:
        """Settings of the simulation of the window."""
        question = self.question
        plan, drive, held_pages = self.window.plan, question.drive, question.held_pages
        return Case(plan, drive, held_pages, is_pass=question.is_trace)


def _check(experiment: Experiment, settings: SimulationSettings) -> None:
    """Reject settings that not all methods support.

    Raises:
        WriteampError: the first of these settings that is given.
    """
    defaults: Any = SimulationSettings()
    for name in (*_NOT_HERE, "time_scale"):
        if getattr(settings, name) != getattr(defaults, name):
            raise WriteampError(
                f"{name} is a setting of one timed run, which answer does not have; leave it out, "
                "or use writeamp simulate"
            )
    if experiment.device.capacity is not None:
        raise WriteampError(
            "answer cannot use capacity, because times of a smaller simulated drive do not scale; "
            "give a size"
        )
