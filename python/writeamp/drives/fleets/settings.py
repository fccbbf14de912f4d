"""Settings of fleets; the options are generated from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from writeamp.drives.counters.settings import rated_setting
from writeamp.fields.domains import POSITIVE_COUNT
from writeamp.fields.setting import Settings, setting


@dataclass(frozen=True)
class DriveFleetSettings(Settings):
    """Rating of the drives of a fleet, and number of processes that read its files."""

    title: ClassVar[str] = "fleet"

    rated_tbw: float | None = rated_setting()
    workers: int | None = setting(
        None,
        POSITIVE_COUNT,
        "number of processes that read files; default: one per processor, or a single one for "
        "fewer than 400 files",
        number="count",
        is_speed=True,
    )
