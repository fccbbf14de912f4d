"""Recording of a small drive: every event on it, as the engine reports it."""

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

# Purpose of each stream (open block) of the managers whose streams have fixed purposes. The page
# numbers the streams of other managers.
_STREAMS = {
    "single": ("all pages",),
    "sepgc": ("writes", "copies"),
    "hcwf": ("hot", "cold"),
    "hcwf-swap": ("hot", "cold"),
}
_PROGRAM, _VICTIM = "program", "victim"
# Number of candidate blocks whose scores the page shows at a victim choice, the chosen one first.
_SHOWN = 8
# Kinds of events. The page identifies a kind by its index (reducer.js).
KINDS = (_PROGRAM, "erase", "open", _VICTIM, "unmap", "group created", "group merged")
_HOST = TIMED_CAUSES.index("host")


@dataclass(frozen=True)
class Recording:
    """Recording of all events on a drive, including those of its first fill.

    An event consists of its kind's index in `KINDS` and up to three values, described in
    crates/engine/src/observe/recording.rs. A victim choice consists of the name of the policy's
    score, and the candidate blocks with their scores; the chosen block comes first.
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
        """Return the facts on the recording for `--json`."""
        return {
            "name": self.name,
            **self.policy.facts(),
            "workload": str(self.workload),
            "op": self.drive.op,
            "host_pages": self.host_pages,
            "wa": self.wa,
        }

    def steps(self) -> list[list[str]]:
        """Return the kinds of events by host write; each list ends with the program of its page.

        The last list has the events after the last host write, and may be empty.
        """
        steps: list[list[str]] = [[]]
        for event in self.events:
            steps[-1].append(KINDS[event[0]])
            if event[0] == KINDS.index(_PROGRAM) and event[3] == _HOST:
                steps.append([])
        return steps

    def document(self) -> dict[str, Any]:
        """Return the recording as JSON types for the page; an infinite score is null.

        Each victim choice has the number of candidate blocks, and those with the best scores.
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
    """Return the recording of a new drive that is filled once in order and then written.

    Args:
        policy: block manager, victim policy and wear leveller.
        drive: shape of the drive.
        workload: host writes after the fill.
        writes: number of host page writes after the fill.
        seed: seed of every random draw.
        name: name of the drive on the page; if empty, the text of the policy.

    Raises:
        WriteampError: the drive is too small for its policy, or the policy does not fit.
    """
    workload = Spec.of("workloads", workload)
    load = load_of_spec(workload, drive.logical_pages, drive)
    with refusals():
        run = Simulation(policy.drive(drive, recorded=True), load, seed=seed, batch_pages=64)
        run.fill(0, drive.logical_pages)
        run.run(writes)
    recorded = run.recording()
    assert recorded is not None, "a drive with recorded=True has a recording"
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
    """Return a score with four significant digits, or None if it is infinite."""
    return None if math.isinf(score) else float(f"{score:.4g}")
