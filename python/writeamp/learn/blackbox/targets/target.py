"""Interface of measurement targets, and the job that measures one point on a target."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.space import WorkloadPoint
from writeamp.runners import Runner


@dataclass(frozen=True)
class Performance:
    """A drive's performance under one workload, in the measured interval of time.

    Attributes:
        latency_us, latency_p50_us, latency_p99_us: of reads and writes together.
        read_latency_us, write_latency_us: means; None for a direction without requests.
        bandwidth_mb_s: 10⁶ bytes per second, read and written.
        throughput_iops: requests per second.
        wa: flash pages programmed ÷ pages that the host wrote; None if unknown, or if no page was
            programmed yet.
        requests: number of completed requests.
        precision: relative half width of the 95% interval of mean latency or mean bandwidth, the
            larger of the two; None if unknown, as for a burst.
        steady: whether neither of these means drifted; None if unchecked.
        measured_s: length of the measured interval, in s of the drive's (virtual or real) time.
        run_s: length of the whole run, in s of the drive's time.
        recent_write_bytes: bytes that the host wrote in the minute before; None if unknown.
    """

    latency_us: float
    latency_p50_us: float
    latency_p99_us: float
    read_latency_us: float | None
    write_latency_us: float | None
    bandwidth_mb_s: float
    throughput_iops: float
    wa: float | None
    requests: int
    precision: float | None
    steady: bool | None
    measured_s: float
    run_s: float
    recent_write_bytes: int | None = None


# Kind of the targets that are simulated.
SIMULATED = "simulated"


@dataclass(frozen=True)
class MeasurementOutcome:
    """Outcome of a point: its measurement, or the error that prevented it.

    `elapsed_s` is the real time that the measurement took, in s.
    """

    point: WorkloadPoint
    measured: Performance | None
    error: str | None
    elapsed_s: float


class PointJob(Protocol):
    """Job that measures one point. It can be pickled if its runner uses other processes."""

    @property
    def point(self) -> WorkloadPoint:
        """The point."""

    def measure(self) -> Performance:
        """Measure the point.

        Raises:
            WriteampError: the target cannot be measured at this point.
        """


def measure_point(job: PointJob) -> MeasurementOutcome:
    """Measure a point; if the measurement fails, the outcome holds the error."""
    started = time.perf_counter()
    measured, error = None, None
    try:
        measured = job.measure()
    except WriteampError as refused:
        error = str(refused)
    return MeasurementOutcome(job.point, measured, error, time.perf_counter() - started)


def lost_point(job: PointJob, why: str) -> MeasurementOutcome:
    """Return the outcome of a point whose measurement crashed its process in every attempt."""
    return MeasurementOutcome(job.point, None, why, 0.0)


class MeasurementTarget(Protocol):
    """A device that can serve workloads and be measured."""

    @property
    def name(self) -> str:
        """Name of the target in the rows of its measurements."""

    @property
    def kind(self) -> str:
        """Kind of the target: "simulated", "file", "device" or "nbd"."""

    @property
    def space_bytes(self) -> int:
        """Size of the part of the address space that the workloads use, in bytes."""

    @property
    def seed(self) -> int:
        """Seed of the random draws of its workloads."""

    @property
    def meaning(self) -> Mapping[str, Any]:
        """All settings except the point that affect its measurements, as JSON types."""

    @property
    def notes(self) -> Sequence[str]:
        """Sentences about differences between this target and the requested one."""

    def nearest(self, point: WorkloadPoint) -> WorkloadPoint:
        """Return the point that can be measured on this target and is nearest to a given point."""

    def prepared(self, *, is_prepared: bool) -> AbstractContextManager[Sequence[str]]:
        """Precondition the target, and lock it during the measurements.

        Args:
            is_prepared: whether an earlier call prepared the target and measured points on it.

        Returns:
            A context whose value is a list of warnings about the target's state.

        Raises:
            WriteampError: writing to the target is not allowed, or fails.
        """

    def job(self, point: WorkloadPoint) -> PointJob:
        """Return the job that measures a point."""

    def runner(self, points: int) -> Runner:
        """Return the runner for this number of points."""
