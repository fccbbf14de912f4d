"""Block devices of real drives in the kernel, and their file systems."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from writeamp.errors import WriteampError
from writeamp.system import require_linux

_SYS = Path("/sys")
_CONTROLLER = re.compile(r"nvme\d+")
_DISK = re.compile(r"sd[a-z]+")
# Name of the character device of an NVMe namespace.
_GENERIC = re.compile(r"ng(\d+n\d+)")
_SECTOR_BYTES = 512
# Index of the field of /sys/block/NAME/stat with the sectors written. These sectors have 512 bytes
# on all drives.
_SECTORS_WRITTEN = 6
# File systems that redirect overwrites to new addresses, so the drive sees other addresses than the
# workload has.
_COPY_ON_WRITE = ("btrfs", "zfs", "bcachefs", "f2fs", "nilfs2")


@dataclass(frozen=True)
class DriveDevice:
    """Drive as a whole, not a partition of it.

    Attributes:
        path: path of the device without symbolic links, as their names often have serial numbers.
        disks: names of its block devices in /sys/class/block; empty if it has none.
        is_nvme: whether the drive is read by nvme-cli instead of smartctl.
    """

    path: str
    disks: tuple[str, ...]
    is_nvme: bool


def is_device(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a block or character device."""
    file = Path(path)
    return file.is_block_device() or file.is_char_device()


def device_at(named: str, *, sys: Path = _SYS) -> DriveDevice:
    """Return the drive behind a path; for a partition, the whole drive.

    Args:
        named: such as /dev/nvme0, /dev/sda or a link in /dev/disk/by-id.
        sys: folder in which the kernel lists its devices.

    Raises:
        WriteampError: not Linux, or the path is missing, no device, or consists of several drives.
    """
    require_linux("reading a drive's counters")
    path = os.path.realpath(named)
    if not os.path.exists(path):
        raise WriteampError(
            f"the device {named!r} does not exist. List devices with `ls /dev/nvme* /dev/sd*`"
        )
    if not is_device(path):
        raise WriteampError(
            f"{named!r} is not a device. For files, use `writeamp measure counters`"
        )
    blocks = sys / "class" / "block"
    name = _whole(os.path.basename(path), blocks)
    parts = _names_in(blocks / name / "slaves")
    if parts:
        raise WriteampError(
            f"{named!r} consists of {', '.join(parts)}. Pass one drive, such as /dev/{parts[0]}"
        )
    disks = tuple(
        disk
        for disk in _names_in(blocks)
        if disk == name or (_CONTROLLER.fullmatch(name) and re.fullmatch(rf"{name}n\d+", disk))
    )
    place = os.path.join(os.path.dirname(path), name)
    is_nvme = _CONTROLLER.match(name) is not None
    return DriveDevice(place if os.path.exists(place) else path, disks, is_nvme)


def drives_here(*, sys: Path = _SYS, dev: Path = Path("/dev")) -> list[str]:
    """Return the paths of this machine's drives that have counters: NVMe, SATA and SAS.

    Args:
        sys: folder in which the kernel lists its devices.
        dev: folder of the devices.

    Raises:
        WriteampError: there is none, or this is not Linux.
    """
    require_linux("the search for drives")
    names = [*_names_in(sys / "class" / "nvme"), *_names_in(sys / "class" / "block")]
    drives = [name for name in names if _CONTROLLER.fullmatch(name) or _DISK.fullmatch(name)]
    if not drives:
        raise WriteampError(
            "this machine has no NVMe, SATA or SAS drive: /dev has no nvme* and no sd*. Virtual "
            "disks have no counters; read those of the host"
        )
    return [str(dev / name) for name in drives]


def _whole(name: str, blocks: Path) -> str:
    """Return the name of the disk to which a partition or a character device belongs."""
    generic = _GENERIC.fullmatch(name)
    if generic:
        return f"nvme{generic[1]}"
    place = blocks / name
    if (place / "partition").exists():
        return os.path.basename(os.path.dirname(os.path.realpath(place)))
    return name


def _names_in(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def bytes_sent_to(device: DriveDevice, *, sys: Path = _SYS) -> int | None:
    """Return the bytes sent by the kernel to a drive since boot; None if unknown."""
    total = 0
    for name in device.disks:
        try:
            fields = (sys / "class" / "block" / name / "stat").read_text().split()
            total += int(fields[_SECTORS_WRITTEN]) * _SECTOR_BYTES
        except (OSError, ValueError, IndexError):
            return None
    return total if device.disks else None


def check_on_disk(path: str) -> None:
    """Reject a file in memory, where Linux treats direct I/O as buffered I/O.

    Raises:
        WriteampError: the file is on tmpfs or ramfs.
    """
    kind, _ = file_system_of(path)
    if kind in ("tmpfs", "ramfs"):
        raise WriteampError(f"{path} is on {kind}, which is in memory. Pass a file on a disk")


def check_overwrites(path: str, page_bytes: int) -> None:
    """Reject a file whose file system relocates overwrites or splits pages.

    Raises:
        WriteampError: the drive would not see the written addresses.
    """
    kind, _ = file_system_of(path)
    if kind in _COPY_ON_WRITE:
        raise WriteampError(
            f"{path} is on {kind}, which relocates overwrites, so "
            "the drive would see another load. Pass a file on ext4 or XFS, or a device"
        )
    block_bytes = os.statvfs(_existing(path)).f_bsize
    if block_bytes < page_bytes:
        raise WriteampError(
            f"{path} is on {kind} with blocks of {block_bytes} bytes, so a write may "
            f"partially cover two pages. Create the file system with blocks of {page_bytes}"
        )


def file_system_of(path: str) -> tuple[str, list[str]]:
    """Return type and options of the file system of a file, or empty values if unknown.

    Args:
        path: path of the file, which may not exist yet.
    """
    with suppress(OSError):
        number = os.stat(_existing(path)).st_dev
        for mount in psutil.disk_partitions(all=True):
            with suppress(OSError):  # the file server may be down
                if os.stat(mount.mountpoint).st_dev == number:
                    return mount.fstype, mount.opts.split(",")
    return "", []


def mounted_devices() -> Iterator[tuple[str, str]]:
    """Yield mount points and the devices mounted there.

    Raises:
        WriteampError: this is not Linux.
    """
    require_linux("the search for mounted drives")
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields = line.split()
        point = fields[4].encode().decode("unicode_escape")
        device = fields[fields.index("-") + 2]
        if device.startswith("/dev/"):
            yield point, os.path.realpath(device)


def device_under(folder: Path) -> str:
    """Return the device of the file system that a folder is on.

    Raises:
        WriteampError: the device is unknown.
    """
    here = os.path.realpath(folder)
    mounts = [
        (point, device)
        for point, device in mounted_devices()
        if here == point or here.startswith(point.rstrip("/") + "/")
    ]
    if not mounts:
        raise WriteampError(
            f"cannot find the drive of {str(folder)!r}. Pass its device, and --in FOLDER"
        )
    return max(mounts, key=lambda mount: len(mount[0]))[1]


def _existing(path: str) -> Path:
    """Return a file, or the folder in which it would be created."""
    return Path(path) if os.path.exists(path) else Path(path).absolute().parent
