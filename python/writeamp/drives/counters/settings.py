"""Settings of answers from a drive's counters; the options are generated from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from writeamp.drives.counters.pairing import DEFINITIONS, Definition
from writeamp.fields.domains import OneOf
from writeamp.fields.setting import Settings, setting
from writeamp.units.byte_sizes import Terabytes


def model_setting() -> Any:
    """Return the setting of the drive model, which is needed for files without a model."""
    return setting(
        None,
        None,
        "model of the drive, for input files that do not name it (look it up in the first lines "
        "of `smartctl -x`); it selects the units of SMART attributes",
        metavar="MODEL",
    )


def rated_setting(**words: Any) -> Any:
    """Return the setting of a drive's rated endurance."""
    return setting(
        None,
        Terabytes(),
        "rated endurance of the drive: TB (10^12 bytes) that its host may write; default: the "
        "rating of the model, which writeamp has for common models",
        metavar="TB",
        **words,
    )


@dataclass(frozen=True)
class AnswerSettings(Settings):
    """Settings of an answer: definition of WA, and drive families."""

    title: ClassVar[str] = "answer"

    definition: Definition | None = setting(
        None,
        OneOf(DEFINITIONS),
        f"definition of WA: {', '.join(DEFINITIONS)}; default: the first that the counters support",
        choices=DEFINITIONS,
        metavar="NAME",
    )
    model: str | None = model_setting()
    families: Path | None = setting(
        None,
        None,
        "TOML file of your own drive families, tried before the built-in ones; it "
        "defines which SMART attributes count writes, and in which units",
        number="path",
        metavar="FILE",
    )
    rated_tbw: float | None = rated_setting(not_for=("diff",))
