"""Drive formula: the time of a request, computed from the drive's busiest part.

The parts are link and controller, write cache, and dies. Each takes some time for each request, and
a limited number of requests is served at once. In a closed loop, throughput is limited by the
busiest part, or by queue depth divided by latency (the bounds of Denning and Buzen, "The
operational analysis of queueing network models", 1978, section 5), with a smooth transition
between the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from writeamp.learn.blackbox.features.pages import pages_touched
from writeamp.units.ratios import physical_of

F64 = npt.NDArray[np.float64]

# Features that the formula needs, by their names in paper 2's extended vector.
NEEDS = (
    "write_ratio",
    "queue_depth",
    "write_size_bytes",
    "read_size_bytes",
    "write_randomness",
    "read_randomness",
    "write_stride_bytes",
    "read_stride_bytes",
)
# Optional feature: the share of the drive that holds data.
FILL = "fill"
# Costs of a drive, each with the median of its log-normal prior and the standard deviation of the
# logarithm. Times are in µs. Times of written pages are per 4 KiB and include garbage collection.
COSTS: dict[str, tuple[float, float]] = {
    "request_us": (10.0, 1.5),  # controller time of each request
    "write_us": (5.0, 1.5),  # additional controller time of each write
    "link_us_per_kib": (4.0, 1.0),
    "cache_us_per_kib": (5.0, 1.5),  # time to write data into the write cache
    "read_page_us": (5.0, 1.5),  # die time of each read page; all dies count as one part
    "random_page_us": (60.0, 1.5),  # die time of each page written at random
    "sequential_page_us": (20.0, 1.5),
    "strided_page_us": (40.0, 1.5),
    "part_us": (10.0, 1.5),  # die time of each partly written page, which is read first
    "answer_us": (20.0, 1.5),  # latency of a request on an idle drive
    "read_answer_us": (60.0, 1.0),
    "read_answer_us_per_kib": (5.0, 1.0),
    "write_answer_us": (10.0, 1.5),
    "write_answer_us_per_kib": (4.0, 1.5),
    "depth": (32.0, 1.0),  # greatest number of requests served at once
    "sharpness": (4.0, 0.5),  # sharpness of the transition from one busiest part to another
    "hindrance": (1.0, 1.0),  # factor on the wait of reads for dies that program
    "sequential_read_share": (1.0, 0.5),  # die time of a sequential read ÷ of a random read
    "alone": (1.0, 0.5),  # factor on the dies' time per write if the workload has no reads
    "op": (0.1, 0.5),  # ratio of spare flash to data on a full drive
}
LIKELY = np.log([likely for likely, _ in COSTS.values()])
DEVIATIONS = np.array([deviation for _, deviation in COSTS.values()])

_KIB = 1024.0
# Costs of written pages are per this number of bytes, independent of the drive's page size.
_PAGE_BYTES = 4096
# The effect of the factor `alone` decays exponentially with the share of reads, on this scale.
_RARE_READS = 0.05
# A read may wait for a program on its die. The wait is this multiple of `read_answer_us` for each
# page that it reads, for at most this number of dies.
_WAITS = 5.0
_MOST_DIES_WAITED = 4.0
_ROUNDS = 2


@dataclass(frozen=True)
class Work:
    """Work that requests of each row cause on a drive, for one page size; shape (rows,) each."""

    writes: F64
    depth: F64
    written_kib: F64
    read_kib: F64
    write_randomness: F64
    read_randomness: F64
    has_stride: F64
    pages_written: F64
    pages_in_part: F64
    pages_read: F64
    fill: F64
    page_units: float

    @staticmethod
    def of(features: F64, names: Sequence[str], page_bytes: int, *, merges: bool) -> Work:
        """Return the work for rows of features; the names must include `NEEDS`.

        If the names do not include `FILL`, the drive counts as full.
        """
        column = {name: features[:, list(names).index(name)] for name in NEEDS}

        def touched(side: str, *, merges: bool) -> tuple[F64, F64]:
            parts = ("size_bytes", "randomness", "stride_bytes")
            size, randomness, stride = (column[f"{side}_{quantity}"] for quantity in parts)
            return pages_touched(size, randomness, stride, page_bytes, merges=merges)

        written, in_part = touched("write", merges=merges)
        return Work(
            writes=column["write_ratio"],
            depth=np.maximum(column["queue_depth"], 1.0),
            written_kib=column["write_size_bytes"] / _KIB,
            read_kib=column["read_size_bytes"] / _KIB,
            write_randomness=column["write_randomness"],
            read_randomness=column["read_randomness"],
            has_stride=(column["write_stride_bytes"] > 0).astype(float),
            pages_written=written,
            pages_in_part=in_part,
            pages_read=touched("read", merges=False)[0],
            fill=features[:, list(names).index(FILL)] if FILL in names else np.ones(len(features)),
            page_units=page_bytes / _PAGE_BYTES,
        )


@dataclass(frozen=True)
class DriveFormula:
    """Formula of one drive.

    Attributes:
        page_bytes: size of the drive's pages.
        merges: whether its cache merges small writes to one page.
        logs: logarithms of the costs, in the order of `COSTS`.
    """

    page_bytes: int
    merges: bool
    logs: tuple[float, ...]

    def log_time(self, features: F64, names: Sequence[str]) -> F64:
        """Return the logarithm of the time between two completed requests, in µs; shape (rows,)."""
        work = Work.of(features, names, self.page_bytes, merges=self.merges)
        return log_time(np.array(self.logs), work)


def log_time(logs: F64, work: Work) -> F64:
    """Return the logarithm of the time between two completed requests, in µs.

    `logs` are the logarithms of the costs, in the order of `COSTS`.
    """
    cost = dict(zip(COSTS, np.exp(logs), strict=True))
    writes, reads = work.writes, 1 - work.writes
    programs = writes * _program_us(cost, work)
    dies = programs + reads * cost["read_page_us"] * work.pages_read * (
        work.read_randomness + (1 - work.read_randomness) * cost["sequential_read_share"]
    )
    kib = writes * work.written_kib + reads * work.read_kib
    parts = [
        cost["request_us"] + cost["write_us"] * writes,
        cost["link_us_per_kib"] * kib,
        cost["cache_us_per_kib"] * writes * work.written_kib,
        dies,
    ]
    idle_us = cost["answer_us"]
    for side, share, size in (("read", reads, work.read_kib), ("write", writes, work.written_kib)):
        per_kib = cost[f"{side}_answer_us_per_kib"]
        idle_us = idle_us + share * (cost[f"{side}_answer_us"] + per_kib * size)
    at_once = (work.depth**-2 + cost["depth"] ** -2) ** -0.5
    sharpness = 1 + cost["sharpness"]
    time_us = _greatest([*parts, idle_us / at_once], sharpness)
    wait_us = _WAITS * cost["hindrance"] * cost["read_answer_us"]
    wait_us = wait_us * reads * np.minimum(work.pages_read, _MOST_DIES_WAITED)
    for _ in range(_ROUNDS):
        busy = np.minimum(programs / time_us, 1.0)
        time_us = _greatest([*parts, (idle_us + wait_us * busy) / at_once], sharpness)
    return np.log(time_us)


def _program_us(cost: dict[str, float], work: Work) -> F64:
    """Return the dies' time for a write, including garbage collection and partial pages."""
    continues = 1 - work.write_randomness
    page_us = (
        cost["random_page_us"] * work.write_randomness
        + cost["sequential_page_us"] * continues * (1 - work.has_stride)
        + cost["strided_page_us"] * continues * work.has_stride
    )
    page_us = page_us * _amplification(cost["op"], work.fill)
    page_us = page_us * cost["alone"] ** np.exp((work.writes - 1) / _RARE_READS)
    in_part_us = cost["part_us"] * work.pages_in_part
    return work.page_units * (page_us * work.pages_written + in_part_us)


def _amplification(op: float, fill: F64) -> F64:
    """Return WA of random writes on a partly full drive, divided by that on a full one.

    WA is (1 + ρ) / 2ρ with ρ = spare space ÷ data (Park et al. 2017, eq. 4,
    `models.uniform_distribution`), and at least 1. All space without data counts as spare (eq. 8).
    """
    spare = physical_of(1.0, op) / fill - 1
    ratio: F64 = _wa(spare) / _wa(np.array(op))
    return ratio


def _wa(spare: F64) -> F64:
    wa: F64 = np.maximum((1 + spare) / (2 * spare), 1.0)
    return wa


def _greatest(parts: Sequence[F64], sharpness: float) -> F64:
    """Return a smooth maximum of the parts' times: their p-norm with p = `sharpness`."""
    times = np.stack(np.broadcast_arrays(*parts)) + 1e-9
    greatest = times.max(axis=0)
    norm: F64 = greatest * ((times / greatest) ** sharpness).sum(axis=0) ** (1 / sharpness)
    return norm
