"""Place of a real target: a file, a block device or an NBD export, and its size."""

from __future__ import annotations

import fcntl
import mmap
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from writeamp.drives.devices import safety
from writeamp.errors import WriteampError

_LEAST_BYTES = 16 << 20
_NBD_SCHEMES = ("nbd:", "nbds:", "nbd+", "nbds+")
_SECTORS_BYTES = (512, 4096)
_TIMEOUT_S = 30


@dataclass(frozen=True)
class Place:
    """Place of a real target that exists.

    Attributes:
        kind: "file", "device" or "nbd".
        name: its path or URI, as it was given.
        size_bytes: so much of it is used, from its beginning.
        sector_bytes: requests are multiples of it.
        is_new: whether writeamp has just made it.
    """

    kind: str
    name: str
    size_bytes: int
    sector_bytes: int
    is_new: bool = False

    @property
    def fio_options(self) -> list[str]:
        """Options of fio that name the place."""
        if self.kind == "nbd":
            return ["--ioengine=nbd", f"--uri={self.name}"]
        # fio takes a colon for the end of a file's name.
        path = os.path.realpath(self.name).replace(":", "\\:")
        return ["--ioengine=libaio", "--direct=1", f"--filename={path}", "--allow_file_create=0"]


def kind_of(name: str) -> str:
    """Return "nbd" of a URI, "device" of a block device, and else "file"."""
    if name.startswith(_NBD_SCHEMES):
        return "nbd"
    with suppress(OSError):
        return "device" if stat.S_ISBLK(os.stat(name).st_mode) else "file"
    return "file"


def opened(name: str, size_bytes: int | None, destroys: str | None) -> Place:
    """Return the place of a name once it is certain that it may be written to.

    A file that does not exist is made.

    Args:
        name: a path or an NBD URI.
        size_bytes: so much of it is used; all of it if None. A new file needs it.
        destroys: the one target of which everything may be destroyed.

    Raises:
        WriteampError: it must not be written to, or fio cannot use it.
    """
    kind = kind_of(name)
    if destroys is not None and not _is_same(name, destroys):
        raise WriteampError(
            f"--yes-destroy-data names {destroys}, but the target is {name}; name the target itself"
        )
    if kind == "nbd":
        return _export(name, size_bytes, destroys)
    if kind == "device":
        safety.check_device(name, destroys=destroys)
        return Place(kind, name, *_measures(name, size_bytes, _device_bytes(name)))
    _refuse_memory(name)
    is_new = not os.path.exists(name)
    if is_new:
        _make(name, size_bytes)
    else:
        safety.check_file(name, destroys=destroys)
    has_bytes = os.path.getsize(name)
    if size_bytes is not None and size_bytes > has_bytes and safety.is_ours(name):
        raise WriteampError(
            f"{name} has {has_bytes} bytes, and size is {size_bytes}; remove it, or give its size"
        )
    return Place(kind, name, *_measures(name, size_bytes, has_bytes), is_new)


@contextmanager
def held(place: Place) -> Iterator[int | None]:
    """Keep other collections from a file or a device while this one measures it.

    Gives the descriptor of the lock, which a program that is handed it holds, too; None of an NBD
    export.

    Raises:
        WriteampError: another one has it.
    """
    if place.kind == "nbd":
        yield None
        return
    try:
        handle = os.open(place.name, os.O_RDONLY)
    except OSError as error:
        raise WriteampError(f"cannot open {place.name}: {error.strerror}") from None
    try:
        with suppress(OSError):  # some file systems have no locks
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise WriteampError(
                    f"another collection measures {place.name}; wait for it, or give another target"
                ) from None
        yield handle
    finally:
        os.close(handle)


def _refuse_memory(path: str) -> None:
    """Refuse a file in memory, where Linux takes direct I/O for the usual kind."""
    kind, _ = file_system_of(path)
    if kind in ("tmpfs", "ramfs"):
        raise WriteampError(f"{path} lies on {kind}, which is memory; give a file on a disk")


def file_system_of(path: str) -> tuple[str, list[str]]:
    """Return kind and options of the file system that a file is on, as far as they are known.

    Args:
        path: of a file, which may be still to be made.
    """
    with suppress(OSError):
        number = os.stat(existing(path)).st_dev
        for mount in psutil.disk_partitions(all=True):
            with suppress(OSError):  # its server may be dead
                if os.stat(mount.mountpoint).st_dev == number:
                    return mount.fstype, mount.opts.split(",")
    return "", []


