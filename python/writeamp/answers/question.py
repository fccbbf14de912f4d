"""Question that all ways answer: one drive, its load and its policies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from writeamp.answers.case import Case, Found
from writeamp.answers.settings import QuestionSettings
from writeamp.answers.window import Window, window_of
from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.errors import WriteampError
from writeamp.registry.specs import Spec
from writeamp.runs.expectation import Expectation, mean_field
from writeamp.runs.inputs import Prepared, prepare
from writeamp.runs.one_run import new_simulation
from writeamp.runs.plan import Plan
from writeamp.runs.runner import run
from writeamp.runs.simulation_result import Result
from writeamp.runs.timed.result import TimedResult
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import PolicySettings, SimulationSettings
from writeamp.studies.candidates import alone
from writeamp.studies.mixture import CandidateRun, Mixture
from writeamp.studies.simulation import in_pages, plan_of, policy_of
from writeamp.traces.touching import OPS
from writeamp.vssd.result import ServeResult

# A synthetic load that trims comes to its share of held pages after so many drive writes.
_WRITES_UNTIL_HELD = 4
# What a single run is about, of all that `simulate` can do.
_NOT_HERE = ("time", "host_bytes", "rb_capture")


@dataclass(eq=False)
class Question:
    """The drive, the load and the policies that are asked about, and what was found so far.

    Attributes:
        experiment: the settings, for `simulate`.
        asked: the settings besides.
        prepared: the drive, and the load in its pages.
        plan: of the simulation.
        simulated: result of that; None until it has run.
        timed: result of the run in time and its case; None until it has run, or without one.
        served: result of the program on the virtual drive; None without one.
        others: of a drive that is known by candidates, the question of each but the first.
        mixture: what all of these come to in the simulation; None until it has run.
    """

    experiment: Experiment
    asked: QuestionSettings
    prepared: Prepared
    plan: Plan
    simulated: Result | None = None
    timed: tuple[Case, TimedResult] | None = None
    served: ServeResult | None = None
    others: tuple[Question, ...] = ()
    mixture: Mixture | None = None
    notes: list[str] = field(default_factory=list)

    @staticmethod
    def of(experiment: Experiment, asked: QuestionSettings) -> Question:
        """Prepare a question.

        Raises:
            WriteampError: an input that cannot be used.
        """
        settings, policy = experiment.run, experiment.policy
        assert isinstance(settings, SimulationSettings)
        assert isinstance(policy, PolicySettings)
        _check(experiment, settings)
        prepared = prepare(experiment)
        if prepared.drive.kind != "flash":
            raise WriteampError(
                f"{prepared.drive.name} is a {prepared.drive.kind}, which amplifies no writes; "
                "answer is about one flash drive"
            )
        untimed = in_pages(replace(settings, timed=False), prepared.drive)
        plan = plan_of(prepared, experiment, policy_of(policy), untimed)
        # What cannot be simulated is refused before the first row is printed.
        new_simulation(plan, prepared.drive, plan.run.seed)
        return Question(experiment, asked, prepared, plan, others=_others(experiment, asked))

    def mixed(self, found: Sequence[tuple[int, Found, bool]]) -> Mixture:
        """Return the mixture of what candidates come to, by their number, and if it is steady."""
        candidates = self.experiment.candidates
        assert candidates is not None
        runs = tuple(
            CandidateRun(candidates.carrying[at], one.wa, (one.ci[1] - one.ci[0]) / 2, is_steady)
            for at, one, is_steady in found
        )
        profile = str(self.experiment.device.profile)
        return Mixture(profile, self.plan.load_name, runs, candidates.error)

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

    @cached_property
    def mean_field(self) -> Expectation | None:
        """Mean field of this very load and policy; None of those that have none."""
        return mean_field(self.plan, self.drive, self.held_pages)

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

    @property
    def found(self) -> Found:
        """WA by the simulation."""
        assert self.simulated is not None, "it ran before anything is compared with it"
        if self.mixture is not None:
            return Found(self.mixture.wa, self.mixture.ci, self.simulated)
        return Found(self.simulated.wa, self.simulated.ci, self.simulated)

    @cached_property
    def window(self) -> Window:
        """The part of the load that slow ways are shown."""
        assert self.simulated is not None, "its length decides how the drive is aged"
        return window_of(self.plan, self.drive, self.simulated.passes.height)

    @cached_property
    def windowed(self) -> Case:
        """The simulation of the window."""
        return Case(self.window.plan, self.drive, self.held_pages, is_pass=self.is_trace)

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


def _others(experiment: Experiment, asked: QuestionSettings) -> tuple[Question, ...]:
    candidates = experiment.candidates
    if candidates is None:
        return ()
    each = [alone(experiment, candidates, one, may_scale=False) for one in candidates.carrying[1:]]
    return tuple(Question.of(one, asked) for one in each)


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
