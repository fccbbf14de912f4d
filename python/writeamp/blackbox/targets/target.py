"""Interface of measurement targets, and the outcome of a point on one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from writeamp.blackbox.space import WorkloadPoint
from writeamp.blackbox.targets.measured import Measured


@dataclass(frozen=True)
class Outcome:
    """Outcome of a point: its measurement, or the sentence that says why there is none.

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
        """Name of the target in the rows of its measurements."""

    @property
    def kind(self) -> str:
        """Kind of the target: "simulated", "file", "device" or "nbd"."""

    @property
    def space_bytes(self) -> int:
        """The part of its address space that the workloads use."""

    @property
    def seed(self) -> int:
        """Seed of the random draws of its workloads."""

    @property
    def meaning(self) -> Mapping[str, Any]:
        """Settings that decide its measurements beside the point, as JSON types."""

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
        """Give the outcome of each point, in whatever order."""
