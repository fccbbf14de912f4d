"""ext2, ext3 and ext4: the event of allocations, and the journal by the superblock."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

import numpy as np

from writeamp.recorder.extents import Allocations, Integers
from writeamp.recorder.file_systems.volume import Volume, allocations_of_start
from writeamp.recorder.ring_buffer import Events
from writeamp.recorder.tracing import RecordedEvent
from writeamp.recorder.writers import WriteEvent

_ALLOCATED, _FREED = "ext4/ext4_allocate_blocks", "ext4/ext4_free_inode"
_WRITES = ("ext4/ext4_da_write_begin", "ext4/ext4_write_begin")
# Superblock: struct ext4_super_block of fs/ext4/ext4.h.
_SUPERBLOCK_AT, _SUPERBLOCK_BYTES = 1024, 1024
_MAGIC_AT, _MAGIC = 0x38, 0xEF53
_LOG_BLOCK_AT = 0x18
_INCOMPATIBLE_AT, _SPREAD_DESCRIPTORS, _WIDE_DESCRIPTORS = 0x60, 0x10, 0x80
_WIDE_BYTES = 64
_JOURNAL_AT, _JOURNAL_WORDS = 0x10C, 15
# Extents: struct ext4_extent_header, ext4_extent and ext4_extent_idx.
_HEADER = struct.Struct("<HHHHI")
_ENTRY = struct.Struct("<IHHI")
_INDEX = struct.Struct("<IIHH")
_EXTENTS_MAGIC = 0xF30A
_LONGEST_EXTENT = 1 << 15
_DEEPEST = 5


class Ext4:
    """An ext2, ext3 or ext4 file system."""

    def __init__(self, volume: Volume) -> None:
        """Read the superblock.

        Raises:
            OSError: the volume cannot be read, or has another file system.
        """
        self._volume = volume
        self._superblock = volume.read(_SUPERBLOCK_AT, _SUPERBLOCK_BYTES)
        (magic,) = struct.unpack_from("<H", self._superblock, _MAGIC_AT)
        if magic != _MAGIC:
            raise OSError("it has no superblock of ext4")
        (log,) = struct.unpack_from("<I", self._superblock, _LOG_BLOCK_AT)
        self._block_bytes = 1024 << log

    def tracepoints(self) -> list[RecordedEvent]:
        """Return the events of allocated blocks and freed inodes."""
        of_device = f"dev == {self._volume.mount.file_device}"
        return [
            RecordedEvent(_ALLOCATED, ("ino", "block", "len"), of_device),
            RecordedEvent(_FREED, ("ino",), of_device),
        ]

    def allocated(self, events: dict[str, Events]) -> Allocations:
        """Return the allocations of events."""
        allocated = events[_ALLOCATED]
        fields = allocated.fields
        return self._volume.allocations(
            allocated.time_ns,
            fields["ino"].astype(np.int64),
            fields["block"].astype(np.int64) * self._block_bytes,
            fields["len"].astype(np.int64) * self._block_bytes,
        )

    def writes(self) -> list[WriteEvent]:
        """Return the events of buffered writes, with and without delayed allocation."""
        device = self._volume.mount.file_device
        return [WriteEvent(event, "dev", device, 4) for event in _WRITES]

    def freed(self, events: dict[str, Events]) -> tuple[Integers, Integers]:
        """Return times at which inodes were freed, and the inodes."""
        return events[_FREED].time_ns, events[_FREED].fields["ino"].astype(np.int64)

    def placed(self, extents: Iterable[tuple[int, int, int]]) -> Allocations:
        """Return the places of extents."""
        return allocations_of_start(self._volume, extents)

    def journal(self) -> list[tuple[int, int]]:
        """Return the extents of the journal in bytes; empty if it is elsewhere or none.

        The superblock has a copy of the block map of the journal's inode.
        """
        words = self._superblock[_JOURNAL_AT : _JOURNAL_AT + 4 * _JOURNAL_WORDS]
        return [
            (first * self._block_bytes, count * self._block_bytes)
            for first, count in self._extents(words, _DEEPEST)
        ]

    def metadata(self) -> list[tuple[int, int]]:
        """Return the extents of descriptors, bitmaps and inode tables in bytes.

        They are empty if the descriptors of groups are spread over the volume (meta_bg).
        """
        (incompatible,) = self._words(_INCOMPATIBLE_AT)
        if incompatible & _SPREAD_DESCRIPTORS:
            return []
        (blocks,), (first_block,) = self._words(0x4), self._words(0x14)
        (blocks_per_group,), (inodes_per_group,) = self._words(0x20), self._words(0x28)
        (inode_bytes,) = struct.unpack_from("<H", self._superblock, 0x58)
        size = 32
        if incompatible & _WIDE_DESCRIPTORS:
            blocks |= self._words(0x150)[0] << 32
            (size,) = struct.unpack_from("<H", self._superblock, 0xFE)
        count = -(-(blocks - first_block) // blocks_per_group)
        start = (first_block + 1) * self._block_bytes
        descriptors = self._volume.read(start, count * size)
        words = np.frombuffer(descriptors, "<u4").reshape(-1, size // 4).astype(np.int64)
        # Bitmap of blocks, bitmap of inodes, inode table: low words, and high words if they are.
        places = words[:, :3] | (words[:, 8:11] << 32 if size >= _WIDE_BYTES else 0)
        lengths = (self._block_bytes, self._block_bytes, inodes_per_group * inode_bytes)
        tables = [
            (first * self._block_bytes, length)
            for column, length in zip(places.T.tolist(), lengths, strict=True)
            for first in column
        ]
        return [(0, start + count * size), *tables]

    def _words(self, at: int) -> tuple[int, ...]:
        return struct.unpack_from("<I", self._superblock, at)

    def _extents(self, node: bytes, depth_left: int) -> Iterator[tuple[int, int]]:
        """Yield first block and number of blocks of the extents below a node of the tree."""
        magic, entries, _, depth, _ = _HEADER.unpack_from(node)
        if magic != _EXTENTS_MAGIC or not depth_left:
            return
        for place in range(min(entries, (len(node) - _HEADER.size) // _ENTRY.size)):
            at = _HEADER.size + place * _ENTRY.size
            if depth:
                _, low, high, _ = _INDEX.unpack_from(node, at)
                block = low | high << 32
                child = self._volume.read(block * self._block_bytes, self._block_bytes)
                yield from self._extents(child, depth_left - 1)
            else:
                _, count, high, low = _ENTRY.unpack_from(node, at)
                yield (
                    low | high << 32,
                    count if count <= _LONGEST_EXTENT else count - _LONGEST_EXTENT,
                )
