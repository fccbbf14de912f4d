"""Real target: a file, a block device or an NBD export, measured by fio."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

from scipy.special import stdtrit  # type: ignore[import-untyped]

from writeamp.drives.devices.writing import TargetPlace, check_fio, kind_of, opened, seeded
from writeamp.errors import WriteampError
from writeamp.learn.blackbox.space import WorkloadPoint
from writeamp.learn.blackbox.targets.settings import FILL, NONE, STEADY, RealSettings
from writeamp.learn.blackbox.targets.target import Performance
from writeamp.runners import Here, Runner
from writeamp.runs.preconditioning import MOST_ROUNDS, is_steady
from writeamp.statistics.batches import CONFIDENCE, MIN_BATCHES

# Time that a job runs before the measurement, as a share of the measured time.
_RAMP_SHARE = 0.1
# Number of time windows in which fio averages throughput and bandwidth; their scatter gives the
# precision.
_WINDOWS = 20
_ALIGN_BYTES = 4096


def options_of(
    point: WorkloadPoint, place: TargetPlace, *, runtime_s: float, seed: int
) -> list[str]:
    """Return the options of a fio job that runs a point.

    Sequential requests begin at a random offset in the first half of the target, so that caches do
    not hold their data from the job before (paper 2, section IV.A).

    Args:
        point: point with at most one stride, sizes in whole sectors and shares in whole percents
            (`RealTarget.nearest`).
        place: the target.
        runtime_s: measured time, in s, after a tenth as much that is not measured.
        seed: seed of the draws.
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
        options.append(
            "--percentage_random=" + ",".join(f"{round(100 * share)}" for share in shares)
        )
    return options


def measured(report: dict[str, Any]) -> Performance:
    """Return the measurements in a report of fio, for reads and writes together.

    Raises:
        WriteampError: no request was completed.
    """
    both, read, write = report["mixed"], report["read"], report["write"]
    if not both["total_ios"]:
        raise WriteampError("fio reports that no request was completed; give a longer --runtime")
    percentiles = both["lat_ns"]["percentile"]
    return Performance(
        latency_us=both["lat_ns"]["mean"] / 1e3,
        latency_p50_us=percentiles["50.000000"] / 1e3,
        latency_p99_us=percentiles["99.000000"] / 1e3,
        read_latency_us=_mean_us(read),
        write_latency_us=_mean_us(write),
        bandwidth_mb_s=both["bw_bytes"] / 1e6,
        throughput_iops=both["iops"],
        wa=None,
        requests=both["total_ios"],
        precision=_precision([direction for direction in (read, write) if direction["total_ios"]]),
        steady=None,
        measured_s=both["runtime"] / 1e3,
        run_s=report["job_runtime"] / 1e3,
    )


def _precision(directions: Sequence[dict[str, Any]]) -> float | None:
    """Return the relative half width of the 95% interval of throughput or bandwidth, the larger.

    fio reports the scatter of each direction's windows. Reads and writes are assumed to rise and
    fall together, so that the interval may be too wide but not too narrow.
    """
    widths: list[float] = []
    for rate, scatter in (("iops", "stddev"), ("bw", "dev")):
        windows = min(direction[f"{rate}_samples"] for direction in directions)
        mean = sum(direction[f"{rate}_mean"] for direction in directions)
        if windows < MIN_BATCHES or mean <= 0:
            return None
        deviation = sum(direction[f"{rate}_{scatter}"] for direction in directions)
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


_FILL_BYTES = 128 << 10
_ROUND_BYTES = 4 << 10
_DEPTH = 32
# Workload-independent preconditioning writes the whole target twice in order.
_STEADY_FILLS = 2
# Slowest bandwidth of a disk, in bytes per second, from which the time limit of a fill follows.
_LEAST_BYTES_S = 1e6


def precondition(place: TargetPlace, how: str, *, round_s: float, seed: int) -> list[str]:
    """Fill a target once, or twice and then write at random until its throughput is steady.

    Steady state is as in SNIA's Solid State Storage Performance Test Specification 2.0.2: five
    rounds lie within 20% of their mean, and their regression line changes by at most 10% of the
    mean.

    Args:
        place: the target.
        how: one of `PRECONDITIONS`; "none" writes nothing.
        round_s: length of a round of random writes, in s.
        seed: seed of their draws.

    Returns:
        A warning if the target is not steady after 25 rounds.

    Raises:
        WriteampError: fio fails.
    """
    for _ in range({NONE: 0, FILL: 1, STEADY: _STEADY_FILLS}[how]):
        _fill(place)
    return _write_until_steady(place, round_s, seed) if how == STEADY else []


