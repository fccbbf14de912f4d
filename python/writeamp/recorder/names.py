"""Names of a file system's files by inode, and their extents when the recording begins."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

from writeamp.recorder.fiemap import extents_of_file

# Reading a file's extents takes about 20 µs of processor time and 100 bytes of memory.
MOST_FILES = 500_000
_DEEPEST = 200


class Names:
    """Paths of inodes below the mount point; a deleted file keeps its name.

    The names of before are in arrays, which take a tenth of the memory of objects.
    """

    def __init__(self, root: int) -> None:
        """Begin with the mount point, whose inode is `root`."""
        self._root = root
        self._inodes, self._folders = array("Q"), array("Q")
        self._ends, self._text = array("Q"), bytearray()
        self._order: np.ndarray | None = None
        self._sorted: np.ndarray | None = None
        self._changed: dict[int, tuple[int, bytes]] = {}

    def add(self, inode: int, folder: int, name: bytes) -> None:
        """Add a name of before."""
        self._inodes.append(inode)
        self._folders.append(folder)
        self._text += name
        self._ends.append(len(self._text))
        self._sorted = None

    @property
    def new_names(self) -> int:
        """Number of names of files that were created or renamed."""
        return len(self._changed)

    def has(self, identity: int) -> bool:
        """Return whether a file has a name."""
        return self.entry(identity) is not None

    def is_new(self, identity: int) -> bool:
        """Return whether a file has the name of a file that was created or renamed."""
        return identity in self._changed

    def entry(self, identity: int) -> tuple[int, bytes] | None:
        """Return the folder's inode and the name of a file, or None if it has no name."""
        return self._changed.get(identity) or self._of_before(identity)

    def change(self, identity: int, folder: int, name: bytes) -> None:
        """Set the name of a file that was created or renamed."""
        self._changed[identity] = (folder, name)

    def forget(self, identity: int) -> None:
        """Drop the name of a file that was created or renamed."""
        self._changed.pop(identity, None)

    def path(self, identity: int, now: Callable[[int], int]) -> str | None:
        """Return the path of a file, or None if it is not known.

        Args:
            identity: the file.
            now: returns the identity that the inode of a folder has.
        """
        pieces: list[bytes] = []
        while identity != self._root:
            entry = self.entry(identity)
            if entry is None or len(pieces) > _DEEPEST:
                return None
            folder, name = entry
            identity = now(folder)
            pieces.append(name)
        return b"/".join(reversed(pieces)).decode("utf-8", "backslashreplace")

    def _of_before(self, identity: int) -> tuple[int, bytes] | None:
        if self._sorted is None:
            inodes = np.array(self._inodes, np.uint64)
            self._order = np.argsort(inodes, kind="stable")
            self._sorted = inodes[self._order]
        place = int(self._sorted.searchsorted(np.uint64(identity)))
        if place == len(self._sorted) or int(self._sorted[place]) != identity:
            return None
        assert self._order is not None
        at = int(self._order[place])
        start = self._ends[at - 1] if at else 0
        return self._folders[at], bytes(self._text[start : self._ends[at]])


class Walk:
    """Walk over a mounted file system: names of all files, and extents of regular files."""

    def __init__(self, point: str, names: Names) -> None:
        """Prepare a walk over the file system at a mount point."""
        self._point = point
        self._names = names
        self._device = os.stat(point).st_dev
        self.files = 0
        self.is_complete = True

    def extents(self, check: Callable[[], None]) -> Iterator[tuple[int, int, int]]:
        """Yield inode, first byte on the device and length of each extent; add all names.

        `check` is called for each folder; it may raise to end the walk.
        """
        folders = [(self._point, os.stat(self._point).st_ino)]
        while folders and self.is_complete:
            path, inode = folders.pop()
            check()
            with suppress(OSError):
                yield from self._of_folder(path, inode, folders)

    def _of_folder(
        self, path: str, folder: int, folders: list[tuple[str, int]]
    ) -> Iterator[tuple[int, int, int]]:
        handle = _opened(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if os.fstat(handle).st_dev != self._device:
                return
            with os.scandir(handle) as entries:
                for entry in entries:
                    inode = entry.inode()
                    self._names.add(inode, folder, os.fsencode(entry.name))
                    if entry.is_dir(follow_symlinks=False):
                        folders.append((os.path.join(path, entry.name), inode))
                    elif entry.is_file(follow_symlinks=False):
                        self.files += 1
                        with suppress(OSError):
                            yield from self._of_file(entry.name, inode, handle)
            self.is_complete = self.files < MOST_FILES
        finally:
            os.close(handle)

    def _of_file(self, name: str, inode: int, folder: int) -> Iterator[tuple[int, int, int]]:
        handle = _opened(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, folder)
        try:
            # Another file may be mounted over it.
            status = os.fstat(handle)
            if (status.st_dev, status.st_ino) == (self._device, inode):
                for _, first, length in extents_of_file(handle):
                    yield inode, first, length
        finally:
            os.close(handle)


def _opened(name: str, flags: int, folder: int | None = None) -> int:
    """Open a file without a change of its time of access, which would be a write."""
    return os.open(name, flags | os.O_NOATIME, dir_fd=folder)
