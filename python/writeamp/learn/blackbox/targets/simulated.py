"""Simulated target: a device of a profile, in virtual time.

Every point begins in a saved, preconditioned state, of a device that is as full as it says."""

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
from writeamp.learn.blackbox.targets.stopping import Rule, longest_ns, measure, measure_burst
from writeamp.learn.blackbox.targets.target import SIMULATED, Performance
from writeamp.runners import Runner, local_runner
from writeamp.units.ratios import logical_of

# Large enough that few patterns come to their own pages again within a minute, small enough that a
# state is restored in hundredths of a second.
DEFAULT_BYTES = 8 << 30

# A cache that holds less of a drive than this is hit so rarely that its size does not matter.
_HARDLY_CACHED = 0.01


def scaled(name: str) -> Device:
    """Return the device of a profile, or an array, whose drives show their host at most 8 GiB.

    A drive keeps its dies, which make its speed: it has fewer blocks, and smaller ones where these
    would be too few. A write cache keeps its size up to a hundredth of the drive, or else its share
    of it. A disk is as large as it is.
    """
    found = device(name)
    members = parse_array(name).members if is_array(name) else (name,)
    most_bytes = DEFAULT_BYTES * len(members)
    if found.kind == "disk" or found.capacity_bytes <= most_bytes:
        return found
    if len(set(members)) > 1:
        return device(name, size=most_bytes)
    pages = pages_per_block(members[0], DEFAULT_BYTES)
    whole = profile(members[0]).shape.pages_per_block
    small = device(
        name, size=most_bytes, pages_per_block=pages, write_cache=_write_cache_bytes(members[0])
    )
    if pages == whole:
        return small
    sentence = f"blocks have {pages} pages, not the {whole} of {members[0]}, to keep all its dies"
    return replace(small, shrunk=(*small.shrunk, sentence))


def pages_per_block(name: str, most_bytes: int) -> int:
    """Return the most pages a block, by halves, with which a drive of a size keeps all dies."""
    shape = profile(name).shape
    pages = shape.pages_per_block
    grain = 2 * (shape.pages_per_program // shape.planes_per_program)
    while device(name, size=most_bytes, pages_per_block=pages).dies < shape.dies:
        if pages % grain:
            break
        pages //= 2
    return pages


def _write_cache_bytes(name: str) -> int | None:
    """Return the cache of the small drive; None for that of the profile."""
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
        """Take a profile.

        Args:
            profile: a name, a .toml file or an array, as `writeamp.device` takes it.
            size: what the host sees, as `writeamp.device` takes it; by default at most 8 GiB of
                each drive, with all its dies (`scaled`).
            changes: values of the profile's tables, as `writeamp.device` takes them in `set`.
            settings: how points are measured.
            runner: who measures them; by default threads of this process.

        Raises:
            WriteampError: there is no such device.
        """
        self.name = profile
        found = scaled(profile) if size is None else device(profile, size=size)
        self._device = found if changes is None else device(found, set=changes)
        self._settings = settings or SimulatedSettings()
        self._runner = runner

    @property
    def space_bytes(self) -> int:
        """Bytes that the host sees."""
        return self._device.capacity_bytes

    @property
    def seed(self) -> int:
        """Seed of every random draw."""
        return self._settings.seed

    @property
    def meaning(self) -> Mapping[str, Any]:
        """The shape of the device and all settings, and the engine's version."""
        return {
            "device": self._device.meaning(with_times=True),
            "settings": asdict(self._settings),
            "version": __version__,
        }

    @property
    def notes(self) -> Sequence[str]:
        """Sentences on what the device has less of than its profile."""
        devices = (self._device, *self._device.members)
        return list(dict.fromkeys(note for one in devices for note in one.shrunk))

    def nearest(self, point: WorkloadPoint) -> WorkloadPoint:
        """Return the point: the engine serves every one."""
        return point

    @contextmanager
    def prepared(self, *, is_prepared: bool) -> Iterator[Sequence[str]]:
        """Precondition the device, so that what cannot be is refused before any point."""
        del is_prepared  # a state of this process is no other's
        yield _prepared(self._device, self._settings.seed, 1.0).warnings

    def job(self, point: WorkloadPoint) -> _SimulatedPoint:
        """Return what measures a point in any process."""
        return _SimulatedPoint(point, self._device, self._settings)

    def runner(self, points: int) -> Runner:
        """Return the runner that was given, or threads of this process."""
        return self._runner or local_runner(points)


@dataclass(frozen=True)
class _SimulatedPoint:
    """A point and all that it needs; it can be pickled."""

    point: WorkloadPoint
    device: Device
    settings: SimulatedSettings

    def measure(self) -> Performance:
        """Run the point from the saved state, for its burst or until it is precise."""
        settings, point = self.settings, self.point
        prepared = _prepared(self.device, settings.seed, point.fill)
        if point.burst_s is not None:
            run = _run(self, prepared, longest_ns(point.burst_s))
            return measure_burst(run, point.recent_write_bytes, point.burst_s)
        rule = Rule(settings.precision, settings.most_s, prepared)
        return measure(_run(self, prepared, rule.most_ns), rule, writes=point.has_writes)


def _run(job: _SimulatedPoint, prepared: PreparedDevice, most_ns: int) -> TimedRun:
    load = EngineLoad.spec(job.point.spec, prepared.used_pages, job.device.page_bytes)
    return TimedRun(
        prepared.new(),
        load,
        seed=job.settings.seed,
        page_bytes=job.device.page_bytes,
        # Beyond the longest time, for at the end of its time a run writes out what is cached.
        time_ns=2 * most_ns,
    )


@lru_cache(maxsize=2)
def _prepared(of: Device, seed: int, fill: float) -> PreparedDevice:
    """Return the saved state of a device: made once in each process, and everywhere the same."""
    return PreparedDevice.of(of, seed, fill)
