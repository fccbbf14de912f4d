"""Functions `save`, `run` and `calibrate`: real drives read now, and around a command."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from writeamp.devices.device import SizeLike
from writeamp.drives.counters.answer import life_answer
from writeamp.drives.counters.difference import interval_between
from writeamp.drives.counters.reading import read_snapshot
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.devices.calibration import Calibration, by_writing, calibration_of
from writeamp.drives.devices.reading import check_out, read_device, save_documents
from writeamp.drives.devices.run import DriveRun, run_on
from writeamp.drives.devices.settings import CalibrationSettings, SettleSettings
from writeamp.errors import WriteampError
from writeamp.files.output import AnyPath
from writeamp.runners import Progress

__all__ = ["Calibration", "DriveRun", "calibrate", "run", "save"]


def save(device: str, out: AnyPath, *, serials: bool = False) -> DriveCounters:
    """Save a snapshot of a drive's counters with nvme-cli or smartctl.

    Args:
        device: drive to read, such as "/dev/nvme0"; it is not written to.
        out: file to write, or a folder if it is one or ends with a slash.
        serials: whether to keep serial numbers in the snapshot instead of replacing them by hashes.

    Returns:
        `DriveCounters` of the snapshot: `wa`, `kind`, `host`, `flash`, `checks`, `facts`.

    Raises:
        WriteampError: the drive cannot be read, or the file cannot be written.
    """
    check_out(out)
    return life_answer(save_documents(read_device(device, keeps_serials=serials), out))


def run(
    device: str,
    command: Sequence[str] | str,
    *,
    settle: float | str = SettleSettings.settle,
    wait: float | str = SettleSettings.wait,
    keep: AnyPath | None = None,
    stdout: int | None = None,
    note: Callable[[str], None] | None = None,
) -> DriveRun:
    """Run a command, and measure its WA by the drive's counters before and after it.

    Args:
        device: drive to read, or files that another program updates.
        command: a program and its arguments, or one text for the shell.
        settle: seconds between two readings of the counters before and after the command, or a text
            such as "10s".
        wait: longest wait in seconds until garbage collection has settled, or a text such as
            "10min".
        keep: folder for both snapshots.
        stdout: file descriptor for the command's output; default: that of this process.
        note: called with a sentence about each wait.

    Returns:
        `DriveRun`: `answer` (a `DriveCounters`), `status` of the command, `stopped_by`.

    Raises:
        WriteampError: the drive cannot be read, or its counters cannot show WA; the command is then
            not run.
    """
    waits = SettleSettings(settle, wait)  # type: ignore[arg-type]  # its domains read text
    return run_on(
        device,
        [command] if isinstance(command, str) else command,
        settle_s=waits.settle,
        wait_s=waits.wait,
        out=None if keep is None else Path(keep),
        stdout=stdout,
        report_wait=note or (lambda _sentence: None),
    )


def calibrate(
    target: AnyPath,
    after: AnyPath | None = None,
    *,
    write: SizeLike | float = CalibrationSettings.amount,
    folder: AnyPath | None = None,
    written: SizeLike | float | None = None,
    settle: float | str = SettleSettings.settle,
    wait: float | str = SettleSettings.wait,
    progress: Progress | None = None,
) -> Calibration:
    """Find the units of a drive's counters by writing a known amount to a file.

    The file is created, synced and removed; the device itself is never written to directly.

    Args:
        target: a device, or the file to create; or a snapshot, with `after` and `written`.
        after: a later snapshot of the same drive.
        write: bytes to write.
        folder: folder on the drive in which to create the file.
        written: bytes written between the two snapshots.
        settle: see `run`, like `wait`.
        wait: see `run`.
        progress: called with bytes written and total bytes.

    Returns:
        `Calibration`: possible units of each counter; see its `card()`.

    Raises:
        WriteampError: the drive cannot be read or written, or the snapshots cannot be compared.
    """
    settings = CalibrationSettings(
        write,  # type: ignore[arg-type]  # its domain reads text
        None if folder is None else Path(folder),
        written,  # type: ignore[arg-type]
    )
    waits = SettleSettings(settle, wait)  # type: ignore[arg-type]
    if after is None:
        return by_writing(
            os.fspath(target),
            size_bytes=round(settings.amount),
            folder=settings.folder,
            settle_s=waits.settle,
            wait_s=waits.wait,
            progress=progress,
        )
    if settings.written is None:
        raise WriteampError("two snapshots need --written, the bytes written between them")
    first, last = (read_snapshot(path).facts for path in (target, after))
    refusal = interval_between(first, last).refusal
    if refusal:
        raise WriteampError(f"the snapshots cannot be compared: {refusal}")
    return calibration_of(first, last, round(settings.written), is_exact=False)