def existing(path: str) -> Path:
    """Return a file, or the folder that it is to be made in."""
    return Path(path) if os.path.exists(path) else Path(path).absolute().parent


def _export(uri: str, size_bytes: int | None, destroys: str | None) -> Place:
    if "nbd" not in _fio_engines():
        raise WriteampError(
            "this fio has no engine nbd; install one that was built with libnbd, or attach the "
            "export as a device"
        )
    info = shutil.which("nbdinfo")
    if info is None:
        raise WriteampError(
            "nbdinfo is not installed, which tells how large the export is; install libnbd-bin"
        )
    command = [info, "--size", uri]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise WriteampError(f"{uri} does not answer within {_TIMEOUT_S} s") from None
    if done.returncode:
        raise WriteampError(
            f"cannot use {uri}: {(done.stderr.strip() or 'no answer').splitlines()[-1]}"
        )
    has_bytes = int(done.stdout)
    safety.check_export(uri, size_bytes=has_bytes, destroys=destroys)
    return Place("nbd", uri, _used_bytes(uri, size_bytes, has_bytes), _SECTORS_BYTES[0])


def _fio_engines() -> list[str]:
    done = subprocess.run(
        ["fio", "--enghelp"], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    return done.stdout.split()


def _measures(path: str, size_bytes: int | None, has_bytes: int) -> tuple[int, int]:
    return _used_bytes(path, size_bytes, has_bytes), _sector_bytes(path)


def _used_bytes(name: str, size_bytes: int | None, has_bytes: int) -> int:
    used_bytes = has_bytes if size_bytes is None else size_bytes
    if used_bytes > has_bytes:
        raise WriteampError(f"{name} has {has_bytes} bytes, and size is {used_bytes}; give less")
    if used_bytes < _LEAST_BYTES:
        raise WriteampError(
            f"{name} would be used on {used_bytes} bytes; at least {_LEAST_BYTES} are needed"
        )
    # The last part of a place that is no whole number of large sectors is left alone.
    return used_bytes // _SECTORS_BYTES[-1] * _SECTORS_BYTES[-1]


def _make(path: str, size_bytes: int | None) -> None:
    if size_bytes is None:
        raise WriteampError(
            f"there is no profile, file or device {path!r}; give --size to make such a file, or "
            "`writeamp list devices` for the names of profiles"
        )
    if size_bytes < _LEAST_BYTES:
        raise WriteampError(f"size is {size_bytes} bytes; at least {_LEAST_BYTES} are needed")
    folder = Path(path).parent
    try:
        free_bytes = shutil.disk_usage(folder).free
        if size_bytes > free_bytes:
            raise WriteampError(
                f"{path} would have {size_bytes} bytes, and {folder} has room for {free_bytes}; "
                "give a smaller size"
            )
        with open(path, "xb") as file:
            file.truncate(size_bytes)
    except OSError as error:
        raise WriteampError(f"cannot make {path!r}: {error.strerror}") from None
    safety.mark_as_ours(path)


def _device_bytes(path: str) -> int:
    try:
        with open(path, "rb") as device:
            return device.seek(0, os.SEEK_END)
    except OSError as error:
        raise WriteampError(f"cannot open {path}: {error.strerror}") from None


def _sector_bytes(path: str) -> int:
    """Return the least size of a request around the system's cache, by trying.

    Raises:
        WriteampError: there are none, as in a file system that is memory.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECT)
    except OSError as error:
        raise WriteampError(
            f"{path} cannot be opened for direct I/O ({error.strerror}); without that memory would "
            "be measured: give a file on a disk"
        ) from None
    try:
        for sector_bytes in _SECTORS_BYTES:
            with mmap.mmap(-1, sector_bytes) as buffer, suppress(OSError):
                if os.preadv(handle, [buffer], sector_bytes) == sector_bytes:
                    return sector_bytes
    finally:
        os.close(handle)
    raise WriteampError(f"{path} does not answer direct reads of {_SECTORS_BYTES[-1]} bytes")


def _is_same(name: str, other: str) -> bool:
    if name == other:
        return True
    with suppress(OSError):
        return os.path.samefile(name, other)
    return False
