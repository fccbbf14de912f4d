"""Question for all sources: one drive, its load and its policies; and its simulation."""

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
from writeamp.runs.partial_pages import factor_of_load
from writeamp.runs.plan import Plan, policy_of
from writeamp.runs.runner import run
from writeamp.runs.simulation_result import Result
from writeamp.runs.substitute import NO_SUBSTITUTE, Substitute
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import PolicySettings, SimulationSettings
from writeamp.studies.candidates import mixture_from, others_alone
from writeamp.studies.capacity.scale import notes_of
from writeamp.studies.capacity.scaled_experiment import ScaledExperiment
from writeamp.studies.mixture import Mixture
from writeamp.studies.simulation import in_pages, plan_of
from writeamp.traces.touching import OPS
from writeamp.vssd.result import ServeResult

# Drive writes after which the share of pages that hold data is steady under a load with TRIM.
_WRITES_UNTIL_HELD = 4
_WITHOUT_LOAD = (
    "no load was given, so the drive's counters are the only source; give --trace, --workload or "
    "--run to compare them with theory and a simulation of this load, and to get advice"
)
# Settings of `simulate` that apply to a single timed run only, so `answer` rejects them.
_NOT_HERE = ("time", "host_bytes", "rb_capture")


@dataclass(frozen=True, eq=False)
class Question:
    """A drive, its load and its policies.

    Attributes:
        experiment: settings that `simulate` also has.
        settings: settings that only `answer` has.
        program: result of the program that wrote the load to the virtual drive, or None.
        notes: sentences on assumptions.
        scaled: the requested experiment, of which `experiment` is the one on a smaller drive; None
            if no capacity is requested.
    """

    experiment: Experiment
    settings: QuestionSettings
    program: ServeResult | None = None
    notes: tuple[str, ...] = ()
    scaled: ScaledExperiment | None = None

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
        run_settings = experiment.run
        assert isinstance(run_settings, SimulationSettings)
        _check(experiment, run_settings)
        scaled = ScaledExperiment.of(experiment)
        if scaled is not None:
            experiment = scaled.experiment
            notes += notes_of(scaled.requested, experiment, scaled.scale)
        question = Question(experiment, settings, program, notes, scaled)
        if not question.has_load:
            return replace(question, notes=(*notes, _WITHOUT_LOAD))
        # Reject impossible drives and simulations before the first row is printed.
        new_simulation(question.plan, question.drive, question.plan.run.seed)
        _ = question.others
        return question

    @cached_property
    def others(self) -> tuple[Question, ...]:
        """Questions for the candidates (possible drives) of a learnt profile, except the likeliest.

        Raises:
            WriteampError: a candidate is impossible.
        """
        return tuple(
            Question.of(candidate, self.settings) for candidate in others_alone(self.experiment)
        )

    @property
    def has_load(self) -> bool:
        """Whether there is a load to simulate.

        Counters of a real drive alone are the result of an unknown load. Without counters the load
        is the default, and a learnt profile describes the drive under this load.
        """
        load = self.experiment.load
        return (
            self.settings.counters is None
            or load.workload is not None
            or load.trace is not None
            or self.experiment.candidates is not None
        )

    @cached_property
    def prepared(self) -> PreparedRun:
        """The drive, and the load in pages of this drive.

        Raises:
            WriteampError: an invalid drive or trace, or a drive that has no write amplification.
        """
        prepared = prepare(self.experiment)
        if prepared.drive.kind != "flash":
            raise WriteampError(
                f"{prepared.drive.name} is a {prepared.drive.kind}, which has no write "
                "amplification; answer needs one flash drive"
            )
        return prepared

    @cached_property
    def plan(self) -> Plan:
        """Plan of the simulation."""
        experiment, prepared = self.experiment, self.prepared
        run_settings, policy = experiment.run, experiment.policy
        assert isinstance(run_settings, SimulationSettings)
        assert isinstance(policy, PolicySettings)
        untimed = in_pages(replace(run_settings, timed=False), prepared)
        plan = plan_of(prepared, experiment, policy_of(policy), untimed)
        return replace(plan, load_name=self._requested(plan).load_name)

    def _requested(self, plan: Plan) -> Plan:
        """Return a plan with the names of the requested load and policy."""
        return plan if self.scaled is None else self.scaled.target_plan(plan)

    @property
    def requested_policy(self) -> Policy:
        """Policy of the requested drive, whose parameters may differ on a smaller drive."""
        return self._requested(self.plan).policy

    @property
    def smaller(self) -> Question | None:
        """Question on a drive that is even smaller, which gives the scaling error, if any."""
        smaller = None if self.scaled is None else self.scaled.smaller
        return None if smaller is None else Question(smaller, self.settings)

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
    def partial_page_factor(self) -> float:
        """Bytes of the pages that the load writes, even partly / bytes that it writes, or NaN."""
        plan = self.plan
        return factor_of_load(plan.load, plan.used_pages(self.drive), self.drive, plan.seed)

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
    """A question and its simulation, with which the other sources are compared.

    Attributes:
        question: the drive, its load and its policies.
        result: result of the simulation.
        others: the other candidates of a learnt profile with their simulations, by number from 1.
        mixture: WA over all candidates; None for one drive.
        scaling: relation of the simulated drive to the requested one, with the scaling error.
    """

    question: Question
    result: Result
    others: Mapping[int, SimulatedQuestion] = field(default_factory=dict)
    mixture: Mixture | None = None
    scaling: Substitute = NO_SUBSTITUTE

    @property
    def measured(self) -> MeasuredCase:
        """WA of the simulation and its interval."""
        if self.mixture is not None:
            return MeasuredCase.of(self.mixture, self.result)
        return MeasuredCase(self.result.wa, self.result.ci, self.result)

    @cached_property
    def window(self) -> LoadWindow:
        """Part of the load that slow sources run, on a drive aged like the simulated one."""
        return window_of(self.question.plan, self.question.drive, self.result.passes.height)

    @cached_property
    def windowed(self) -> Case:
        """Settings of the simulation of the window."""
        question = self.question
        plan, drive, held_pages = self.window.plan, question.drive, question.held_pages
        return Case(plan, drive, held_pages, is_pass=question.is_trace)


def _check(experiment: Experiment, settings: SimulationSettings) -> None:
    """Reject settings that not all sources support.

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
