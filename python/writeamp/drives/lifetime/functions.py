"""Function `lifetime`: years until a drive's rated life is used, by snapshots or a load."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from writeamp.devices.device import SizeLike
from writeamp.drives.counters.reading import read_snapshots
from writeamp.drives.counters.snapshot import by_drive, chosen_drive
from writeamp.drives.histories.result import history
from writeamp.drives.lifetime.of_history import lifetime_of_history
from writeamp.drives.lifetime.result import DriveLifetime
from writeamp.drives.lifetime.settings import DriveLifetimeSettings
from writeamp.drives.lifetime.under_load import lifetime_under_load
from writeamp.errors import WriteampError
from writeamp.fields.domains import file_names
from writeamp.files.output import AnyPath
from writeamp.runners import Progress


def lifetime(
    snapshots: Sequence[AnyPath] | AnyPath = (),
    *,
    db: AnyPath | None = None,
    drive: str | None = None,
    model: str | None = None,
    trace: AnyPath | None = None,
    workload: str | None = None,
    device: str | None = None,
    daily_writes: SizeLike | float | None = None,
    cycles: int | None = None,
    seed: int = 1,
    progress: Progress | None = None,
) -> DriveLifetime:
    """Estimate the years of a real drive by its snapshots, or of a profile under a load.

    A TBW rating already holds the WA of its test, and is never divided by WA here.

    Args:
        snapshots: files of a real drive's counters, in any order.
        db: history that `writeamp measure watch` keeps, instead of snapshots.
        drive: one of several drives, by its serial number, or a part of its model, source or hash.
        model: drive model of the snapshots, if they do not name it.
        trace: block trace that the host repeats, or
        workload: a synthetic workload, such as "zipf:s=0.99".
        device: profile of the drive under the load.
        daily_writes: bytes that the host writes in a day, such as "200GB".
        cycles: rated program/erase cycles; by default those usual of the kind of cell.
        seed: decides every random draw.
        progress: called with the drives that are worn out, and all of them.

    Returns:
        `DriveLifetime`: `years` with `years_low` and `years_high`, or `at_least_years`; `method`,
        `wa`, `dwpd`, `tbw`, `what_if`, `assumptions` and `warnings`.

    Raises:
        WriteampError: an input that cannot be used, or too few of them.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import writeamp as wa
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name, "smart.json")
    >>> _ = file.write_text(
    ...     '{"critical_warning": 0, "percent_used": 10, "power_on_hours": 8766, '
    ...     '"data_units_written": 2000000}')
    >>> found = wa.lifetime(file)
    >>> found.method, round(found.years)
    ('life so far', 9)
    >>> folder.cleanup()
    """
    asked = DriveLifetimeSettings(
        db=None if db is None else Path(db),
        drive=drive,
        model=model,
        trace=None if trace is None else Path(trace),
        workload=workload,
        device=device,
        daily_writes=daily_writes,  # type: ignore[arg-type]  # its domain reads text
        cycles=cycles,
        seed=seed,
    )
    if asked.trace is not None or asked.workload is not None:
        if asked.device is None or asked.daily_writes is None:
            raise WriteampError(
                "a life under a load needs --device and --daily-writes, the bytes of a day"
            )
        return lifetime_under_load(
            asked.device,
            daily_bytes=asked.daily_writes,
            trace=None if asked.trace is None else str(asked.trace),
            workload=asked.workload,
            cycles=asked.cycles,
            seed=asked.seed,
            progress=progress,
        )
    if asked.db is not None:
        drives = {
            f"{one.life.facts.model or ''} {one.drive}".strip(): one.snapshots
            for one in history(asked.db).drives
        }
        return lifetime_of_history(chosen_drive(drives, asked.drive))
    paths = file_names(snapshots)
    if not paths:
        raise WriteampError(
            "give snapshots of a drive, its history (--db), or a load (--trace or --workload) with "
            "the device and its daily writes (--device, --daily-writes)"
        )
    read = [one for path in paths for one in read_snapshots(path, asked.model)]
    return lifetime_of_history(chosen_drive(by_drive(read), asked.drive))
