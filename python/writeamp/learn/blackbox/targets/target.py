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
    """A drive's performance under one workload, over the measured interval.

    Attributes:
        latency_us, latency_p50_us, latency_p99_us: of reads and writes together.
        read_latency_us, write_latency_us: means; None for a direction without requests.
        bandwidth_mb_s: 10⁶ bytes per second, read and written.
        throughput_iops: requests per second.
        wa: flash pages programmed over pages that the host wrote; None if unknown, or if no page
            was programmed yet.
        requests: number of completed requests.
        precision: half width of the 95% intervals of mean latency and bandwidth over their means,
            the larger of the two; None if unknown, as for a burst.
        steady: whether neither drifted; None if unchecked.
        measured_s: length of the interval.
        run_s: length of the whole run, in the time of the drive.
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

    `elapsed_s` is the time that it took.
    """

    point: WorkloadPoint
    measured: Performance | None
    error: str | None
    elapsed_s: float


class PointJob(Protocol):
    """A point with all that its measurement needs; it can be pickled if its runner needs that."""

    @property
    def point(self) -> WorkloadPoint:
        """The point."""

    def measure(self) -> Performance:
        """Measure the point.

        Raises:
            WriteampError: the target cannot be measured at this point.
        """


def measure_point(job: PointJob) -> MeasurementOutcome:
    """Measure a point; an error becomes an outcome."""
    started = time.perf_counter()
    measured, error = None, None
    try:
        measured = job.measure()
    except WriteampError as refused:
        error = str(refused)
    return MeasurementOutcome(job.point, measured, error, time.perf_counter() - started)


def lost_point(job: PointJob, why: str) -> MeasurementOutcome:
    """Return the outcome of a point whose measurement ended its process each time."""
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
        """The part of its address space that the workloads use."""

    @property
    def seed(self) -> int:
        """Seed of the random draws of its workloads."""

    @property
    def meaning(self) -> Mapping[str, Any]:
        """Settings that decide its measurements, without the point, as JSON types."""

    @property
    def notes(self) -> Sequence[str]:
        """Sentences on differences from the requested target."""

    def nearest(self, point: WorkloadPoint) -> WorkloadPoint:
        """Return the point nearest to a point that can be measured on this target."""

    def prepared(self, *, is_prepared: bool) -> AbstractContextManager[Sequence[str]]:
        """Bring the target into its state for measurements, and hold it during them.

        Args:
            is_prepared: whether it was prepared before, and has been measured since.

        Returns:
            A context that gives warnings for readers of the measurements.

        Raises:
            WriteampError: the target must not be written to, or cannot be.
        """

    def job(self, point: WorkloadPoint) -> PointJob:
        """Return the job that measures a point."""

    def runner(self, points: int) -> Runner:
        """Return the runner for this number of points."""
