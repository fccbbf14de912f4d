"""Btrfs: events of written extents, and the chunks that give logical addresses their places."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from writeamp.recorder.extents import Allocations, Integers
from writeamp.recorder.file_systems.volume import Volume, all_at_once
from writeamp.recorder.ring_buffer import Events
from writeamp.recorder.tracing import RecordedEvent
from writeamp.recorder.writers import WriteEvent
from writeamp.system import ioctl

_EVENT = "btrfs/btrfs_ordered_extent_add"
_CHANGED = "writeback/writeback_dirty_folio"
_CACHES, _WORD_BYTES = Path("/sys/class/bdi"), 8
# Superblock: struct btrfs_super_block of linux/btrfs_tree.h.
_SUPERBLOCK_AT, _SUPERBLOCK_BYTES = 64 << 10, 4096
_MAGIC_AT, _MAGIC = 0x40, b"_BHRfS_M"
_FSID_AT, _FSID_BYTES = 0x20, 16
_DEVICE_AT = 0xC9
# ioctls BTRFS_IOC_TREE_SEARCH and BTRFS_IOC_INO_LOOKUP; both structs have 4096 bytes.
_TREE_SEARCH, _INO_LOOKUP = 0xD0009411, 0xD0009412
_ARGUMENT_BYTES = 4096
_KEY = struct.Struct("=QQQQQQQIIII32x")
_FOUND = struct.Struct("=QQQII")
_CHUNK_TREE, _FIRST_CHUNK, _CHUNK_ITEM = 3, 256, 228
_CHUNK, _STRIPE = struct.Struct("<QQQQIIIHH"), struct.Struct("<QQ16x")
# Chunks of these kinds are spread over stripes: RAID0, RAID10, RAID5 and RAID6.
_SPREAD = 1 << 3 | 1 << 6 | 1 << 7 | 1 << 8
_MOST = 2**64 - 1
ROOT = 256
"""Number of the inode of each subvolume's root."""


class _Stripe(NamedTuple):
    """A copy of a chunk on the volume, in bytes."""

    logical: int
    end: int
    place: int


