"""Settings of a reproduction, from which its options are made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from writeamp.fields.setting import Settings, setting


@dataclass(frozen=True)
class ReproductionSettings(Settings):
    """Length of a reproduction, and folders that some papers use."""

    title: ClassVar[str] = "reproduction"

    full: bool = setting(
        False, None, "use drives of full size and long runs (minutes)", number="switch"
    )
    resume: Path | None = setting(
        None,
        None,
        "save measurements in this folder, and reuse those in it (huang2011)",
        number="path",
        metavar="DIR",
    )
    traces: Path | None = setting(
        None,
        None,
        "folder with the first requests of Financial1 and WebSearch1 (financial1*.spc, "
        "websearch1*.spc), to replay as well (huang2011)",
        number="path",
        metavar="DIR",
    )
