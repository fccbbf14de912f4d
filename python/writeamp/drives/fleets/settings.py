"""Settings of fleets; the options are generated from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from writeamp.fields.domains import POSITIVE_COUNT
from writeamp.fields.setting import Settings, setting


@dataclass(frozen=True)
class DriveFleetSettings(Settings):
    """Number of processes that read the files of a fleet."""

    title: ClassVar[str] = "fleet"

    workers: int | None = setting(
        None,
        POSITIVE_COUNT,
        "number of processes that read files; default: one per processor, or a single one for "
        "fewer than 400 files",
        number="count",
        is_speed=True,
    )
