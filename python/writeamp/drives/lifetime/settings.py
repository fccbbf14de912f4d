"""Settings of lifetimes, which options are made from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from writeamp.drives.counters.settings import model_setting
from writeamp.fields.domains import POSITIVE_COUNT, Whole
from writeamp.fields.setting import Settings, setting
from writeamp.units.byte_sizes import ByteAmount


@dataclass(frozen=True)
class DriveLifetimeSettings(Settings):
    """A real drive's history, or a load and the drive under it."""

    title: ClassVar[str] = "lifetime"
    names_options: ClassVar[bool] = True

    db: Path | None = setting(
        None, None, "history that `measure watch` keeps", number="path", metavar="FILE"
    )
    drive: str | None = setting(
        None,
        None,
        "drive among several of the files or the history, by its serial number, or a part of its "
        "model, source or serial's hash",
    )
    model: str | None = model_setting()
    trace: Path | None = setting(
        None, None, "block trace that the host repeats", number="path", metavar="FILE"
    )
    workload: str | None = setting(
        None, None, "synthetic workload, in place of a trace", kind="workloads", metavar="SPEC"
    )
    device: str | None = setting(None, None, "device profile", metavar="NAME")
    daily_writes: float | None = setting(
        None,
        ByteAmount(),
        "what the host writes in a day, such as 200GB",
        number="bytes",
        flag="--daily-writes",
        alias="--per-day",
    )
    cycles: int | None = setting(
        None,
        POSITIVE_COUNT,
        "program/erase cycles that blocks are rated for; without it, what is usual of the kind of "
        "cell, whose range the bounds then hold",
        number="count",
    )
    seed: int = setting(1, Whole(0), "of all random draws", number="count")
