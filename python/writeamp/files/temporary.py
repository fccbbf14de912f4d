"""Temporary folders, removed by their process or, if it was killed, by the next one.

A process holds a lock in each of its folders, which the kernel releases when the process ends. So
a reused process number or a restart of the machine cannot make a dead process look alive.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp

from writeamp.system import LOCK_EX, LOCK_NB, flock, mount_points

_NAME = "writeamp-"
_LOCK = "lock"
_UNLOCKED = "lock-to-be"


@contextmanager
def temporary_folder(purpose: str = "", *, beside: Path | None = None) -> Iterator[Path]:
    """Give a folder that only this user can enter, and remove it at the end of the block.

    Folders of killed processes are removed first. A folder with a mount point in it is kept.

    Args:
        purpose: added to the name of the folder.
        beside: a file in whose folder a hidden one is made; None for the system's temporary folder.
    """
    for dead in dead_folders(beside):
        _remove(dead)
    # The name of the folder is short, because the path of a socket in it has at most 107 bytes.
    folder = Path(mkdtemp(prefix=f"{_name(beside)}{purpose}", dir=_place(beside)))
    try:
        with _locked(folder):
            yield folder
    finally:
        _remove(folder)


def dead_folders(beside: Path | None = None) -> Iterator[Path]:
    """Give the folders of this user's killed processes, each locked until the next is given."""
    if sys.platform == "win32":  # without locks, no folder is known to be a dead process's
        return
    for folder in _place(beside).glob(f"{_name(beside)}*"):
        with suppress(OSError), _opened(folder, os.O_RDONLY | os.O_DIRECTORY) as place:
            if os.fstat(place).st_uid != os.geteuid():
                continue
            with _opened(Path(_LOCK), os.O_RDWR | os.O_NONBLOCK, within=place) as lock:
                flock(lock, LOCK_EX | LOCK_NB)
                yield folder


def _place(beside: Path | None) -> Path:
    return Path(gettempdir()) if beside is None else beside.parent


def _name(beside: Path | None) -> str:
    return _NAME if beside is None else f".{_NAME}"


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a lock in a folder; the lock file gets its final name when it is locked."""
    with _opened(folder / _UNLOCKED, os.O_RDWR | os.O_CREAT | os.O_EXCL) as lock:
        # If the file system has no locks, the folder of a killed process is not recognised.
        with suppress(OSError):
            flock(lock, LOCK_EX | LOCK_NB)
            os.rename(folder / _UNLOCKED, folder / _LOCK)
        yield


@contextmanager
def _opened(path: Path, flags: int, within: int | None = None) -> Iterator[int]:
    """Open a file or a folder, and reject symbolic links, where the system can."""
    handle = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600, dir_fd=within)
    try:
        yield handle
    finally:
        os.close(handle)


def _remove(folder: Path) -> None:
    # If a disk could not be unmounted, its owner reports that; the folder below it must stay.
    if not mounts_under(folder):
        shutil.rmtree(folder, ignore_errors=True)


# A blank in a mount point, as octal digits.
_ESCAPED = re.compile(r"\\([0-7]{3})")


# Read from the kernel's list of mount points: reading a file fails if its server is dead.
def is_mounted(path: Path) -> bool:
    """Return whether something is mounted at a path."""
    return os.path.realpath(path) in _points()


def mounts_under(folder: Path) -> list[str]:
    """Return the mount points at a folder and in it, in the order of mounting."""
    real = os.path.realpath(folder)
    return [point for point in _points() if Path(point).is_relative_to(real)]


def _points() -> list[str]:
    return [_ESCAPED.sub(lambda match: chr(int(match[1], 8)), point) for point in mount_points()]
