"""Function `lifetime`: years until a drive's rated life is used, from snapshots or a load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from writeamp.devices.device import SizeLike
from writeamp.drives.counters.snapshot import Snapshot, by_drive, chosen_drive, snapshot_name
from writeamp.drives.devices.reading import read_place
from writeamp.drives.histories.result import snapshots_by_drive
from writeamp.drives.lifetime.of_history import lifetime_of_history
from writeamp.drives.lifetime.result import DriveLifetime
from writeamp.drives.lifetime.settings import DriveLifetimeSettings
from writeamp.drives.lifetime.under_load import lifetime_under_load
from writeamp.errors import WriteampError
from writeamp.fields.domains import file_names
from writeamp.files.output import AnyPath
from writeamp.fio.workload import fio_load
from writeamp.runners import Progress


def lifetime(
    snapshots: Sequence[AnyPath] | AnyPath = (),
    *,
    db: AnyPath | None = None,
    drive: str | None = None,
    model: str | None = None,
    trace: AnyPath | None = None,
    workload: str | None = None,
    fio: AnyPath | None = None,
    fio_run: str | None = None,
    device: str | None = None,
    mapping_unit: SizeLike | None = None,
    daily_writes: SizeLike | float | None = None,
    cycles: int | None = None,
    rated_tbw: float | str | None = None,
    seed: int = 1,
    progress: Progress | None = None,
) -> DriveLifetime:
    """Estimate the years until a drive is worn out, from its snapshots or from a load.

    A TBW rating already includes the WA of the vendor's test workload, so it is not divided by WA.

    Args:
        snapshots: files of a real drive's counters, in any order; or its device, such as
            "/dev/nvme0", which is read now.
        db: history of real drives, written by `writeamp measure watch`, instead of snapshots.
        drive: selects one of several drives: its serial number, or part of its model, source or
            hash.
        model: drive model of the snapshots, if they lack it.
        trace: block trace that the host repeats, or
        workload: a synthetic workload, such as "zipf:s=0.99", or
        fio: a fio job file, or
        fio_run: a command line of fio, which is not executed.
        device: profile of the drive under the load.
        mapping_unit: size of a unit of its map, such as "16KiB"; default: the profile's page.
        daily_writes: bytes that the host writes per day, such as "200GB".
        cycles: rated program/erase cycles; default: of the profile, or typical for the cell type.
        rated_tbw: rated endurance of the real drive in TB (10**12 bytes); default: that of its
            model, if writeamp has it.
        seed: seed of all random draws.
        progress: for a load, called with the number of worn-out drives, and the total.

    Returns:
        `DriveLifetime`: `years` with `years_low` and `years_high`, or `at_least_years`; `method`,
        `wa`, `dwpd`, `tbw`, `rated_tbw`, `share_used`, `what_if`, `assumptions` and `warnings`.

    Raises:
        WriteampError: an input cannot be used, or is missing.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import writeamp as wa
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name, "smart.json")
    >>> _ = file.write_text(
    ...     '{"critical_warning": 0, "percent_used": 10, "power_on_hours": 8766, '
    ...     '"data_units_written": 2000000}')
    >>> life = wa.lifetime(file)
    >>> life.method, round(life.years)
    ('life so far', 9)
    >>> folder.cleanup()
    """
    settings = DriveLifetimeSettings(
        db=None if db is None else Path(db),
        drive=drive,
        model=model,
        trace=None if trace is None else Path(trace),
        workload=workload,
        fio=None if fio is None else str(fio),
        fio_run=fio_run,
        device=device,
        mapping_unit=mapping_unit,  # type: ignore[arg-type]  # its domain reads text
        daily_writes=daily_writes,  # type: ignore[arg-type]  # its domain reads text
        cycles=cycles,
        rated_tbw=rated_tbw,  # type: ignore[arg-type]  # its domain reads text
        seed=seed,
    )
    if settings.has_load:
        if settings.device is None or settings.daily_writes is None:
            raise WriteampError(
                "a life under a load needs --device and --daily-writes (bytes per day)"
            )
        if settings.rated_tbw is not None:
            raise WriteampError(
                "--rated-tbw is the rating of a real drive; a life under a load computes its TBW"
            )
        return lifetime_under_load(
            settings.device,
            daily_bytes=settings.daily_writes,
            mapping_unit=settings.mapping_unit,
            trace=None if settings.trace is None else str(settings.trace),
            workload=settings.workload,
            fio=fio_load(settings.fio, settings.fio_run),
            cycles=settings.cycles,
            seed=settings.seed,
            progress=progress,
        )
    chosen = chosen_drive(drives_of(snapshots, settings), settings.drive)
    return lifetime_of_history(chosen, settings.rated_tbw)


def drives_of(
    snapshots: Sequence[AnyPath] | AnyPath,
    settings: DriveLifetimeSettings,
    progress: Progress | None = None,
) -> Mapping[str, Sequence[Snapshot]]:
    """Return the snapshots of each real drive, by the drive's name.

    Args:
        snapshots: files of the drives' counters, or devices, unless the settings name a history.
        settings: history or model of the drives.
        progress: called with the number of readings or files, and the total.

    Raises:
        WriteampError: there is neither a snapshot nor a history, or one cannot be read.
    """
    if settings.db is not None:
        return {
            snapshot_name(group[-1], source): group
            for source, group in snapshots_by_drive(settings.db, progress).items()
        }
    paths = file_names(snapshots)
    if not paths:
        raise WriteampError(
            "pass snapshots of a drive, its history (--db), or a load (--trace, --workload or "
            "--fio) with the device and its daily writes (--device, --daily-writes)"
        )
    read: list[Snapshot] = []
    for done, path in enumerate(paths, 1):
        read += read_place(path, settings.model)
        if progress is not None:
            progress(done, len(paths))
    return by_drive(read)
