"""The job of fio that does a point, and the measurements in its report."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

from scipy.special import stdtrit  # type: ignore[import-untyped]

from writeamp.drives.devices.writing import TargetPlace, seeded
from writeamp.errors import WriteampError
from writeamp.learn.blackbox.space import WorkloadPoint
from writeamp.learn.blackbox.targets.measured import Measured
from writeamp.statistics.batches import CONFIDENCE, MIN_BATCHES

# Left out before what is measured, as a share of that.
_RAMP_SHARE = 0.1
# Throughput and bandwidth are averaged over so many windows, whose scatter tells their precision.
_WINDOWS = 20
_ALIGN_BYTES = 4096


def options_of(
    point: WorkloadPoint, place: TargetPlace, *, runtime_s: float, seed: int
) -> list[str]:
    """Return the options of a job that does a point for so long.

    What is sequential begins at a random place in the first half of the target, so that no cache
    knows it from the job before (paper 2, section IV.A).

    Args:
        point: of one pattern, in whole sectors and whole percents (`RealTarget.nearest`).
        place: where.
        runtime_s: what is measured, after a tenth as much that is not.
        seed: decides the draws.
    """
    is_random = bool(point.write_randomness or point.read_randomness)
    start_bytes = 0
    if not is_random:
        half = place.size_bytes // 2 // _ALIGN_BYTES
        start_bytes = random.Random(f"{seed} {point.spec}").randrange(half) * _ALIGN_BYTES
    stride_bytes = max(point.write_stride_bytes, point.read_stride_bytes)
    sizes = (point.read_size_bytes, point.write_size_bytes)
    read_bytes, write_bytes = (size or max(sizes) for size in sizes)
    options = [
        f"--rw={_pattern(point, is_random=is_random)}"
        + (f":{stride_bytes}" if stride_bytes else ""),
        f"--bs={read_bytes},{write_bytes}",
        f"--iodepth={point.queue_depth}",
        f"--offset={start_bytes}",
        f"--size={place.size_bytes - start_bytes}",
        *seeded(seed),
        "--norandommap",
        "--time_based",
        f"--runtime={round(runtime_s * 1e3)}ms",
        f"--ramp_time={round(_RAMP_SHARE * runtime_s * 1e3)}ms",
        *(f"--{rate}avgtime={round(runtime_s * 1e3 / _WINDOWS)}" for rate in ("iops", "bw")),
    ]
    if point.has_reads and point.has_writes:
        options.append(f"--rwmixwrite={round(100 * point.write_ratio)}")
    if is_random:
        shares = (point.read_randomness, point.write_randomness)
        options.append("--percentage_random=" + ",".join(f"{round(100 * one)}" for one in shares))
    return options


def measured(report: dict[str, Any]) -> Measured:
    """Return the measurements of a report, over reads and writes together.

    Raises:
        WriteampError: no request was answered.
    """
    both, read, write = report["mixed"], report["read"], report["write"]
    if not both["total_ios"]:
        raise WriteampError("fio reports that no request was answered; give a longer runtime")
    percentiles = both["lat_ns"]["percentile"]
    return Measured(
        latency_us=both["lat_ns"]["mean"] / 1e3,
        latency_p50_us=percentiles["50.000000"] / 1e3,
        latency_p99_us=percentiles["99.000000"] / 1e3,
        read_latency_us=_mean_us(read),
        write_latency_us=_mean_us(write),
        bandwidth_mb_s=both["bw_bytes"] / 1e6,
        throughput_iops=both["iops"],
        wa=None,
        requests=both["total_ios"],
        precision=_precision([one for one in (read, write) if one["total_ios"]]),
        steady=None,
        measured_s=both["runtime"] / 1e3,
        run_s=report["job_runtime"] / 1e3,
    )


def _precision(directions: Sequence[dict[str, Any]]) -> float | None:
    """Return the larger relative half width of the intervals of throughput and bandwidth.

    fio tells how the windows of each direction scatter. Reads and writes are taken to rise and fall
    together, which makes the interval too wide rather than too narrow.
    """
    widths: list[float] = []
    for rate, scatter in (("iops", "stddev"), ("bw", "dev")):
        windows = min(one[f"{rate}_samples"] for one in directions)
        mean = sum(one[f"{rate}_mean"] for one in directions)
        if windows < MIN_BATCHES or mean <= 0:
            return None
        deviation = sum(one[f"{rate}_{scatter}"] for one in directions)
        quantile = float(stdtrit(windows - 1, 0.5 + CONFIDENCE / 2))
        widths.append(quantile * deviation / math.sqrt(windows) / mean)
    return max(widths)


def _pattern(point: WorkloadPoint, *, is_random: bool) -> str:
    if point.has_reads and point.has_writes:
        return "randrw" if is_random else "rw"
    kind = "write" if point.has_writes else "read"
    return f"rand{kind}" if is_random else kind


def _mean_us(direction: dict[str, Any]) -> float | None:
    return direction["lat_ns"]["mean"] / 1e3 if direction["total_ios"] else None
