"""Emptying of a place before a chain: what it holds is discarded, as far as it can be."""

from __future__ import annotations

import errno
import fcntl
import math
import os
import struct
from collections.abc import Callable

from writeamp.drives.devices import fio
from writeamp.drives.devices.place import Place, existing, file_system_of
from writeamp.errors import WriteampError

# From linux/fs.h: discards a range of a block device.
_BLKDISCARD = 0x1277
_MOST_TRIM_BYTES = 32 << 20
# They write what is overwritten somewhere else, so that the drive sees other addresses.
_COPY_ON_WRITE = ("btrfs", "zfs", "bcachefs", "f2fs", "nilfs2")
_NO_DISCARD = (errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL)


def check_file_system(path: str, page_bytes: int) -> None:
    """Refuse a file whose file system moves what is written, or cuts pages.

    Raises:
        WriteampError: the drive would not see the chain.
    """
    kind, _ = file_system_of(path)
    if kind in _COPY_ON_WRITE:
        raise WriteampError(
            f"{path} lies on {kind}, which writes elsewhere what is overwritten, so that "
            "the drive would see another load; give a file on ext4 or XFS, or a device"
        )
    block_bytes = os.statvfs(existing(path)).f_bsize
    if block_bytes < page_bytes:
        raise WriteampError(
            f"{path} lies on {kind} with blocks of {block_bytes} bytes, so that each write may "
            f"cover two pages in part; make the file system with blocks of {page_bytes}"
        )


def emptied(place: Place, *, timeout_s: float) -> list[str]:
    """Discard what a place holds; a file gets all its blocks then.

    Returns:
        Sentences on what could not be discarded, or may not have reached the drive.

    Raises:
        WriteampError: there is no room for the file, or the place fails.
    """
    if place.kind == "device":
        return _device(place)
    if place.kind == "file":
        return _file(place)
    options = ["--rw=trim", f"--bs={math.gcd(_MOST_TRIM_BYTES, place.size_bytes)}"]
    fio.run(place, [*options, f"--size={place.size_bytes}"], timeout_s=timeout_s)
    return []


def _device(place: Place) -> list[str]:
    def discard(handle: int) -> None:
        fcntl.ioctl(handle, _BLKDISCARD, struct.pack("QQ", 0, place.size_bytes))

    try:
        _with_handle(place.name, os.O_EXCL, discard)
    except OSError as error:
        if error.errno not in _NO_DISCARD:
            raise WriteampError(f"cannot discard {place.name}: {error.strerror}") from None
        return [
            f"{place.name} cannot be discarded: what it held is spare space only when the fill has "
            "overwritten it"
        ]
    return []


def _file(place: Place) -> list[str]:
    whole = os.path.getsize(place.name)

    def renew(handle: int) -> None:
        os.ftruncate(handle, 0)
        os.fsync(handle)
        os.ftruncate(handle, whole)
        os.posix_fallocate(handle, 0, place.size_bytes)

    try:
        _with_handle(place.name, 0, renew)
    except OSError as error:
        raise WriteampError(
            f"cannot make room for {place.name} ({place.size_bytes} bytes): {error.strerror}"
        ) from None
    _, options = file_system_of(place.name)
    if "discard" in options:
        return []
    return [
        f"the file system of {place.name} is not mounted with discard: run fstrim on it before, or "
        "what was deleted there is no spare space"
    ]


def _with_handle(path: str, flags: int, do: Callable[[int], None]) -> None:
    handle = os.open(path, os.O_RDWR | flags)
    try:
        do(handle)
    finally:
        os.close(handle)
