"""Settings of `writeamp live`; the options are generated from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from writeamp.drives.counters.settings import rated_setting
from writeamp.fields.domains import Number
from writeamp.fields.setting import Settings, setting
from writeamp.units.durations import DURATION, DurationIn


@dataclass(frozen=True)
class LiveSettings(Settings):
    """Length of the recording, and assumptions about the drive."""

    title: ClassVar[str] = "live"
    names_options: ClassVar[bool] = True

    duration_s: float | None = setting(
        None,
        DURATION,
        "end after this time, such as 60s; default: at Ctrl-C, or with --once after 60s",
        flag="--for",
        metavar="TIME",
        takes="float | str",
    )
    every: float = setting(
        2.0,
        DurationIn(Number("be from 500ms to 1h", lambda value: 0.5 <= value <= 3600)),
        "time between two updates of the view",
        metavar="TIME",
    )
    files: str | None = setting(
        None,
        None,
        "also show files, of the file system that is mounted here from DEVICE",
        number="path",
        metavar="DIR",
    )
    profile: str = setting(
        "tlc-client",
        None,
        "profile of the simulated drive, or a twin (a .toml file). It gets the capacity of DEVICE, "
        "and a sample of its writes",
        flag="--device",
        metavar="PROFILE",
    )
    op: float | None = setting(
        None,
        Number("be above 0", lambda value: value > 0, is_ratio=True),
        "over-provisioning ratio of the drive; default: that of the profile, and 7% and 28% for "
        "the interval",
        number="ratio",
    )
    rated_tbw: float | None = rated_setting()
