"""Runs of a comparison: their loads, policies and seeds, and how their results are stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.errors import WriteampError
from writeamp.results.documents import from_document, to_document
from writeamp.runs.meaning import meaning_of_run
from writeamp.runs.plan import Plan
from writeamp.runs.simulation_result import Result
from writeamp.studies.study import DocumentCodec, RunFacts


@dataclass(frozen=True)
class Turn:
    """Run of a comparison: index of its load, policy, seed, and index and name of its row."""

    load: int
    policy: Policy
    seed: int
    place: int
    name: str


# Plan and drive of each load. The plan is the one of the first run on that load.
Bases: TypeAlias = tuple[tuple[Plan, Device], ...]


def plan_of_turn(bases: Bases, turn: Turn) -> Plan:
    """Return the plan of a run, with the requests of its load."""
    plan, _ = bases[turn.load]
    return replace(plan, policy=turn.policy, run=replace(plan.run, seed=turn.seed))


class TurnCodec(DocumentCodec[Turn, Result | WriteampError]):
    """Storage of a comparison's runs; the key covers drive, load, policy, length and seed."""

    verb = "compare"

    def __init__(self, bases: Bases) -> None:
        """Set the plans and drives of the loads."""
        self._bases = bases

    def meaning(self, turn: Turn) -> dict[str, Any]:
        """Return the facts that determine the run's result."""
        return meaning_of_run(plan_of_turn(self._bases, turn), self._bases[turn.load][1])

    def facts(self, turn: Turn, result: Result | WriteampError) -> RunFacts:
        """Return the columns of a result for the table of stored runs."""
        assert not isinstance(result, WriteampError), "errors are not stored"
        return RunFacts(turn.name, turn.seed, result.wa)

    def document(self, turn: Turn, result: Result | WriteampError) -> Any:
        """Return a result as JSON types, without its plan and drive."""
        return to_document(result, without=("plan", "device"))

    def result(self, turn: Turn, document: Any) -> Result | WriteampError:
        """Return the stored result, with its plan and drive."""
        plan, drive = plan_of_turn(self._bases, turn), self._bases[turn.load][1]
        return from_document(Result, document, plan=plan.without_requests(), device=drive)
