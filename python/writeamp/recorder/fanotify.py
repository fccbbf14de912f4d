"""Names that the files of a file system get, and deleted files, by fanotify."""

from __future__ import annotations

import ctypes
import os
import select
import struct
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import NamedTuple

from writeamp.machine.bpf import LIBC, checked

# Flags of linux/fanotify.h. The group needs Linux 5.17, which reports the file of a name, too.
_CLOEXEC, _NONBLOCK, _UNLIMITED_QUEUE = 0x1, 0x2, 0x10
_REPORT_FILE, _REPORT_FOLDER, _REPORT_NAME, _REPORT_TARGET = 0x200, 0x400, 0x800, 0x1000
_GROUP = (
    _CLOEXEC | _NONBLOCK | _UNLIMITED_QUEUE
    | _REPORT_FILE | _REPORT_FOLDER | _REPORT_NAME | _REPORT_TARGET
)  # fmt: skip
_MARK_ADD, _MARK_FILE_SYSTEM = 0x1, 0x100
_CREATED, _MOVED_TO, _DELETED, _ON_FOLDER = 0x100, 0x80, 0x400, 0x40000000
_QUEUE_OVERFLOW = 0x4000
_AT_FDCWD = -100

_EVENT = struct.Struct("=IBBHQii")
_INFO = struct.Struct("=BBH8xIi")
_INFO_FILE, _INFO_FOLDER_AND_NAME, _INFO_FOLDER = 1, 2, 3
# Types of file handles that begin with the number of the inode, and the form of the number.
_NUMBERS = {1: "<I", 2: "<I", 0x81: "<Q", 0x82: "<Q", 0x4D: "<Q", 0x4E: "<Q", 0x4F: "<Q"}
_READ_BYTES = 1 << 18
_LOOK_S = 0.2


class Named(NamedTuple):
    """A file or folder that got a name; `is_new` if it was created, not renamed."""

    inode: int
    folder: int
    name: bytes
    is_new: bool


class Deleted(NamedTuple):
    """A file or folder that has no name and no user any more; its inode is freed next."""

    inode: int


class NameWatch:
    """Queue of the names that a file system's files get, and of deleted files, in their order."""

    def __init__(self, point: str, undo: ExitStack) -> None:
        """Watch the file system that is mounted at `point`, until `undo` closes.

        Raises:
            OSError: the kernel is older than 5.17, or the file system has no file handles.
        """
        self._queue: deque[tuple[int, Named | Deleted]] = deque()
        self._handle = checked(LIBC.fanotify_init(_GROUP, os.O_RDONLY | os.O_LARGEFILE))
        mask = ctypes.c_uint64(_CREATED | _MOVED_TO | _DELETED | _ON_FOLDER)
        flags = _MARK_ADD | _MARK_FILE_SYSTEM
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        try:
            checked(LIBC.fanotify_mark(self._handle, flags, mask, _AT_FDCWD, os.fsencode(point)))
        except OSError:
            os.close(self._handle)
            raise
        self._thread.start()
        undo.callback(self._end)

    def taken(self) -> list[tuple[int, Named | Deleted]]:
        """Return names and deleted files since the last call, with the times of reading them."""
        return [self._queue.popleft() for _ in range(len(self._queue))]

    def _read(self) -> None:
        """Read events as soon as there are some, as their time is that of reading them."""
        while not self._is_over.is_set():
            if not select.select([self._handle], [], [], _LOOK_S)[0]:
                continue
            with suppress(BlockingIOError):
                content = os.read(self._handle, _READ_BYTES)
                now_ns = time.monotonic_ns()
                self._queue.extend((now_ns, change) for change in changes_in(content))

    def _end(self) -> None:
        self._is_over.set()
        self._thread.join()
        os.close(self._handle)


def changes_in(content: bytes) -> Iterator[Named | Deleted]:
    """Yield the names and deleted files in events of fanotify."""
    at = 0
    while at + _EVENT.size <= len(content):
        length, _, _, header, mask, _, _ = _EVENT.unpack_from(content, at)
        if length < _EVENT.size:
            return
        if not mask & _QUEUE_OVERFLOW:
            change = _change(content[at + header : at + length], mask)
            if change is not None:
                yield change
        at += length


def _change(infos: bytes, mask: int) -> Named | Deleted | None:
    """Return the name or deleted file in the records of an event; None if an inode is unknown."""
    inode = folder = None
    name = b""
    at = 0
    while at + _INFO.size <= len(infos):
        kind, _, length, handle_bytes, handle_type = _INFO.unpack_from(infos, at)
        if length < _INFO.size:
            break
        handle = infos[at + _INFO.size : at + _INFO.size + handle_bytes]
        number = _number_of(handle, handle_type)
        if kind == _INFO_FILE:
            inode = number
        elif kind in (_INFO_FOLDER_AND_NAME, _INFO_FOLDER):
            folder = number
            name = infos[at + _INFO.size + handle_bytes : at + length].split(b"\0", 1)[0]
        at += length
    if mask & _DELETED:
        deleted = folder if inode is None else inode
        return None if deleted is None else Deleted(deleted)
    if inode is None or folder is None or not name:
        return None
    return Named(inode, folder, name, is_new=bool(mask & _CREATED))


def _number_of(handle: bytes, handle_type: int) -> int | None:
    form = _NUMBERS.get(handle_type & 0xFF)
    if form is None or len(handle) < struct.calcsize(form):
        return None
    return int(struct.unpack_from(form, handle)[0])
