"""Temporary folders, removed by their process or, if it was killed, by the next one.

A process holds a lock in each of its folders. The kernel releases it however the process ends, so
that neither a reused number nor a restart of the machine makes a dead process look alive.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp

_NAME = "writeamp-"
_LOCK = "lock"
_UNLOCKED = "lock-to-be"


@contextmanager
def temporary_folder(purpose: str = "", *, beside: Path | None = None) -> Iterator[Path]:
    """Give a folder that only this user may enter, and remove it at the end of the block.

    Folders that killed processes left there are removed first. A folder in which something is
    mounted stays.

    Args:
        purpose: stands in the name of the folder.
        beside: a file in whose folder it is made, hidden; None for the place of temporary files.
    """
    for dead in dead_folders(beside):
        _remove(dead)
    # Short, as the path of a socket has at most 107 bytes.
    folder = Path(mkdtemp(prefix=f"{_name(beside)}{purpose}", dir=_place(beside)))
    try:
        with _locked(folder):
            yield folder
    finally:
        _remove(folder)


def dead_folders(beside: Path | None = None) -> Iterator[Path]:
    """Give the folders that killed processes of this user left, each locked until the next."""
    for folder in _place(beside).glob(f"{_name(beside)}*"):
        with suppress(OSError), _opened(folder, os.O_RDONLY | os.O_DIRECTORY) as place:
            if os.fstat(place).st_uid != os.geteuid():
                continue
            with _opened(Path(_LOCK), os.O_RDWR | os.O_NONBLOCK, within=place) as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield folder


def _place(beside: Path | None) -> Path:
    return Path(gettempdir()) if beside is None else beside.parent


def _name(beside: Path | None) -> str:
    return _NAME if beside is None else f".{_NAME}"


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a lock in a folder, under its name only once it is held."""
    with _opened(folder / _UNLOCKED, os.O_RDWR | os.O_CREAT | os.O_EXCL) as lock:
        # Without locks in the file system, the folder of a killed process is not recognised.
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.rename(folder / _UNLOCKED, folder / _LOCK)
        yield


@contextmanager
def _opened(path: Path, flags: int, within: int | None = None) -> Iterator[int]:
    """Open a file or a folder, but no symbolic link."""
    handle = os.open(path, flags | os.O_NOFOLLOW, 0o600, dir_fd=within)
    try:
        yield handle
    finally:
        os.close(handle)


def _remove(folder: Path) -> None:
    # A disk that could not be taken down is said by who tried; it is not removed from under it.
    if not mounts_under(folder):
        shutil.rmtree(folder, ignore_errors=True)


# In a line of /proc/self/mountinfo: where it is mounted, with blanks as octal digits.
_POINT_FIELD = 4
_ESCAPED = re.compile(r"\\([0-7]{3})")


# The kernel lists mount points: a look at a file fails where its server is dead.
def is_mounted(path: Path) -> bool:
    """Return whether something is mounted at a path."""
    return os.path.realpath(path) in _points()


def mounts_under(folder: Path) -> list[str]:
    """Return the mount points at a folder and in it, in the order of mounting."""
    real = os.path.realpath(folder)
    return [point for point in _points() if Path(point).is_relative_to(real)]


def _points() -> list[str]:
    lines = os.fsdecode(Path("/proc/self/mountinfo").read_bytes()).splitlines()
    return [
        _ESCAPED.sub(lambda found: chr(int(found[1], 8)), line.split(" ")[_POINT_FIELD])
        for line in lines
    ]
