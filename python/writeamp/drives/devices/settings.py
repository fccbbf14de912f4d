"""Settings of measurements on real drives; the options are generated from them."""

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
    """Whether serial numbers are kept or hashed in a saved snapshot."""

    title: ClassVar[str] = "serials"

    serials: bool = setting(
        False,
        None,
        "keep serial numbers in the snapshot; default: replace them by hashes",
        number="switch",
    )


@dataclass(frozen=True)
class SettleSettings(Settings):
    """Limits of the wait until a drive is at rest."""

    title: ClassVar[str] = "settling"
    names_options: ClassVar[bool] = True

    settle: float = setting(
        10.0,
        DurationIn(_SECONDS),
        "time between two readings of the counters after the writes, and in `measure run` also "
        "before the command; garbage collection has settled when each flash counter rises in this "
        "time by at most one count, or 1% of its total rise since the writes began",
        metavar="TIME",
    )
    wait: float = setting(
        600.0,
        DurationIn(_SECONDS),
        "longest wait until garbage collection has settled; after it, the last reading counts, "
        "with a warning",
        metavar="TIME",
    )


@dataclass(frozen=True)
class CalibrationSettings(Settings):
    """Amount that a calibration writes, and the folder to which it writes."""

    title: ClassVar[str] = "calibration"
    names_options: ClassVar[bool] = True

    amount: float = setting(
        "10GiB",
        ByteAmount(),
        "size of the file that is written, and removed afterwards",
        number="bytes",
        flag="--write",
    )
    folder: Path | None = setting(
        None,
        None,
        "folder on the drive in which to create the file; default: the drive's mount point with "
        "the most free space",
        number="path",
        flag="--in",
        metavar="FOLDER",
    )
    written: float | None = setting(
        None,
        ByteAmount(),
        "bytes that were written between the two snapshots, if two snapshots are given; nothing "
        "is written then",
        number="bytes",
    )
