"""Settings of a reproduction, from which its options are made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from writeamp.fields.setting import Settings, setting


@dataclass(frozen=True)
class ReproductionSettings(Settings):
    """Size of the drives and runs of a reproduction, and folders that some papers use."""

    title: ClassVar[str] = "reproduction"

    full: bool = setting(
        False,
        None,
        "use larger drives, up to the paper's size, and longer runs (minutes to hours); default: "
        "small drives and short runs",
        number="switch",
    )
    resume: Path | None = setting(
        None,
        None,
        "keep finished parts in this folder, and continue after those that an earlier run of the "
        "same code kept there",
        number="path",
        metavar="DIR",
    )
    traces: Path | None = setting(
        None,
        None,
        "folder with the first requests of the traces Financial1 and WebSearch1 (financial1*.spc, "
        "websearch1*.spc), to replay besides generated traces (huang2011 only)",
        number="path",
        metavar="DIR",
    )
