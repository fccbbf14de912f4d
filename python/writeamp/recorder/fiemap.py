"""Extents of files on their device, by the ioctl FIEMAP."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from writeamp.system import ioctl

# _IOWR('f', 11, struct fiemap) of linux/fs.h and linux/fiemap.h.
_FIEMAP = 0xC020660B
_HEADER = struct.Struct("=QQLLLL")
_EXTENT = struct.Struct("=QQQQQLLLL")
_AT_ONCE = 256
_LAST, _UNKNOWN, _DELAYED, _INLINE = 0x1, 0x2, 0x4, 0x200
_WITHOUT_PLACE = _UNKNOWN | _DELAYED | _INLINE


def extents_of_file(handle: int) -> Iterator[tuple[int, int, int]]:
    """Yield offset in the file, offset on the device and length of each extent, in bytes.

    Data without a place on the device yet, and data within an inode, are left out.

    Raises:
        OSError: the file system has no FIEMAP.
    """
    start = 0
    while True:
        buffer = bytearray(_HEADER.size + _AT_ONCE * _EXTENT.size)
        _HEADER.pack_into(buffer, 0, start, 2**64 - 1 - start, 0, 0, _AT_ONCE, 0)
        ioctl(handle, _FIEMAP, buffer)
        count = _HEADER.unpack_from(buffer)[3]
        if not count:
            return
        flags = 0
        for place in range(count):
            logical, physical, length, _, _, flags, *_ = _EXTENT.unpack_from(
                buffer, _HEADER.size + place * _EXTENT.size
            )
            if not flags & _WITHOUT_PLACE:
                yield logical, physical, length
            start = logical + length
        if flags & _LAST:
            return
