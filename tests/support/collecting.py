"""A target whose performance is a formula, and small simulated ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.space import KIB, WorkloadPoint
from writeamp.learn.blackbox.targets.simulated import SimulatedSettings, SimulatedTarget
from writeamp.learn.blackbox.targets.target import (
    MeasurementOutcome,
    MeasurementTarget,
    Performance,
    measure_point,
)
from writeamp.runners import Here, Runner

READS = WorkloadPoint(0.0, 4, read_size_bytes=4 * KIB, read_randomness=1.0)
WRITES = WorkloadPoint(1.0, 4, write_size_bytes=4 * KIB, write_randomness=1.0)
MIXED = WorkloadPoint(
    0.5,
    16,
    write_size_bytes=4 * KIB,
    read_size_bytes=64 * KIB,
    write_randomness=0.5,
    read_randomness=1.0,
    write_stride_bytes=64 * KIB,
)


def measured(latency_us: float) -> Performance:
    """Return what a device of this latency shows."""
    return Performance(
        latency_us=latency_us,
        latency_p50_us=latency_us,
        latency_p99_us=latency_us,
        read_latency_us=latency_us,
        write_latency_us=None,
        bandwidth_mb_s=4096 / latency_us,
        throughput_iops=1e6 / latency_us,
        wa=None,
        requests=1000,
        precision=0.01,
        steady=True,
        measured_s=1.0,
        run_s=1.0,
    )


@dataclass
class Formula:
    """A target whose latency follows from sizes and depth; some points fail, some end the call.

    `asked` are the points that it was asked for, `preparations` what it was told
    when it was prepared.
    """

    name: str = "formula"
    kind: str = "simulated"
    seed: int = 1
    space_bytes: int = 1 << 30
    meaning: Mapping[str, Any] = field(default_factory=lambda: {"formula": 1})
    notes: Sequence[str] = ()
    fails: int = 0
    interrupted_after: int | None = None
    asked: list[WorkloadPoint] = field(default_factory=list)
    preparations: list[bool] = field(default_factory=list)

    def nearest(self, point: WorkloadPoint) -> WorkloadPoint:
        """Return the point."""
        return point

    @contextmanager
    def prepared(self, *, is_prepared: bool) -> Iterator[Sequence[str]]:
        """Note that it is asked for."""
        self.preparations.append(is_prepared)
        yield ["it is a formula"]

    def job(self, point: WorkloadPoint) -> FormulaJob:
        """Return what computes the formula."""
        return FormulaJob(point, self)

    def runner(self, points: int) -> Runner:
        """Return this thread."""
        return Here()


@dataclass(frozen=True)
class FormulaJob:
    """A point of the formula."""

    point: WorkloadPoint
    target: Formula

    def measure(self) -> Performance:
        """Compute the formula."""
        point, target = self.point, self.target
        if len(target.asked) == target.interrupted_after:
            raise KeyboardInterrupt
        target.asked.append(point)
        if len(target.asked) <= target.fails:
            raise WriteampError("the formula fails")
        size_bytes = point.write_size_bytes + point.read_size_bytes
        found = measured(50 + size_bytes / 1e3 * point.queue_depth)
        return replace(found, recent_write_bytes=point.recent_write_bytes)


def measure_on(target: MeasurementTarget, point: WorkloadPoint) -> MeasurementOutcome:
    """Return the outcome of a point on a target that is prepared."""
    return measure_point(target.job(point))


def measured_on(target: MeasurementTarget, point: WorkloadPoint) -> Performance:
    """Return what a target that is prepared shows at a point."""
    outcome = measure_on(target, point)
    assert outcome.error is None
    assert outcome.measured is not None
    return outcome.measured


def small(profile: str = "x25-m", **settings: Any) -> SimulatedTarget:
    """Return a drive of 256 MiB, whose points end after a tenth of a second."""
    asked = SimulatedSettings(**{"most_s": 0.1} | settings)
    return SimulatedTarget(profile, size="256MiB", settings=asked)
