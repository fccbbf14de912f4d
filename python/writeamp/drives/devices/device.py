"""Devices of real drives, as the kernel knows them, and the file systems on them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from writeamp.errors import WriteampError

_SYS = Path("/sys")
_CONTROLLER = re.compile(r"nvme\d+")
# A namespace as a character device, or as one of several paths to it.
_GENERIC = re.compile(r"ng(\d+n\d+)")
_SECTOR_BYTES = 512
# Of /sys/block/NAME/stat: sectors written, of 512 bytes on any drive.
_SECTORS_WRITTEN = 6
# They write what is overwritten somewhere else, so that the drive sees other addresses.
_COPY_ON_WRITE = ("btrfs", "zfs", "bcachefs", "f2fs", "nilfs2")


@dataclass(frozen=True)
class DriveDevice:
    """A whole drive.

    Attributes:
        path: of it, without symbolic links, whose names often hold serial numbers.
        disks: names in /sys/class/block; none if the kernel lists none.
        is_nvme: nvme-cli reads it, and not smartctl.
    """

    path: str
    disks: tuple[str, ...]
    is_nvme: bool


def is_device(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a block or character device."""
    found = Path(path)
    return found.is_block_device() or found.is_char_device()


def device_at(given: str, *, sys: Path = _SYS) -> DriveDevice:
    """Return the drive that a path leads to; of a partition, the whole drive.

    Args:
        given: such as /dev/nvme0, /dev/sda or a link in /dev/disk/by-id.
        sys: where the kernel lists its devices.

    Raises:
        WriteampError: there is none, it is no device, or it is made of several drives.
    """
    path = os.path.realpath(given)
    if not os.path.exists(path):
        raise WriteampError(
            f"there is no device {given!r}; `ls /dev/nvme* /dev/sd*` shows which there are"
        )
    if not is_device(path):
        raise WriteampError(
            f"{given!r} is no device; of files, `writeamp measure counters` tells what they say"
        )
    blocks = sys / "class" / "block"
    name = _whole(os.path.basename(path), blocks)
    parts = _names_in(blocks / name / "slaves")
    if parts:
        raise WriteampError(
            f"{given!r} is made of {', '.join(parts)}: counters are of one drive, such as "
            f"/dev/{parts[0]}"
        )
    disks = tuple(
        one
        for one in _names_in(blocks)
        if one == name or (_CONTROLLER.fullmatch(name) and re.fullmatch(rf"{name}n\d+", one))
    )
    place = os.path.join(os.path.dirname(path), name)
    is_nvme = _CONTROLLER.match(name) is not None
    return DriveDevice(place if os.path.exists(place) else path, disks, is_nvme)


def _whole(name: str, blocks: Path) -> str:
    """Return the name of the disk that a partition is of, or of a namespace's other devices."""
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
    """Return the bytes that the kernel has sent to a drive since it started; None if unknown."""
    total = 0
    for name in device.disks:
        try:
            fields = (sys / "class" / "block" / name / "stat").read_text().split()
            total += int(fields[_SECTORS_WRITTEN]) * _SECTOR_BYTES
        except (OSError, ValueError, IndexError):
            return None
    return total if device.disks else None


def check_on_disk(path: str) -> None:
    """Refuse a file in memory, where Linux takes direct I/O for the usual kind.

    Raises:
        WriteampError: it is on tmpfs or ramfs.
    """
    kind, _ = file_system_of(path)
    if kind in ("tmpfs", "ramfs"):
        raise WriteampError(f"{path} lies on {kind}, which is memory; give a file on a disk")


def check_overwrites(path: str, page_bytes: int) -> None:
    """Refuse a file whose file system moves what is written, or cuts pages.

    Raises:
        WriteampError: the drive would not see the addresses that are written.
    """
    kind, _ = file_system_of(path)
    if kind in _COPY_ON_WRITE:
        raise WriteampError(
            f"{path} lies on {kind}, which writes elsewhere what is overwritten, so that "
            "the drive would see another load; give a file on ext4 or XFS, or a device"
        )
    block_bytes = os.statvfs(_existing(path)).f_bsize
    if block_bytes < page_bytes:
        raise WriteampError(
            f"{path} lies on {kind} with blocks of {block_bytes} bytes, so that each write may "
            f"cover two pages in part; make the file system with blocks of {page_bytes}"
        )


def file_system_of(path: str) -> tuple[str, list[str]]:
    """Return kind and options of the file system that a file is on, as far as they are known.

    Args:
        path: of a file, which may be still to be made.
    """
    with suppress(OSError):
        number = os.stat(_existing(path)).st_dev
        for mount in psutil.disk_partitions(all=True):
            with suppress(OSError):  # its server may be dead
                if os.stat(mount.mountpoint).st_dev == number:
                    return mount.fstype, mount.opts.split(",")
    return "", []


def mounted_devices() -> Iterator[tuple[str, str]]:
    """Yield mount points and the devices that are mounted there."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields = line.split()
        point = fields[4].encode().decode("unicode_escape")
        device = fields[fields.index("-") + 2]
        if device.startswith("/dev/"):
            yield point, os.path.realpath(device)


def device_under(folder: Path) -> str:
    """Return the device whose file system a folder is on.

    Raises:
        WriteampError: there is none.
    """
    here = os.path.realpath(folder)
    found = [
        (point, device)
        for point, device in mounted_devices()
        if here == point or here.startswith(point.rstrip("/") + "/")
    ]
    if not found:
        raise WriteampError(
            f"cannot tell which drive {str(folder)!r} is on; give its device, and --in FOLDER"
        )
    return max(found, key=lambda one: len(one[0]))[1]


def _existing(path: str) -> Path:
    """Return a file, or the folder that it is to be made in."""
    return Path(path) if os.path.exists(path) else Path(path).absolute().parent
