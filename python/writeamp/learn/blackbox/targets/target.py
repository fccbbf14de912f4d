"""Interface of measurement targets, and the job that measures one point on one."""

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
        read_latency_us, write_latency_us: means; None of a direction without requests.
        bandwidth_mb_s: 10⁶ bytes a second, read and written.
        throughput_iops: requests a second.
        wa: flash pages programmed over pages that the host wrote; None where it is not known, or
            where nothing was programmed yet.
        requests: those that were answered.
        precision: half width of the 95% intervals of mean latency and bandwidth over their means,
            the larger of the two; None where it is not known, as of a burst.
        steady: whether neither drifted; None where nobody looked.
        measured_s: length of the interval.
        run_s: how long the whole run took, in the time of the drive.
        recent_write_bytes: bytes that the host wrote in the minute before; None where they are not
            known.
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


# The kind of targets that are no real ones.
SIMULATED = "simulated"


@dataclass(frozen=True)
class MeasurementOutcome:
    """Outcome of a point: its measurement, or the sentence that says why there is none.

    `elapsed_s` is the time that it took.
    """

    point: WorkloadPoint
    measured: Performance | None
    error: str | None
    elapsed_s: float


class PointJob(Protocol):
    """A point and all that it needs to be measured; plain values, unless its runner is here."""

    @property
    def point(self) -> WorkloadPoint:
        """The point."""

    def measure(self) -> Performance:
        """Measure it.

        Raises:
            WriteampError: the target cannot be measured there.
        """


def measure_point(job: PointJob) -> MeasurementOutcome:
    """Measure a point; an error is an outcome, too."""
    started = time.perf_counter()
    measured, error = None, None
    try:
        measured = job.measure()
    except WriteampError as refused:
        error = str(refused)
    return MeasurementOutcome(job.point, measured, error, time.perf_counter() - started)


def lost_point(job: PointJob, why: str) -> MeasurementOutcome:
    """Return the outcome of a point that ended every process which measured it."""
    return MeasurementOutcome(job.point, None, why, 0.0)


class MeasurementTarget(Protocol):
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

    def prepared(self, *, is_prepared: bool) -> AbstractContextManager[Sequence[str]]:
        """Bring it into the state in which it is measured, and hold it while it is.

        Args:
            is_prepared: whether it was brought there before, and points were measured since.

        Returns:
            A context that gives sentences which a reader of the measurements should know.

        Raises:
            WriteampError: it must not be written to, or cannot be.
        """

    def job(self, point: WorkloadPoint) -> PointJob:
        """Return what measures a point."""

    def runner(self, points: int) -> Runner:
        """Return who measures so many points."""
