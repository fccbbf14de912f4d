"""Files of requests: by extents of files, ranges of the journal, and marks of metadata."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from writeamp.errors import WriteampError
from writeamp.recorder.disk import Disk, Mount
from writeamp.recorder.extents import (
    NO_OWNER,
    Allocations,
    Changes,
    ExtentMap,
    Integers,
    Ranges,
)
from writeamp.recorder.fanotify import NameWatch
from writeamp.recorder.file_systems.btrfs import ROOT, Btrfs
from writeamp.recorder.file_systems.ext4 import Ext4
from writeamp.recorder.file_systems.volume import FileSystem, Volume
from writeamp.recorder.file_systems.xfs import Xfs
from writeamp.recorder.identities import MOST_NEW_NAMES, Identities
from writeamp.recorder.names import MOST_FILES, Names, Walk
from writeamp.recorder.processes import Process
from writeamp.recorder.requests import Requests
from writeamp.recorder.ring_buffer import Events
from writeamp.recorder.split import pieces_of
from writeamp.recorder.tracing import RecordedEvent
from writeamp.recorder.writers import Writers

JOURNAL, METADATA = "[journal]", "[metadata]"
KINDS: dict[str, Callable[[Volume], FileSystem]] = {
    "ext4": Ext4,
    "ext3": Ext4,
    "ext2": Ext4,
    "xfs": Xfs,
    "btrfs": Btrfs,
}
_MOST_WRITERS = 100_000
# e4defrag copies a file to one with this suffix, and exchanges their blocks without an event.
_DEFRAGMENTED = ".defrag"
# Owners besides inodes.
_JOURNAL, _METADATA = -2, -3


class RequestFile(NamedTuple):
    """Name of a file, and the last process that wrote to it; each None if it is not known."""

    name: str | None
    writer: Process | None


def _fixed(volume: Volume, file_system: FileSystem) -> Ranges:
    """Return the ranges of journal and metadata that stay where they are."""
    kinds = ((file_system.metadata(), _METADATA), (file_system.journal(), _JOURNAL))
    rows = [(*extent, owner) for extents, owner in kinds for extent in extents]
    first, length, owner = np.array(rows, np.int64).reshape(-1, 3).T
    allocations = volume.allocations(np.zeros(len(rows), np.int64), owner, first, length)
    return Changes(allocations).last()


class FileTracker:
    """Files of a mounted file system, and which of them each request belongs to."""

    def __init__(self, disk: Disk, mount: Mount, undo: ExitStack) -> None:
        """Watch the names of files from now on.

        Raises:
            WriteampError: the file system is of another kind, or cannot be read.
        """
        if mount.kind not in KINDS:
            raise WriteampError(
                f"{mount.point} is {mount.kind}; files can be recorded on {', '.join(KINDS)}"
            )
        self._mount = mount
        self._remarks: list[str] = []
        try:
            volume = Volume(disk, mount)
            self._file_system = KINDS[mount.kind](volume)
            self._fixed = _fixed(volume, self._file_system)
        except OSError as error:
            raise WriteampError(
                f"{mount.point}: the file system cannot be read ({error.strerror or error})"
            ) from None
        root = os.stat(mount.point).st_ino
        # The root of a mount of Btrfs is a subvolume, whose inode has always the same number.
        if root != ROOT if mount.kind == "btrfs" else mount.root != "/":
            self._remarks.append(
                f"{mount.point} has only the folder {mount.root} of the file system; the other "
                "files are unknown"
            )
        self._names = Names(root)
        self._identities = Identities(self._names, self._inode_at)
        self._watch: NameWatch | None = None
        try:
            self._watch = NameWatch(mount.point, undo)
        except OSError as error:
            self._remarks.append(
                f"files that are created or renamed meanwhile have no names ({error.strerror}): "
                "that needs Linux 5.17"
            )
        self._extents = ExtentMap(Allocations.none())
        self._new = Allocations.none()
        self._writers: Writers | None = None
        self._writer: dict[int, Process] = {}
        self._ending: set[int] = set()
        self._was_defragmented = False

    @property
    def remarks(self) -> list[str]:
        """Sentences about files that could not be recorded."""
        remarks = [*self._remarks]
        if self._was_defragmented:
            remarks.append(
                f"later writes to a file that e4defrag moved have the name FILE{_DEFRAGMENTED}"
            )
        if not self._identities.has_all_names:
            remarks.append(f"more than {MOST_NEW_NAMES:,} files were made; later ones are unknown")
        return remarks

    def tracepoints(self) -> list[RecordedEvent]:
        """Return the events to record from before `walk` on."""
        return self._file_system.tracepoints()

    def walk(self, check: Callable[[], None]) -> None:
        """Read the names and extents of all files."""
        walk = Walk(self._mount.point, self._names)
        self._extents = ExtentMap(self._file_system.placed(walk.extents(check)))
        if not walk.is_complete:
            self._remarks.append(
                f"{self._mount.point} has more than {MOST_FILES:,} files; other files are "
                "unknown unless they get new extents"
            )

    def read(
        self, events: dict[str, Events], later: dict[str, Events], until_ns: int | None
    ) -> None:
        """Read the allocations of events, and the names that files got since the last call.

        Args:
            events: the events.
            later: events that the next call gets.
            until_ns: time between both; None at the end.
        """
        # The last writer of these inodes may be that of the next file.
        self._ending = set(self._file_system.freed(later)[1].tolist())
        changes = [] if self._watch is None else self._watch.taken()
        self._identities.advance(*self._file_system.freed(events), changes, until_ns)
        self._new = self._identities.owners(self._file_system.allocated(events))

    def watch_writers(self, events: Path, undo: ExitStack) -> None:
        """Watch which processes write to files; `events` is the folder of the tracer's events."""
        try:
            self._writers = Writers(events, self._file_system.writes(), undo)
        except OSError as error:
            self._remarks.append(
                "the process of data that the kernel writes back is kworker, because the kernel "
                f"rejected a BPF program ({error.strerror or error})"
            )

    def attributed(self, requests: Requests) -> tuple[Requests, list[RequestFile], Integers]:
        """Return requests with one file each, the files, and the file of each request.

        A request whose range has several files becomes several requests.
        """
        end = requests.sector + requests.sectors
        pieces = pieces_of(requests.time_ns, requests.sector, end, self._extents, self._new)
        self._new = Allocations.none()
        owner = pieces.owner.copy()
        of_whole = requests.take(pieces.request)
        # Blocks of the journal and of metadata may have belonged to a file that was deleted.
        owner[of_whole.is_metadata] = _METADATA
        fixed = self._fixed.owner_at(pieces.first)
        owner = np.where(fixed == NO_OWNER, owner, fixed)
        is_empty = pieces.end == pieces.first
        owner[is_empty] = NO_OWNER
        split = of_whole.within(pieces.first, pieces.end - pieces.first)
        owners, codes = np.unique(owner, return_inverse=True)
        return split, [self._file_of(it) for it in owners.tolist()], codes

    def _inode_at(self, path: str) -> int | None:
        """Return the inode of a file or folder by its path below the mount point."""
        with suppress(OSError, ValueError):
            return os.lstat(os.path.join(self._mount.point, path)).st_ino
        return None

    def _file_of(self, owner: int) -> RequestFile:
        if owner < 0:
            return RequestFile({_JOURNAL: JOURNAL, _METADATA: METADATA}.get(owner), None)
        path = self._identities.path(owner)
        self._was_defragmented |= path is not None and path.endswith(_DEFRAGMENTED)
        return RequestFile(path, self._writer_of(owner))

    def _writer_of(self, owner: int) -> Process | None:
        """Return the last process that wrote to a file; a deleted one keeps its last."""
        inode = self._identities.inode(owner)
        process = None
        if inode is not None and inode not in self._ending and self._writers is not None:
            process = self._writers.of(inode)
        if process is not None:
            if len(self._writer) >= _MOST_WRITERS:
                self._writer.clear()
            self._writer[owner] = process
        return self._writer.get(owner)
