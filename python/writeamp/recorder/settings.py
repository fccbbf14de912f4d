"""Settings of `writeamp trace record`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from writeamp.fields.domains import Flag
from writeamp.fields.setting import Settings, setting
from writeamp.units.byte_sizes import ByteSize
from writeamp.units.durations import DURATION


@dataclass(frozen=True)
class RecordSettings(Settings):
    """Settings of recording a block device."""

    title: ClassVar[str] = "record"

    duration_s: float | None = setting(
        None,
        DURATION,
        "end after this time, such as 10m or 90s; default: at the end of CMD, or at Ctrl-C",
        flag="--for",
        metavar="TIME",
        takes="float | str",
    )
    files: str | None = setting(
        None,
        None,
        "also record the file of each request, for the file system that is mounted here from "
        "DEVICE",
        number="path",
        metavar="DIR",
    )
    max_size: int | None = setting(
        None,
        ByteSize(),
        "size of the trace's parts above which the oldest part is removed, such as 1GiB",
        number="bytes",
    )
    allow_loss: bool = setting(
        False,
        Flag(),
        "succeed also if more than 0.1% of the events were lost",
        number="switch",
    )
    anonymize: bool = setting(
        False,
        Flag(),
        "replace names of processes and files by short hashes, different in each recording",
        number="switch",
    )
