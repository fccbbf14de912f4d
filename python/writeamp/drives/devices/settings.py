"""Settings of what is done with real drives, which options are made from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from writeamp.fields.domains import Number
from writeamp.fields.setting import Settings, setting
from writeamp.units.byte_sizes import ByteAmount
from writeamp.units.durations import DurationIn

_SECONDS = Number("be from 0.1s to 1d", lambda value: 0.1 <= value <= 86_400)


@dataclass(frozen=True)
class SerialSettings(Settings):
    """Serial numbers, as they are or hashed."""

    title: ClassVar[str] = "serials"

    serials: bool = setting(
        False, None, "keep serial numbers as they are; without it, hashes of them", number="switch"
    )


@dataclass(frozen=True)
class SettleSettings(Settings):
    """Waits until a drive has done what was left to do."""

    title: ClassVar[str] = "settling"
    names_options: ClassVar[bool] = True

    settle: float = setting(
        10.0,
        DurationIn(_SECONDS),
        "time between readings after the command: collection has settled when the flash's counters "
        "rose by no more than a hundredth of what they rose before, or by one count",
        metavar="TIME",
    )
    wait: float = setting(
        600.0,
        DurationIn(_SECONDS),
        "wait at most so long for that, and say so if it has not settled",
        metavar="TIME",
    )


@dataclass(frozen=True)
class CalibrationSettings(Settings):
    """Amount that is written to learn a unit, and its place."""

    title: ClassVar[str] = "calibration"
    names_options: ClassVar[bool] = True

    amount: float = setting(
        "10GiB",
        ByteAmount(),
        "bytes to write to a file, which is removed afterwards",
        number="bytes",
        flag="--write",
    )
    folder: Path | None = setting(
        None,
        None,
        "folder on the drive, in which the file is made; without it, where its file system is "
        "mounted",
        number="path",
        flag="--in",
        metavar="FOLDER",
    )
    written: float | None = setting(
        None,
        ByteAmount(),
        "with two snapshots: bytes that were written between them",
        number="bytes",
    )
