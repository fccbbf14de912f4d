"""Measured performance under one workload."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Measured:
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
