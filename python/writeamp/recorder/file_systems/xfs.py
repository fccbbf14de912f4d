"""XFS: events of its extents, and the log by the superblock."""

from __future__ import annotations

import struct
from collections.abc import Iterable

import numpy as np

from writeamp.recorder.extents import Allocations, Integers
from writeamp.recorder.file_systems.volume import Volume, allocations_of_start
from writeamp.recorder.ring_buffer import Events
from writeamp.recorder.tracing import RecordedEvent
from writeamp.recorder.writers import WriteEvent

# An extent is new, or longer or elsewhere than before.
_EVENTS = ("xfs/xfs_iext_insert", "xfs/xfs_bmap_post_update")
_FIELDS = ("ino", "startblock", "blockcount", "bmap_state")
# The second is a write to a page that a process has mapped (mmap), from Linux 6.11 on.
_WRITES = ("xfs/xfs_file_buffered_write", "xfs/xfs_write_fault")
# A deleted file leaves the list of unlinked inodes when its inode is freed.
_FREED = "xfs/xfs_iunlink_remove"
_REPEATED_NS = 1_000_000
# bmap_state of an extent of attributes instead of data.
_OF_ATTRIBUTES = 1 << 8
# Blocks above are marks of data without a place yet (fs/xfs/libxfs/xfs_bmap_btree.h).
_FIRST_MARK = 1 << 52
# Superblock: struct xfs_dsb of fs/xfs/libxfs/xfs_format.h, big-endian.
_SUPERBLOCK_BYTES = 512
_MAGIC = b"XFSB"
_BLOCK_BYTES_AT, _LOG_START_AT, _GROUP_BLOCKS_AT, _LOG_BLOCKS_AT = 4, 48, 84, 96
_INODES_PER_BLOCK_BITS_AT, _GROUP_BITS_AT = 123, 124


class Xfs:
    """An XFS file system."""

    def __init__(self, volume: Volume) -> None:
        """Read the superblock.

        Raises:
            OSError: the volume cannot be read, or has another file system.
        """
        self._volume = volume
        superblock = volume.read(0, _SUPERBLOCK_BYTES)
        if superblock[:4] != _MAGIC:
            raise OSError("it has no superblock of XFS")
        (self._block_bytes,) = struct.unpack_from(">I", superblock, _BLOCK_BYTES_AT)
        (self._log_start,) = struct.unpack_from(">Q", superblock, _LOG_START_AT)
        (self._group_blocks,) = struct.unpack_from(">I", superblock, _GROUP_BLOCKS_AT)
        (self._log_blocks,) = struct.unpack_from(">I", superblock, _LOG_BLOCKS_AT)
        self._group_bits = superblock[_GROUP_BITS_AT]
        self._inode_bits = self._group_bits + superblock[_INODES_PER_BLOCK_BITS_AT]

    def tracepoints(self) -> list[RecordedEvent]:
        """Return the events of extents and freed inodes."""
        of_device = f"dev == {self._volume.mount.file_device}"
        return [
            *(RecordedEvent(name, _FIELDS, of_device) for name in _EVENTS),
            RecordedEvent(_FREED, ("agno", "agino"), of_device),
        ]

    def allocated(self, events: dict[str, Events]) -> Allocations:
        """Return the allocations of events."""
        return Allocations.joined([self._of_events(events[name]) for name in _EVENTS])

    def writes(self) -> list[WriteEvent]:
        """Return the events of buffered writes, and of writes to mapped pages."""
        device = self._volume.mount.file_device
        return [WriteEvent(event, "dev", device, 4) for event in _WRITES]

    def freed(self, events: dict[str, Events]) -> tuple[Integers, Integers]:
        """Return times at which inodes were freed, and the inodes."""
        freed = events[_FREED]
        group = freed.fields["agno"].astype(np.int64)
        inode = group << self._inode_bits | freed.fields["agino"].astype(np.int64)
        # Linux 6.18 reports each of them twice.
        order = np.lexsort((freed.time_ns, inode))
        is_first = np.ones(len(order), bool)
        is_first[1:] = np.diff(inode[order]) != 0
        is_first[1:] |= np.diff(freed.time_ns[order]) > _REPEATED_NS
        places = np.sort(order[is_first])
        return freed.time_ns[places], inode[places]

    def placed(self, extents: Iterable[tuple[int, int, int]]) -> Allocations:
        """Return the places of extents."""
        return allocations_of_start(self._volume, extents)

    def journal(self) -> list[tuple[int, int]]:
        """Return the extent of the log in bytes; empty if it is on another device."""
        if not self._log_start:
            return []
        first = int(self._bytes_of(np.array([self._log_start], np.int64))[0])
        return [(first, self._log_blocks * self._block_bytes)]

    def metadata(self) -> list[tuple[int, int]]:
        """Return no extents: all requests of metadata are marked."""
        return []

    def _of_events(self, events: Events) -> Allocations:
        fields = events.fields
        is_data = (fields["startblock"] < _FIRST_MARK) & (
            fields["bmap_state"] & _OF_ATTRIBUTES == 0
        )
        events = events.take(is_data)
        fields = events.fields
        return self._volume.allocations(
            events.time_ns,
            fields["ino"].astype(np.int64),
            self._bytes_of(fields["startblock"].astype(np.int64)),
            fields["blockcount"].astype(np.int64) * self._block_bytes,
        )

    def _bytes_of(self, blocks: Integers) -> Integers:
        """Return the first byte of blocks, whose high bits are the allocation group."""
        group = blocks >> self._group_bits
        within = blocks & ((1 << self._group_bits) - 1)
        first: Integers = (group * self._group_blocks + within) * self._block_bytes
        return first
