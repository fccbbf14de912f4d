"""Recording of a small drive: everything that happens on it, as the engine tells it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from writeamp._engine import TIMED_CAUSES, Simulation
from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.registry.specs import Spec, SpecLike
from writeamp.runs.loads import load_of_spec
from writeamp.runs.refusals import refusals

# Names of the streams of policies whose streams have one; others are numbered.
_STREAMS = {
    "single": ("all pages",),
    "sepgc": ("writes", "copies"),
    "hcwf": ("hot", "cold"),
    "hcwf-swap": ("hot", "cold"),
}
_PROGRAM, _VICTIM = "program", "victim"
# Candidates whose scores a page shows, the chosen one first.
_SHOWN = 8
# Kinds of events, in the numbers by which the page knows them (reducer.js).
KINDS = (_PROGRAM, "erase", "open", _VICTIM, "unmap", "group created", "group merged")
_HOST = TIMED_CAUSES.index("host")


@dataclass(frozen=True)
class Recording:
    """Events on a drive from its first fill on.

    An event is its kind's number in `KINDS` and up to three values, which
    crates/engine/src/observe/recording.rs describes. A choice of a victim is the measure of its
    policy, and the blocks that were looked at with their scores, the chosen one first.
    """

    name: str
    policy: Policy
    drive: Device
    workload: Spec
    events: list[list[int]]
    choices: list[tuple[str, list[tuple[int, float]]]]
    map: list[int]
    erase_counts: list[int]
    counters: dict[str, int]

    @property
    def filled(self) -> int:
        """Host writes of the first fill, which are not counted in WA."""
        return self.drive.logical_pages

    @property
    def host_pages(self) -> int:
        """Host writes since the first fill."""
        return self.counters["host_pages"] - self.filled

    @property
    def wa(self) -> float:
        """Write amplification since the first fill."""
        host = copies = 0
        for event in self.events:
            if event[0] == KINDS.index(_PROGRAM):
                is_host = event[3] == _HOST
                host += is_host
                copies += not is_host and host >= self.filled
        return 1 + copies / (host - self.filled)

    def facts(self) -> dict[str, Any]:
        """Return what a reader of `--json` may ask of it."""
        return {
            "name": self.name,
            **self.policy.facts(),
            "workload": str(self.workload),
            "op": self.drive.op,
            "host_pages": self.host_pages,
            "wa": self.wa,
        }

    def steps(self) -> list[list[str]]:
        """Return, for each host write, the kinds of the events that belong to it, its own last."""
        steps: list[list[str]] = [[]]
        for event in self.events:
            steps[-1].append(KINDS[event[0]])
            if event[0] == KINDS.index(_PROGRAM) and event[3] == _HOST:
                steps.append([])
        return steps

    def document(self) -> dict[str, Any]:
        """Return it as JSON types, for the page; an infinite score is null.

        Of each choice, it has the number of candidates and the best of them.
        """
        manager = Spec.of("managers", self.policy.manager)
        return {
            "name": self.name,
            "manager": self.policy.manager,
            "victims": self.policy.victims,
            "workload": str(self.workload),
            "blocks": self.drive.geometry.blocks,
            "pages_per_block": self.drive.geometry.pages_per_block,
            "logical_pages": self.drive.logical_pages,
            "op": self.drive.op,
            "filled": self.filled,
            "causes": TIMED_CAUSES,
            "streams": list(_STREAMS.get(manager.name, ())),
            "is_grouped": manager.name.startswith(("wolf", "fdp-")),
            "events": self.events,
            "choices": [
                [measure, len(scores), [[of, _number(score)] for of, score in scores[:_SHOWN]]]
                for measure, scores in self.choices
            ],
        }


def record(
    policy: Policy, drive: Device, workload: SpecLike, *, writes: int, seed: int, name: str = ""
) -> Recording:
    """Return what happens on a new drive that is filled once, in order, and then written to.

    Args:
        policy: block manager, victim policy and wear leveller.
        drive: shape of the drive.
        workload: what the host writes after the fill.
        writes: host page writes after the fill.
        seed: decides every random draw.
        name: how the page calls it; that of the policy if it is empty.

    Raises:
        WriteampError: a drive that is too small for its policy, or a policy that does not fit.
    """
    workload = Spec.of("workloads", workload)
    load = load_of_spec(workload, drive.logical_pages, drive)
    with refusals():
        run = Simulation(policy.drive(drive, recorded=True), load, seed=seed, batch_pages=64)
        run.fill(0, drive.logical_pages)
        run.run(writes)
    recorded = run.recording()
    assert recorded is not None, "the drive was built with a recording"
    events, choices = recorded
    return Recording(
        name=name or str(policy),
        policy=policy,
        drive=drive,
        workload=workload,
        events=[[KINDS.index(kind), *values] for kind, values in events],
        choices=choices,
        map=[int(page) for page in run.map()],
        erase_counts=[int(erases) for erases in run.erase_counts()],
        counters=run.counters(),
    )


def _number(score: float) -> float | None:
    """Return a score with the digits that anyone reads; None if it is infinite."""
    return None if math.isinf(score) else float(f"{score:.4g}")
