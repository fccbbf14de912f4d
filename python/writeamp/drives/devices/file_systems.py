"""File systems that files and folders are on, and the devices below them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from writeamp.errors import WriteampError

# They write what is overwritten somewhere else, so that the drive sees other addresses.
_COPY_ON_WRITE = ("btrfs", "zfs", "bcachefs", "f2fs", "nilfs2")


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
