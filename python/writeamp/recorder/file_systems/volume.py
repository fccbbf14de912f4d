"""Volume of a file system, and the interface of the kinds of file systems."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from writeamp.recorder.disk import Disk, Mount
from writeamp.recorder.extents import Allocations, Integers
from writeamp.recorder.ring_buffer import Events
from writeamp.recorder.tracing import RecordedEvent
from writeamp.recorder.writers import WriteEvent
from writeamp.traces.trace import SECTOR_BYTES


@dataclass(frozen=True)
class Volume:
    """A mounted file system and its place on the disk."""

    disk: Disk
    mount: Mount

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes of the volume, which is opened for reading only.

        Raises:
            OSError: the device cannot be read.
        """
        handle = os.open(self.disk.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.pread(handle, length, offset)
        finally:
            os.close(handle)

    def sectors(self, first_byte: Integers, length: Integers) -> tuple[Integers, Integers]:
        """Return the first sectors on the disk, and the ends, of ranges of bytes."""
        first = first_byte // SECTOR_BYTES + self.disk.first_sector
        return first, first + -(-length // SECTOR_BYTES)

    def allocations(
        self, time_ns: Integers, inode: Integers, first_byte: Integers, length: Integers
    ) -> Allocations:
        """Return allocations of ranges of bytes of the volume."""
        first, end = self.sectors(first_byte, length)
        return Allocations(time_ns, first, end, inode)


class FileSystem(Protocol):
    """A kind of file system."""

    def tracepoints(self) -> list[RecordedEvent]:
        """Return the events of allocations."""

    def allocated(self, events: dict[str, Events]) -> Allocations:
        """Return the allocations of events."""

    def writes(self) -> list[WriteEvent]:
        """Return the events of buffered writes to files."""

    def freed(self, events: dict[str, Events]) -> tuple[Integers, Integers]:
        """Return times at which inodes were freed, in order, and the inodes."""

    def journal(self) -> list[tuple[int, int]]:
        """Return first byte and length of each extent of the journal, on the volume."""

    def metadata(self) -> list[tuple[int, int]]:
        """Return first byte and length of each extent that has only metadata."""

    def placed(self, extents: Iterable[tuple[int, int, int]]) -> Allocations:
        """Return the places of extents: inode, first byte as FIEMAP gives it, and length."""


def all_at_once(extents: Iterable[tuple[int, int, int]]) -> tuple[Integers, Integers, Integers]:
    """Return inodes, first bytes and lengths of extents as arrays."""
    flat = np.fromiter((value for extent in extents for value in extent), np.uint64)
    rows = flat.astype(np.int64).reshape(-1, 3)
    return rows[:, 0], rows[:, 1], rows[:, 2]


def allocations_of_start(volume: Volume, extents: Iterable[tuple[int, int, int]]) -> Allocations:
    """Return extents whose places FIEMAP gives as bytes of the volume, as allocations at time 0."""
    inode, first_byte, length = all_at_once(extents)
    return volume.allocations(np.zeros(len(inode), np.int64), inode, first_byte, length)
