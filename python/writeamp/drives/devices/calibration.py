"""Calibration of a drive's counters by a file of known size that is written and removed."""

from __future__ import annotations

import os
import random
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from writeamp.drives.devices.settling import Reading, reading_of, settled
from writeamp.drives.devices.source import Source, source_at
from writeamp.drives.devices.units import Calibration, calibration_of
from writeamp.errors import WriteampError
from writeamp.units.byte_sizes import shown_bytes

_CHUNK_BYTES = 4 << 20
# Room that is left on the file system.
_SPARE_PART = 0.05
# The kernel must have sent nearly all of the file to the drive, or the file is somewhere else.
_ARRIVED_PART = 0.9

Progress = Callable[[int, int], None]


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
    before = reading_of(source)
    with _file_of(path, size_bytes, progress):
        after = settled(source, before, every_s=settle_s, most_s=wait_s, sleep=_slept).reading
    sent = _sent(before, after)
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


def _sent(before: Reading, after: Reading) -> int | None:
    first, last = before.sent_bytes, after.sent_bytes
    return None if first is None or last is None else last - first


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


def _mounts() -> Iterator[tuple[str, str]]:
    """Yield mount points and the devices that are mounted there."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields = line.split()
        place = fields[4].encode().decode("unicode_escape")
        device = fields[fields.index("-") + 2]
        if device.startswith("/dev/"):
            yield place, os.path.realpath(device)


def _mount_of(source: Source, target: str) -> Path:
    """Return the writable mount of a drive that has the most room."""
    assert source.device is not None
    found = [
        place
        for place, device in _mounts()
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


def device_under(folder: Path) -> str:
    """Return the device whose file system a folder is on."""
    here = os.path.realpath(folder)
    found = [
        (place, device)
        for place, device in _mounts()
        if here == place or here.startswith(place.rstrip("/") + "/")
    ]
    if not found:
        raise WriteampError(
            f"cannot tell which drive {str(folder)!r} is on; give its device, and --in FOLDER"
        )
    return max(found, key=lambda one: len(one[0]))[1]


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


@contextmanager
def _file_of(path: Path, size_bytes: int, progress: Progress) -> Iterator[None]:
    """Write a file of random content, and remove it when the block ends."""
    source = random.Random(os.urandom(16))
    is_made = False
    try:
        with path.open("xb") as file:
            is_made = True
            for start in range(0, size_bytes, _CHUNK_BYTES):
                file.write(source.randbytes(min(_CHUNK_BYTES, size_bytes - start)))
                progress(start, size_bytes)
            file.flush()
            os.fsync(file.fileno())
        yield
    except OSError as error:
        raise WriteampError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
    finally:
        if is_made:
            path.unlink(missing_ok=True)
