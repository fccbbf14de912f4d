"""Simulated target: a device of a profile, in virtual time.

Every point begins in a saved, preconditioned state, of a device that is as full as it says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from writeamp._engine import Load as EngineLoad
from writeamp._engine import TimedRun, __version__
from writeamp.devices.device import Device, SizeLike, device
from writeamp.devices.times import ChangesLike
from writeamp.learn.blackbox.space import WorkloadPoint
from writeamp.learn.blackbox.targets.bursts import longest_ns, measure_burst
from writeamp.learn.blackbox.targets.measured import Measured
from writeamp.learn.blackbox.targets.prepared import Prepared
from writeamp.learn.blackbox.targets.scaled import scaled
from writeamp.learn.blackbox.targets.settings import SimulatedSettings
from writeamp.learn.blackbox.targets.stopping import Rule, measure
from writeamp.learn.blackbox.targets.target import SIMULATED
from writeamp.runners import Runner, local_runner


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

    def job(self, point: WorkloadPoint) -> _Job:
        """Return what measures a point in any process."""
        return _Job(point, self._device, self._settings)

    def runner(self, points: int) -> Runner:
        """Return the runner that was given, or threads of this process."""
        return self._runner or local_runner(points)


@dataclass(frozen=True)
class _Job:
    """A point and all that it needs; it can be pickled."""

    point: WorkloadPoint
    device: Device
    settings: SimulatedSettings

    def measure(self) -> Measured:
        """Run the point from the saved state, for its burst or until it is precise."""
        settings, point = self.settings, self.point
        prepared = _prepared(self.device, settings.seed, point.fill)
        if point.burst_s is not None:
            run = _run(self, prepared, longest_ns(point.burst_s))
            return measure_burst(run, point.recent_write_bytes, point.burst_s)
        rule = Rule(settings.precision, settings.most_s, prepared)
        return measure(_run(self, prepared, rule.most_ns), rule, writes=point.has_writes)


def _run(job: _Job, prepared: Prepared, most_ns: int) -> TimedRun:
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
def _prepared(of: Device, seed: int, fill: float) -> Prepared:
    """Return the saved state of a device: made once in each process, and everywhere the same."""
    return Prepared.of(of, seed, fill)
