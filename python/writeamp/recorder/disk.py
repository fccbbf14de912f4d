"""Block devices in the kernel's events: number of the disk, and range of its sectors."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from writeamp.devices.endurance import endurance_rating
from writeamp.errors import WriteampError
from writeamp.traces.trace import SECTOR_BYTES

_SYSTEM = Path("/sys/dev/block")
# Device numbers in events, as in the kernel: 12 bits of the major number, 20 of the minor.
_MINOR_BITS = 20
# Fields of /sys/block/NAME/stat: sectors read and written.
_SECTORS_WRITTEN = 6
_ESCAPED = re.compile(r"\\([0-7]{3})")

# Source, mount point, type, number and root of a mount.
_MountRow: TypeAlias = tuple[str, str, str, int, str]


@dataclass(frozen=True)
class Disk:
    """A whole disk or a partition.

    Attributes:
        path: the device as the user named it.
        name: name in the kernel, such as "nvme0n1p2".
        number: number of the device in events of its file system.
        disk_number: number of the whole disk in block events.
        first_sector: first sector of the partition; 0 for a whole disk.
        sectors: number of sectors of 512 bytes.
        has_requests: whether the driver has requests, which merge and split bios.
        model: model of the whole disk as it reports it; None if it has none.
        disk_bytes: capacity of the whole disk.
    """

    path: str
    name: str
    number: int
    disk_number: int
    first_sector: int
    sectors: int
    has_requests: bool
    model: str | None = None
    disk_bytes: int = 0

    @property
    def rated_tbw(self) -> float | None:
        """Rated endurance of the disk's model in TB (10**12 bytes), or None."""
        rating = endurance_rating(self.model, self.disk_bytes)
        return None if rating is None else rating.tbw

    @property
    def is_partition(self) -> bool:
        """Whether it is a part of its disk."""
        return self.number != self.disk_number

    @property
    def written_bytes(self) -> int | None:
        """Bytes written to the device since it is there, by the kernel; None if it is removed."""
        try:
            fields = (_folder_of(self.number) / "stat").read_text().split()
        except OSError:
            return None
        return int(fields[_SECTORS_WRITTEN]) * SECTOR_BYTES


@dataclass(frozen=True)
class Mount:
    """A mounted file system.

    Attributes:
        point: the mount point.
        kind: type of the file system, such as "ext4".
        file_device: device number of its files, as in events.
        root: the only folder of the file system that is mounted; "/" if all of it is.
    """

    point: str
    kind: str
    file_device: int
    root: str = "/"


def disk_of(path: str) -> Disk:
    """Return a block device.

    Raises:
        WriteampError: it does not exist, is not a block device, or consists of other disks.
    """
    try:
        status = os.stat(path)
    except OSError as error:
        raise WriteampError(f"{path}: cannot be opened ({error.strerror})") from None
    if not stat.S_ISBLK(status.st_mode):
        raise WriteampError(f"{path} is not a block device; give one such as /dev/nvme0n1")
    number = number_of(status.st_rdev)
    folder = _folder_of(number)
    is_partition = (folder / "partition").exists()
    whole = folder.parent if is_partition else folder
    _check_is_lowest(path, whole)
    major, minor = (whole / "dev").read_text().split(":")
    return Disk(
        path=path,
        name=folder.name,
        number=number,
        disk_number=int(major) << _MINOR_BITS | int(minor),
        first_sector=int((folder / "start").read_text()) if is_partition else 0,
        sectors=int((folder / "size").read_text()),
        has_requests=(whole / "mq").is_dir(),
        model=_model_of(whole),
        disk_bytes=int((whole / "size").read_text()) * SECTOR_BYTES,
    )


def _model_of(whole: Path) -> str | None:
    """Return the model of a whole disk; virtual disks have none."""
    try:
        return (whole / "device" / "model").read_text(errors="backslashreplace").strip() or None
    except OSError:
        return None


def number_of(device: int) -> int:
    """Return the number in events of a device number as `os.stat` gives it."""
    return os.major(device) << _MINOR_BITS | os.minor(device)


def number_of_path(path: str) -> int | None:
    """Return the number of a block device in events; None if there is none at this path."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return number_of(status.st_rdev) if stat.S_ISBLK(status.st_mode) else None


def mount_of(point: str, disk: Disk) -> Mount:
    """Return the file system that is mounted from a device at a mount point.

    Raises:
        WriteampError: it does not exist, or nothing or another device is mounted there.
    """
    real = os.path.realpath(point)
    where = f"the folder where {disk.path} is mounted"
    if not os.path.exists(real):
        raise WriteampError(f"{point} does not exist; give {where}")
    mounts = {mount[1]: mount for mount in _mounts()}
    if real not in mounts:
        above = [mounts[str(it)] for it in Path(real).parents if str(it) in mounts][:1]
        points = [f"{mount[1]}, " for mount in above if _is_of(mount, disk)]
        raise WriteampError(f"{point} is not a mount point; give {''.join(points)}{where}")
    source, _, kind, _, root = mounts[real]
    if not _is_of(mounts[real], disk):
        raise WriteampError(
            f"{point} is mounted from {source}, not from {disk.path}; record {source}, or give "
            f"{where}"
        )
    return Mount(real, kind, number_of(os.stat(real).st_dev), root)


def _is_of(mount: _MountRow, disk: Disk) -> bool:
    source, _, _, number, _ = mount
    return disk.number in (number, number_of_path(source))


def points_of(disk: Disk) -> list[str]:
    """Return a mount point of each file system on a device, its partitions and devices above."""
    numbers = {disk.number, *_numbers_above(_folder_of(disk.number))}
    points = {
        number: point
        for source, point, _, number, _ in _mounts()
        if number in numbers or number_of_path(source) in numbers
    }
    return list(points.values())


def _numbers_above(folder: Path) -> Iterator[int]:
    """Yield the numbers of partitions, and of devices such as dm-crypt that use the device."""
    for file in (*folder.glob("*/partition"), *folder.glob("holders/*/dev")):
        above = file.parent.resolve()
        major, minor = (above / "dev").read_text().split(":")
        yield int(major) << _MINOR_BITS | int(minor)
        yield from _numbers_above(above)


def _folder_of(number: int) -> Path:
    major, minor = number >> _MINOR_BITS, number & ((1 << _MINOR_BITS) - 1)
    return (_SYSTEM / f"{major}:{minor}").resolve()


def _check_is_lowest(path: str, whole: Path) -> None:
    """Reject device mapper and md, whose events are those of the disks below."""
    below = sorted(entry.name for entry in (whole / "slaves").glob("*"))
    is_stacked = (whole / "dm").is_dir() or (whole / "md").is_dir()
    if not (is_stacked or below):
        return
    kind = "an md array" if (whole / "md").is_dir() else "a device of device mapper"
    disks = ", ".join(f"/dev/{name}" for name in below) or "none is attached"
    raise WriteampError(f"{path} is {kind}; record one of the disks below it: {disks}")


def _mounts() -> list[_MountRow]:
    """Return all mounts, the oldest first."""
    mounts = []
    for line in os.fsdecode(Path("/proc/self/mountinfo").read_bytes()).splitlines():
        place, _, system = line.partition(" - ")
        _, _, numbers, root, point, *_ = place.split(" ")
        kind, source, *_ = system.split(" ")
        major, minor = numbers.split(":")
        number = int(major) << _MINOR_BITS | int(minor)
        mounts.append((_plain(source), _plain(point), kind, number, _plain(root)))
    return mounts


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 8)), text)
