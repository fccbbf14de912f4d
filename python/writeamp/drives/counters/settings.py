"""Settings of answers by a drive's counters, which options are made from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from writeamp.drives.counters.pairing import DEFINITIONS, Definition
from writeamp.fields.domains import OneOf
from writeamp.fields.setting import Settings, setting


def model_setting() -> Any:
    """Return the setting of the model of a drive whose files do not say it."""
    return setting(
        None,
        None,
        "model of the drive, where the files do not say it (`smartctl -x` prints it in its first "
        "lines)",
        metavar="MODEL",
    )


@dataclass(frozen=True)
class AnswerSettings(Settings):
    """Definition of the write amplification that is asked for."""

    title: ClassVar[str] = "answer"

    definition: Definition | None = setting(
        None,
        OneOf(DEFINITIONS),
        f"answer by this definition of WA: {', '.join(DEFINITIONS)}; without it, by the first of "
        "them that the counters give",
        choices=DEFINITIONS,
        metavar="NAME",
    )
    model: str | None = model_setting()
    families: Path | None = setting(
        None,
        None,
        "families of drives of your own, tried before those that writeamp knows: a TOML file that "
        "says what attributes count, and in which units",
        number="path",
        metavar="FILE",
    )
