"""Device of a real drive: its path, and the disks that the kernel knows it by."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from writeamp.errors import WriteampError

_SYS = Path("/sys")
_CONTROLLER = re.compile(r"nvme\d+")
# A namespace as a character device, or as one of several paths to it.
_GENERIC = re.compile(r"ng(\d+n\d+)")
_SECTOR_BYTES = 512
# Of /sys/block/NAME/stat: sectors written, of 512 bytes on any drive.
_SECTORS_WRITTEN = 6


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
