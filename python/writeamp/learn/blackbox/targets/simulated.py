"""Simulated target: a device of a profile, in virtual time.

Every point begins in a saved, preconditioned state of a device with the fill of the point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from writeamp._engine import Load as EngineLoad
from writeamp._engine import TimedRun, __version__
from writeamp.devices.device import Device, SizeLike, device, profile_op
from writeamp.devices.profile import profile
from writeamp.devices.raid import is_array, parse_array
from writeamp.devices.times import ChangesLike
from writeamp.learn.blackbox.space import WorkloadPoint
from writeamp.learn.blackbox.targets.prepared import PreparedDevice
from writeamp.learn.blackbox.targets.settings import SimulatedSettings
from writeamp.learn.blackbox.targets.stopping import (
    StoppingRule,
    longest_ns,
    measure,
    measure_burst,
)
from writeamp.learn.blackbox.targets.target import SIMULATED, Performance
from writeamp.runners import Runner, local_runner
from writeamp.units.ratios import logical_of

# Capacity of simulated drives. It is so large that few access patterns return to the same pages
# within a minute, and so small that a saved state is restored in hundredths of a second.
DEFAULT_BYTES = 8 << 30

# A write cache that holds a smaller share of a drive has so few hits that its size does not matter.
_HARDLY_CACHED = 0.01


def scaled(name: str) -> Device:
    """Return the device of a profile, or an array, with drives of at most 8 GiB.

    A drive keeps its number of dies, which determines its speed. It has fewer blocks, and also
    smaller blocks if their number would be too low. A write cache keeps its size, but at most a
    hundredth of the small drive, or its share of the full drive if that is greater. A disk keeps
    its size.
    """
    full_device = device(name)
    members = parse_array(name).members if is_array(name) else (name,)
    most_bytes = DEFAULT_BYTES * len(members)
    if full_device.kind == "disk" or full_device.capacity_bytes <= most_bytes:
        return full_device
    if len(set(members)) > 1:
        return device(name, size=most_bytes)
    pages = pages_per_block(members[0], DEFAULT_BYTES)
    whole = profile(members[0]).shape.pages_per_block
    small = device(
        name, size=most_bytes, pages_per_block=pages, write_cache=_write_cache_bytes(members[0])
    )
    if pages == whole:
        return small
    sentence = (
        f"blocks have {pages} pages, not {whole} as in {members[0]}, so that the smaller drive has "
        "all dies"
    )
    return replace(small, shrunk=(*small.shrunk, sentence))


def pages_per_block(name: str, most_bytes: int) -> int:
    """Return the pages per block, halved until a drive of this size keeps all of its dies."""
    shape = profile(name).shape
    pages = shape.pages_per_block
    grain = 2 * (shape.pages_per_program // shape.planes_per_program)
    while device(name, size=most_bytes, pages_per_block=pages).dies < shape.dies:
        if pages % grain:
            break
        pages //= 2
    return pages


def _write_cache_bytes(name: str) -> int | None:
    """Return the bytes of the small drive's write cache; None to keep the profile's size."""
    shape = profile(name).shape
    cache_bytes = (shape.times or {}).get("write_cache", {}).get("bytes", 0)
    full_bytes = logical_of(shape.physical_pages, profile_op(name)) * shape.page_bytes
    share = max(cache_bytes / full_bytes, _HARDLY_CACHED)
    most_bytes = int(share * DEFAULT_BYTES) // shape.page_bytes * shape.page_bytes
    return most_bytes if cache_bytes > most_bytes else None


class SimulatedTarget:
    """A device of a profile, or an array of them."""

    kind = SIMULATED

    def __init__(
        self,
        profile: str,
        *,
        size: SizeLike | None = None,
        changes: ChangesLike | None = None,
        settings: SimulatedSettings | None = None,
        runner: Runner | None = None,
    ) -> None:
        """Set the profile.

        Args:
            profile: a name, a .toml file or an array, as in `writeamp.device`.
            size: space for the host, as in `writeamp.device`; by default at most 8 GiB of each
                drive, with all its dies (`scaled`).
            changes: values of the profile's tables, as in `set` of `writeamp.device`.
            settings: how points are measured.
            runner: measures them; by default threads of this process.

        Raises:
            WriteampError: the device does not exist or is not valid.
        """
        self.name = profile
        unchanged = scaled(profile) if size is None else device(profile, size=size)
        self._device = unchanged if changes is None else device(unchanged, set=changes)
        self._settings = settings or SimulatedSettings()
        self._runner = runner

    @property
    def space_bytes(self) -> int:
        """Size of the logical space."""
        return self._device.capacity_bytes

    @property
    def seed(self) -> int:
        """Seed of all random draws."""
        return self._settings.seed

    @property
    def meaning(self) -> Mapping[str, Any]:
        """Geometry and times of the device, all settings, and writeamp's version."""
        return {
            "device": self._device.meaning(with_times=True),
            "settings": asdict(self._settings),
            "version": __version__,
        }

    @property
    def notes(self) -> Sequence[str]:
        """Sentences on how the device is smaller than its profile."""
        devices = (self._device, *self._device.members)
        return list(dict.fromkeys(note for each in devices for note in each.shrunk))

    def nearest(self, point: WorkloadPoint) -> WorkloadPoint:
        """Return the point unchanged: the engine can serve all of them."""
        return point

    @contextmanager
    def prepared(self, *, is_prepared: bool) -> Iterator[Sequence[str]]:
        """Precondition the device now, so that errors occur before any point."""
        del is_prepared  # each process prepares its own state, so an earlier one is not used
        yield _prepared(self._device, self._settings.seed, 1.0).warnings

    def job(self, point: WorkloadPoint) -> _SimulatedPoint:
        """Return a job that measures a point in any process."""
        return _SimulatedPoint(point, self._device, self._settings)

    def runner(self, points: int) -> Runner:
        """Return the given runner, or threads of this process."""
        return self._runner or local_runner(points)


@dataclass(frozen=True)
class _SimulatedPoint:
    """A point with its device and settings; it can be pickled."""

    point: WorkloadPoint
    device: Device
    settings: SimulatedSettings

    def measure(self) -> Performance:
        """Run the point from the saved state, for its burst or until its means are precise."""
        settings, point = self.settings, self.point
        prepared = _prepared(self.device, settings.seed, point.fill)
        if point.burst_s is not None:
            run = _run(self, prepared, longest_ns(point.burst_s))
            return measure_burst(run, point.recent_write_bytes, point.burst_s)
        rule = StoppingRule(settings.precision, settings.most_s, prepared)
        return measure(_run(self, prepared, rule.most_ns), rule, writes=point.has_writes)


def _run(job: _SimulatedPoint, prepared: PreparedDevice, most_ns: int) -> TimedRun:
    load = EngineLoad.spec(job.point.spec, prepared.used_pages, job.device.page_bytes)
    return TimedRun(
        prepared.new(),
        load,
        seed=job.settings.seed,
        page_bytes=job.device.page_bytes,
        # A run writes out its caches at the end of its time, which would distort the measurement.
        # So its time is longer than the measurement can be.
        time_ns=2 * most_ns,
    )


@lru_cache(maxsize=2)
def _prepared(of: Device, seed: int, fill: float) -> PreparedDevice:
    """Return the saved state of a device; each process makes it once, all with the same result."""
    return PreparedDevice.of(of, seed, fill)
