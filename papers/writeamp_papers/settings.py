"""Settings of a reproduction, which options are made from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from writeamp.fields.setting import Settings, setting


@dataclass(frozen=True)
class ReproductionSettings(Settings):
    """At which length a paper is reproduced, and the folders that some papers take."""

    title: ClassVar[str] = "reproduction"

    full: bool = setting(
        False, None, "drives of full size and long runs (minutes)", number="switch"
    )
    resume: Path | None = setting(
        None,
        None,
        "keep measurements in this folder, and go on from those in it (huang2011)",
        number="path",
        metavar="DIR",
    )
    traces: Path | None = setting(
        None,
        None,
        "folder with the first requests of Financial1 and WebSearch1, financial1*.spc and "
        "websearch1*.spc, to use as well (huang2011)",
        number="path",
        metavar="DIR",
    )
