"""Settings of searches for over-provisioning, and of sweeps that vary over-provisioning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from writeamp.fields.domains import Number
from writeamp.fields.setting import Settings, setting
from writeamp.units.ratios import RATIOS

TARGET_WA = Number("be a finite number, at least 1", lambda value: value >= 1)

_OP = {"panel": "op"}


@dataclass(frozen=True)
class OpSettings(Settings):
    """Target WA, or values to sweep, for drives whose over-provisioning varies."""

    title: ClassVar[str] = "op"

    target_wa: float | None = setting(
        None,
        TARGET_WA,
        "find the op at which WA has this value, by simulations of drives of whole blocks",
        number="number",
        metavar="WA",
        **_OP,
    )
    sweep: str | None = setting(
        None,
        None,
        f"simulate at evenly spaced values of one of {', '.join(RATIOS)}",
        metavar="NAME=FROM:TO:POINTS",
        **_OP,
    )
