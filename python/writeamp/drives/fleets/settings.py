"""Settings of fleets, which options are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from writeamp.fields.domains import POSITIVE_COUNT
from writeamp.fields.setting import Settings, setting


@dataclass(frozen=True)
class DriveFleetSettings(Settings):
    """Processes that read a fleet."""

    title: ClassVar[str] = "fleet"

    workers: int | None = setting(
        None,
        POSITIVE_COUNT,
        "processes that read files; without it one for each processor, or this one for few files",
        number="count",
        is_speed=True,
    )
