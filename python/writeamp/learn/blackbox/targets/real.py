"""Real target: a file, a block device or an NBD export, measured by fio."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

from writeamp.drives.devices.writing import TargetPlace, check_fio, kind_of, opened
from writeamp.errors import WriteampError
from writeamp.learn.blackbox.space import WorkloadPoint
from writeamp.learn.blackbox.targets import fio_job
from writeamp.learn.blackbox.targets.conditioning import FILL, STEADY, precondition
from writeamp.learn.blackbox.targets.measured import Measured
from writeamp.learn.blackbox.targets.settings import RealSettings
from writeamp.runners import Here, Runner

# What fio takes shares in.
_PERCENT_DIGITS = 2


class RealTarget:
    """Target that fio writes to. Its points are measured one after the other."""

    notes: Sequence[str] = ()

    def __init__(
        self,
        name: str,
        *,
        size_bytes: int | None = None,
        settings: RealSettings | None = None,
        destroys: str | None = None,
    ) -> None:
        """Open a target; a file is made if there is none.

        Args:
            name: the path of a file or a block device, or an NBD URI.
            size_bytes: so much of it is used, from its beginning; all of it if None.
            settings: how points are measured.
            destroys: the one target of which everything may be destroyed.

        Raises:
            WriteampError: it holds data or is in use, or fio cannot use it.
        """
        check_fio()
        self.kind = kind_of(name)
        self.name = name
        asked = settings or RealSettings()
        default = STEADY if self.kind == "device" else FILL
        self._settings = replace(asked, precondition=asked.precondition or default)
        self._place = opened(name, size_bytes, destroys)

    @property
    def space_bytes(self) -> int:
        """The part that is used."""
        return self._place.size_bytes

    @property
    def seed(self) -> int:
        """Seed of every random draw."""
        return self._settings.seed

    @property
    def meaning(self) -> Mapping[str, Any]:
        """Place, used part of it, and all settings."""
        return {
            "where": self._place.where,
            "size_bytes": self._place.size_bytes,
            "settings": asdict(self._settings),
        }

    def nearest(self, point: WorkloadPoint) -> WorkloadPoint:
        """Return the nearest point that fio can do: one pattern, whole percents, whole sectors.

        Raises:
            WriteampError: the point is of a state that only simulated drives are brought into.
        """
        if point.is_in_a_state:
            raise WriteampError(
                f"{self.name} is a real target; fill, recent writes and bursts are varied on "
                "simulated ones, for which a profile is named"
            )
        shares = {
            name: round(getattr(point, name), _PERCENT_DIGITS)
            for name in ("write_ratio", "write_randomness", "read_randomness")
        }
        return replace(point, **shares).of_one_pattern().in_sectors(self._place.sector_bytes)

    @contextmanager
    def prepared(self, *, is_prepared: bool) -> Iterator[Sequence[str]]:
        """Precondition it, unless that was done before and the target is the same still."""
        with self._place.held():
            if is_prepared and not self._place.is_new:
                yield []
                return
            settings = self._settings
            assert settings.precondition is not None
            yield precondition(
                self._place, settings.precondition, round_s=settings.round_s, seed=settings.seed
            )

    def job(self, point: WorkloadPoint) -> _Job:
        """Return what measures a point."""
        return _Job(point, self._place, self._settings)

    def runner(self, points: int) -> Runner:
        """Return this thread: at any time one point is measured."""
        del points
        return Here()


@dataclass(frozen=True)
class _Job:
    """A point, and where it is measured."""

    point: WorkloadPoint
    place: TargetPlace
    settings: RealSettings

    def measure(self) -> Measured:
        """Let fio measure the point."""
        runtime_s = self.settings.runtime_s
        options = fio_job.options_of(
            self.point, self.place, runtime_s=runtime_s, seed=self.settings.seed
        )
        return fio_job.measured(self.place.run_fio(options, timeout_s=runtime_s))
