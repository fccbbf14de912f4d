"""Real target: a file, a block device or an NBD export, measured by fio."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from writeamp.blackbox.space import WorkloadPoint
from writeamp.blackbox.targets import fio
from writeamp.blackbox.targets.conditioning import FILL, STEADY, precondition
from writeamp.blackbox.targets.measured import Measured
from writeamp.blackbox.targets.place import Place, kind_of, opened
from writeamp.blackbox.targets.settings import RealSettings
from writeamp.blackbox.targets.target import Outcome
from writeamp.errors import WriteampError

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
        fio.check_fio()
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
        where = self.name if self.kind == "nbd" else os.path.realpath(self.name)
        return {
            "where": where,
            "size_bytes": self._place.size_bytes,
            "settings": asdict(self._settings),
        }

    def nearest(self, point: WorkloadPoint) -> WorkloadPoint:
        """Return the nearest point that fio can do: one pattern, whole percents, whole sectors."""
        shares = {
            name: round(getattr(point, name), _PERCENT_DIGITS)
            for name in ("write_ratio", "write_randomness", "read_randomness")
        }
        return replace(point, **shares).of_one_pattern().in_sectors(self._place.sector_bytes)

    def prepare(self, *, is_prepared: bool) -> Sequence[str]:
        """Precondition it, unless that was done before and the target is the same still."""
        if is_prepared and not self._place.is_new:
            return []
        settings = self._settings
        assert settings.precondition is not None
        return precondition(
            self._place, settings.precondition, round_s=settings.round_s, seed=settings.seed
        )

    def measured(self, points: Sequence[WorkloadPoint]) -> Iterator[Outcome]:
        """Give the outcome of each point, in their order."""
        for point in points:
            started = time.perf_counter()
            found, error = None, None
            try:
                found = self._measure(self._place, point)
            except WriteampError as refused:
                error = str(refused)
            yield Outcome(point, found, error, time.perf_counter() - started)

    def _measure(self, place: Place, point: WorkloadPoint) -> Measured:
        runtime_s = self._settings.runtime_s
        options = fio.options_of(point, place, runtime_s=runtime_s, seed=self._settings.seed)
        return fio.measured(fio.run(place, options, timeout_s=runtime_s))
