"""Calibration of a drive's counters by a file of known size that is written and removed."""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path

from writeamp.drives.devices.file_systems import device_under, mounted_devices
from writeamp.drives.devices.settling import settled
from writeamp.drives.devices.source import Source, source_at
from writeamp.drives.devices.units import Calibration, calibration_of
from writeamp.drives.devices.writing import random_file
from writeamp.errors import WriteampError
from writeamp.runners import Progress
from writeamp.units.byte_sizes import shown_bytes

# Room that is left on the file system.
_SPARE_PART = 0.05
# The kernel must have sent nearly all of the file to the drive, or the file is somewhere else.
_ARRIVED_PART = 0.9


def calibrate(
    target: str,
    *,
    size_bytes: int,
    folder: Path | None = None,
    settle_s: float,
    wait_s: float,
    progress: Progress = lambda _done, _whole: None,
) -> Calibration:
    """Write a file to a drive, and return the units that its counters can be of.

    The file has random content, is synced, and is removed at the end, come what may. The device
    itself is never written to.

    Args:
        target: the drive's device, or the file to make; or, with a folder, files that another
            program keeps up to date.
        size_bytes: of the file.
        folder: on the drive; None for where the file is to be made, or a mount of the device.
        settle_s, wait_s: as in `settled`.
        progress: is called with bytes written, and all.

    Raises:
        WriteampError: there is no such drive or folder, no room, or the file was written elsewhere.
    """
    source, path = _placed(target, folder)
    _require_room(path.parent, size_bytes)
    os.sync()
    before = source.read()
    with random_file(path, size_bytes, progress):
        after = settled(source, before, every_s=settle_s, most_s=wait_s, sleep=_slept).reading
    sent = before.sent_until(after)
    if sent is not None and sent < size_bytes * _ARRIVED_PART:
        raise WriteampError(
            f"the kernel sent {shown_bytes(sent)} to {source.name} while "
            f"{shown_bytes(size_bytes)} were written to {str(path.parent)!r}: that is on another "
            "drive, or compressed"
        )
    return calibration_of(
        before.snapshot.facts,
        after.snapshot.facts,
        size_bytes if sent is None else sent,
        is_exact=sent is not None,
    )


def _slept(seconds: float) -> bool:
    time.sleep(seconds)
    return True


def _placed(target: str, folder: Path | None) -> tuple[Source, Path]:
    """Return the source of counters, and the file to make."""
    path = Path(target)
    name = f".writeamp-calibration-{os.getpid()}"
    if folder is not None:
        if not folder.is_dir():
            raise WriteampError(f"there is no folder {str(folder)!r} to make a file in")
        return source_at(target), folder / name
    if path.exists():
        source = source_at(target)
        if source.device is None:
            raise WriteampError(
                f"{target!r} exists: give a device, a file to make, or the counters' files with "
                "--in FOLDER"
            )
        return source, _mount_of(source, target) / name
    if not path.parent.is_dir() or target.startswith("/dev/"):
        raise WriteampError(f"there is no device {target!r}, and no file can be made there")
    return source_at(device_under(path.parent)), path


def _mount_of(source: Source, target: str) -> Path:
    """Return the writable mount of a drive that has the most room."""
    assert source.device is not None
    found = [
        place
        for place, device in mounted_devices()
        if any(_is_of(os.path.basename(device), disk) for disk in source.device.disks)
        and os.access(place, os.W_OK)
    ]
    if not found:
        raise WriteampError(
            f"no file system of {target} is mounted where this user can write; give --in FOLDER"
        )
    return Path(max(found, key=lambda place: shutil.disk_usage(place).free))


def _is_of(name: str, disk: str) -> bool:
    return name == disk or re.fullmatch(rf"{re.escape(disk)}p?\d+", name) is not None


def _require_room(folder: Path, size_bytes: int) -> None:
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise WriteampError(f"cannot use {str(folder)!r}: {error.strerror or error}") from None
    if free < size_bytes * (1 + _SPARE_PART):
        raise WriteampError(
            f"{str(folder)!r} has {shown_bytes(free)} free; {shown_bytes(size_bytes)} are to be "
            "written (--write says how much)"
        )