class Btrfs:
    """A Btrfs file system."""

    def __init__(self, volume: Volume) -> None:
        """Read the superblock, the chunks, and which subvolume is mounted.

        Raises:
            OSError: the volume cannot be read, or has another file system.
        """
        self._volume = volume
        superblock = volume.read(_SUPERBLOCK_AT, _SUPERBLOCK_BYTES)
        if superblock[_MAGIC_AT : _MAGIC_AT + len(_MAGIC)] != _MAGIC:
            raise OSError("it has no superblock of Btrfs")
        self._fsid = np.frombuffer(superblock, np.uint8)[_FSID_AT : _FSID_AT + _FSID_BYTES]
        (self._device,) = struct.unpack_from("<Q", superblock, _DEVICE_AT)
        self._root = _root_of(volume.mount.point)
        self._stripes = list(self._read_stripes())

    def tracepoints(self) -> list[RecordedEvent]:
        """Return the event of written extents, which has no device to filter by."""
        fields = ("fsid", "ino", "start", "disk_len", "root_objectid")
        return [RecordedEvent(_EVENT, fields, "")]

    def allocated(self, events: dict[str, Events]) -> Allocations:
        """Return the allocations of events, of the mounted subvolume."""
        added = events[_EVENT]
        fsid = np.ascontiguousarray(added.fields["fsid"]).view(np.uint8).reshape(-1, _FSID_BYTES)
        is_here = (fsid == self._fsid).all(axis=1) & (added.fields["root_objectid"] == self._root)
        added = added.take(is_here)
        return self._placed(
            added.time_ns,
            *(added.fields[name].astype(np.int64) for name in ("ino", "start", "disk_len")),
        )

    def writes(self) -> list[WriteEvent]:
        """Return the event of changed pages, if only one Btrfs file system is mounted.

        The event has the name of the file system's cache, which nothing relates to a mount point.
        """
        caches = list(_CACHES.glob("btrfs-*"))
        if len(caches) != 1:
            return []
        name = os.fsencode(caches[0].name)[:_WORD_BYTES].ljust(_WORD_BYTES, b"\0")
        return [WriteEvent(_CHANGED, "name", int.from_bytes(name, "little"), _WORD_BYTES)]

    def freed(self, events: dict[str, Events]) -> tuple[Integers, Integers]:
        """Return no inodes: Btrfs does not use the number of a deleted file again."""
        return np.empty(0, np.int64), np.empty(0, np.int64)

    def placed(self, extents: Iterable[tuple[int, int, int]]) -> Allocations:
        """Return the places of extents, whose first bytes are logical addresses."""
        inode, first, length = all_at_once(extents)
        return self._placed(np.zeros(len(inode), np.int64), inode, first, length)

    def journal(self) -> list[tuple[int, int]]:
        """Return no extents: Btrfs logs in its metadata."""
        return []

    def metadata(self) -> list[tuple[int, int]]:
        """Return no extents: all requests of metadata are marked."""
        return []

    def _placed(
        self, time_ns: Integers, inode: Integers, logical: Integers, length: Integers
    ) -> Allocations:
        if len(logical) and not self._has_all(logical):
            self._stripes = list(self._read_stripes())
        copies = []
        for stripe in self._stripes:
            here = (logical >= stripe.logical) & (logical < stripe.end)
            if here.any():
                place = logical[here] - stripe.logical + stripe.place
                copies.append(
                    self._volume.allocations(time_ns[here], inode[here], place, length[here])
                )
        return Allocations.joined([Allocations.none(), *copies])

    def _has_all(self, logical: Integers) -> bool:
        has = np.zeros(len(logical), bool)
        for stripe in self._stripes:
            has |= (logical >= stripe.logical) & (logical < stripe.end)
        return bool(has.all())

    def _read_stripes(self) -> Iterator[_Stripe]:
        """Yield the copies of all chunks that are on this volume."""
        for logical, item in _items(self._volume.mount.point):
            length, _, _, kind, _, _, _, count, _ = _CHUNK.unpack_from(item)
            if kind & _SPREAD:
                continue
            for place in range(count):
                device, offset = _STRIPE.unpack_from(item, _CHUNK.size + place * _STRIPE.size)
                if device == self._device:
                    yield _Stripe(logical, logical + length, offset)


def _items(point: str) -> Iterator[tuple[int, bytes]]:
    """Yield logical address and content of each item of the chunk tree."""
    handle = os.open(point, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        logical = 0
        while True:
            argument = bytearray(_ARGUMENT_BYTES)
            _KEY.pack_into(
                argument, 0, _CHUNK_TREE, _FIRST_CHUNK, _FIRST_CHUNK, logical, _MOST, 0, _MOST,
                _CHUNK_ITEM, _CHUNK_ITEM, _ARGUMENT_BYTES, 0,
            )  # fmt: skip
            ioctl(handle, _TREE_SEARCH, argument)
            count, at = _KEY.unpack_from(argument)[9], _KEY.size
            if not count:
                return
            for _ in range(count):
                _, _, logical, _, length = _FOUND.unpack_from(argument, at)
                at += _FOUND.size
                yield logical, bytes(argument[at : at + length])
                at += length
            logical += 1
    finally:
        os.close(handle)


def _root_of(point: str) -> int:
    """Return the number of the subvolume that is mounted at a point."""
    handle = os.open(point, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        argument = bytearray(_ARGUMENT_BYTES)
        struct.pack_into("=QQ", argument, 0, 0, _FIRST_CHUNK)
        ioctl(handle, _INO_LOOKUP, argument)
        return int(struct.unpack_from("=Q", argument)[0])
    finally:
        os.close(handle)