def _fill(place: TargetPlace) -> None:
    options = ["--rw=write", f"--bs={_FILL_BYTES}", f"--iodepth={_DEPTH}"]
    options.append(f"--size={place.size_bytes}")
    place.run_fio(options, timeout_s=place.size_bytes / _LEAST_BYTES_S)


def _write_until_steady(place: TargetPlace, round_s: float, seed: int) -> list[str]:
    rounds: list[float] = []
    while not is_steady(rounds):
        if len(rounds) == MOST_ROUNDS:
            last = ", ".join(f"{iops:.0f}" for iops in rounds[-5:])
            return [
                f"{place.name} was not steady after {MOST_ROUNDS} rounds of {round_s:g} s: the "
                f"last five had {last} IOPS. Give a longer --round"
            ]
        options = [
            "--rw=randwrite",
            f"--bs={_ROUND_BYTES}",
            f"--iodepth={_DEPTH}",
            f"--size={place.size_bytes}",
            *seeded(seed + len(rounds)),
            "--norandommap",
            "--time_based",
            f"--runtime={round(round_s * 1e3)}ms",
        ]
        report = place.run_fio(options, timeout_s=round_s)
        rounds.append(measured(report).throughput_iops)
    return []


# Shares are rounded to this number of decimals, as fio takes whole percents.
_PERCENT_DIGITS = 2


class RealTarget:
    """Target that fio writes to; its points are measured one after the other."""

    notes: Sequence[str] = ()

    def __init__(
        self,
        name: str,
        *,
        size_bytes: int | None = None,
        settings: RealSettings | None = None,
        destroys: str | None = None,
    ) -> None:
        """Open a target; a file is made if it does not exist.

        Args:
            name: the path of a file or a block device, or an NBD URI.
            size_bytes: size of the used part of the target, from its beginning; None for all.
            settings: how points are measured.
            destroys: the target whose data may be destroyed.

        Raises:
            WriteampError: the target holds data or is in use, or fio cannot use it.
        """
        check_fio()
        self.kind = kind_of(name)
        self.name = name
        chosen = settings or RealSettings()
        default = STEADY if self.kind == "device" else FILL
        self._settings = replace(chosen, precondition=chosen.precondition or default)
        self._place = opened(name, size_bytes, destroys)

    @property
    def space_bytes(self) -> int:
        """Size of the used part of the target, in bytes."""
        return self._place.size_bytes

    @property
    def seed(self) -> int:
        """Seed of all random draws."""
        return self._settings.seed

    @property
    def meaning(self) -> Mapping[str, Any]:
        """Location and used size of the target, and all settings, which identify its results."""
        return {
            "where": self._place.where,
            "size_bytes": self._place.size_bytes,
            "settings": asdict(self._settings),
        }

    def nearest(self, point: WorkloadPoint) -> WorkloadPoint:
        """Return the nearest point that fio can run: one stride, whole percents, whole sectors.

        Raises:
            WriteampError: the point sets a state of the drive that only simulated drives can have.
        """
        if point.is_in_a_state:
            raise WriteampError(
                f"{self.name} is a real target; fill, recent writes and bursts can be varied only "
                "on simulated ones, which are named by a profile"
            )
        shares = {
            name: round(getattr(point, name), _PERCENT_DIGITS)
            for name in ("write_ratio", "write_randomness", "read_randomness")
        }
        return replace(point, **shares).of_one_pattern().in_sectors(self._place.sector_bytes)

    @contextmanager
    def prepared(self, *, is_prepared: bool) -> Iterator[Sequence[str]]:
        """Precondition the target, unless that was done before and it is unchanged."""
        with self._place.held():
            if is_prepared and not self._place.is_new:
                yield []
                return
            settings = self._settings
            assert settings.precondition is not None
            yield precondition(
                self._place, settings.precondition, round_s=settings.round_s, seed=settings.seed
            )

    def job(self, point: WorkloadPoint) -> _RealPoint:
        """Return the job that measures a point."""
        return _RealPoint(point, self._place, self._settings)

    def runner(self, points: int) -> Runner:
        """Return a runner in this thread, because points are measured one at a time."""
        del points
        return Here()


@dataclass(frozen=True)
class _RealPoint:
    """A point, and the target on which it is measured."""

    point: WorkloadPoint
    place: TargetPlace
    settings: RealSettings

    def measure(self) -> Performance:
        """Measure the point with fio."""
        runtime_s = self.settings.runtime_s
        options = options_of(self.point, self.place, runtime_s=runtime_s, seed=self.settings.seed)
        return measured(self.place.run_fio(options, timeout_s=runtime_s))
