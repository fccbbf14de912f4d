"""What a target must be able to do, and what comes of a point on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from writeamp.blackbox.space import WorkloadPoint
from writeamp.blackbox.targets.measured import Measured


@dataclass(frozen=True)
class Outcome:
    """What came of a point: what was measured, or the sentence that says why nothing was.

    `elapsed_s` is the time that it took.
    """

    point: WorkloadPoint
    measured: Measured | None
    error: str | None
    elapsed_s: float


class Target(Protocol):
    """A device that can be put under a workload, and measured."""

    @property
    def name(self) -> str:
        """What the rows of its measurements call it."""

    @property
    def kind(self) -> str:
        """What it is: "simulated", "file", "device" or "nbd"."""

    @property
    def space_bytes(self) -> int:
        """The part of its address space that the workloads use."""

    @property
    def seed(self) -> int:
        """What decides the random draws of its workloads."""

    @property
    def meaning(self) -> Mapping[str, Any]:
        """What decides its measurements beside the point, as JSON types."""

    @property
    def notes(self) -> Sequence[str]:
        """Sentences on what differs from what was asked for."""

    def nearest(self, point: WorkloadPoint) -> WorkloadPoint:
        """Return the point nearest to a point that can be measured on it."""

    def prepare(self, *, is_prepared: bool) -> Sequence[str]:
        """Bring it into the state in which it is measured; it may have been there before.

        Returns:
            Sentences that a reader of the measurements should know.

        Raises:
            WriteampError: it must not be written to, or cannot be.
        """

    def measured(self, points: Sequence[WorkloadPoint]) -> Iterator[Outcome]:
        """Give what comes of each point, in whatever order."""
