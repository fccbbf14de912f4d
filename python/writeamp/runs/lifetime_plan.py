"""Plan of lifetimes, and counters of drives at one moment of their lives."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp import traces
from writeamp._engine import CAUSES
from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.registry.specs import Spec
from writeamp.settings.settings import EnduranceSettings, LoadSettings

_Floats: TypeAlias = npt.NDArray[np.float64]

_MIGRATIONS = [cause for cause in CAUSES if cause != "host"]


@dataclass(frozen=True)
class Counts:
    """Counters of drives at one moment of their lives, as arrays of equal shape.

    `host_pages` counts pages that the host wrote after the initial fill, and `host_programs` the
    pages programmed for these writes. `migrated_pages` maps each other cause to the valid pages
    copied from erased blocks. `skipped_pages` were left unprogrammed when wear levelling closed a
    block early.
    """

    erases: _Floats
    host_pages: _Floats
    host_programs: _Floats
    skipped_pages: _Floats
    migrated_pages: dict[str, _Floats]

    @property
    def migrated(self) -> _Floats:
        """Number of valid pages copied from erased blocks, for all causes."""
        return np.asarray(np.sum(list(self.migrated_pages.values()), axis=0))

    @property
    def wa(self) -> _Floats:
        """Flash pages programmed per host page written; NaN before the first host page."""
        written = np.where(self.host_pages > 0, self.host_pages, math.nan)
        return np.asarray((self.host_programs + self.migrated) / written)

    @staticmethod
    def of(counts: dict[str, npt.NDArray[np.uint64]], fill_pages: int) -> Counts:
        """Return the counters from the engine's tables, without the initial fill."""
        tables = {name: table.astype(np.float64) for name, table in counts.items()}
        return Counts(
            erases=tables["erases"],
            # If a life ends during the fill, the difference is below 0 and means no host pages.
            host_pages=np.maximum(tables["host_pages"] - fill_pages, 0.0),
            host_programs=np.maximum(tables["host"] - fill_pages, 0.0),
            skipped_pages=tables["skipped_pages"],
            migrated_pages={cause: tables[cause] for cause in _MIGRATIONS},
        )


@dataclass(frozen=True)
class Lifetime:
    """Plan of lifetimes: drives with different seeds, each run until it is worn out."""

    device: Device
    load: Spec | traces.PageTrace
    load_name: str = field(compare=False)
    host: LoadSettings
    policy: Policy
    run: EnduranceSettings
    spare_blocks: int
    threads: int | None = field(compare=False)
    """Number of replicas that run at a time, if they are threads of this process."""
    notes: tuple[str, ...]
    capacity_bytes: float | None = None
    """Capacity of the requested drive in bytes, if `device` is scaled down."""

    @property
    def w_max(self) -> int:
        """Number of erases after which a block is worn out."""
        assert self.run.w_max is not None
        return self.run.w_max

    @property
    def replicas(self) -> int:
        """Number of drives that are run."""
        return self.run.replicas

    @property
    def seed(self) -> int:
        """Seed of the first replica, from which those of the others are derived."""
        return self.run.seed
