"""Settings of lifetimes; the options are generated from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from writeamp.devices.geometry import PAGE_BYTES
from writeamp.drives.counters.settings import model_setting, rated_setting
from writeamp.fields.domains import POSITIVE_COUNT, Whole
from writeamp.fields.setting import Settings, setting
from writeamp.units.byte_sizes import ByteAmount


@dataclass(frozen=True)
class DriveLifetimeSettings(Settings):
    """History of a real drive, or a load and its drive."""

    title: ClassVar[str] = "lifetime"
    names_options: ClassVar[bool] = True

    db: Path | None = setting(
        None,
        None,
        "history written by `measure watch`, instead of snapshots",
        number="path",
        metavar="FILE",
    )
    drive: str | None = setting(
        None,
        None,
        "selects one of several drives by its serial number, or part of its "
        "model, source or serial hash",
    )
    model: str | None = model_setting()
    trace: Path | None = setting(
        None,
        None,
        "block trace that the host repeats on a simulated drive until it is worn out",
        number="path",
        metavar="FILE",
    )
    workload: str | None = setting(
        None,
        None,
        "synthetic workload of the simulated drive, instead of a trace",
        kind="workloads",
        metavar="SPEC",
    )
    fio: str | None = setting(
        None,
        None,
        "fio job file whose jobs the simulated drive gets, instead of a workload",
        number="path",
        metavar="FILE",
    )
    fio_run: str | None = setting(
        None,
        None,
        "command line of fio whose jobs the simulated drive gets; fio is not executed",
        metavar="CMD",
    )
    device: str | None = setting(
        None,
        None,
        "profile of the simulated drive, required with --trace or --workload",
        metavar="NAME",
    )
    mapping_unit: int | None = setting(
        None,
        PAGE_BYTES,
        "unit of the map of the simulated drive, such as 16KiB; default: the page of its profile",
        number="bytes",
    )
    daily_writes: float | None = setting(
        None,
        ByteAmount(least=1e6),
        "bytes that the host writes per day, such as 200GB; required with --trace or --workload",
        number="bytes",
        flag="--daily-writes",
        alias="--per-day",
    )
    cycles: int | None = setting(
        None,
        POSITIVE_COUNT,
        "rated program/erase cycles of the simulated drive; default: those of the profile, or "
        "typical ones of its cell type, whose range widens the bounds",
        number="count",
    )
    rated_tbw: float | None = rated_setting()
    seed: int = setting(1, Whole(0), "seed of all random draws", number="count")

    @property
    def has_load(self) -> bool:
        """Whether a load is given, which wears out a simulated drive."""
        loads = (self.trace, self.workload, self.fio, self.fio_run)
        return any(load is not None for load in loads)
