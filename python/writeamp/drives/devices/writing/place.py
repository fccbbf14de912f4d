"""Place of a real target: a file, a block device or an NBD export that may be written to."""

from __future__ import annotations

import errno
import fcntl
import math
import mmap
import os
import shutil
import stat
import struct
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import InitVar, dataclass, field
from pathlib import Path
from typing import Any

from writeamp.drives.devices.device import check_on_disk, file_system_of
from writeamp.drives.devices.writing import fio, safety
from writeamp.errors import WriteampError
from writeamp.files import output
from writeamp.files.temporary import temporary_folder

_LEAST_BYTES = 16 << 20
_NBD_SCHEMES = ("nbd:", "nbds:", "nbd+", "nbds+")
_SECTORS_BYTES = (512, 4096)
_TIMEOUT_S = 30
# From linux/fs.h: discards a range of a block device.
_BLKDISCARD = 0x1277
_MOST_TRIM_BYTES = 32 << 20
_NO_DISCARD = (errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL)
# Only `opened` has it, so that a place which was not checked cannot be made by mistake.
_CHECKED = object()


@dataclass(frozen=True)
class TargetPlace:
    """Place of a real target that passed the checks of `opened`, which alone makes one.

    It can be written to while it is held.

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
    checked: InitVar[object] = None
    _locks: list[int | None] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self, checked: object) -> None:
        """Refuse a place that `opened` has not checked."""
        if checked is not _CHECKED:
            raise TypeError("a place is made by opened(), which checks that it may be written to")

    @property
    def where(self) -> str:
        """The URI, or the path without symbolic links."""
        return self.name if self.kind == "nbd" else os.path.realpath(self.name)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock a file or a device, so that others do not measure it, and permit writes to it.

        fio holds the lock, too: until it has ended, others are refused. An NBD export has no lock.

        Raises:
            WriteampError: another one has it.
        """
        lock = None if self.kind == "nbd" else _locked(self.name)
        self._locks.append(lock)
        try:
            yield
        finally:
            self._locks.pop()
            if lock is not None:
                os.close(lock)

    def run_fio(self, options: Sequence[str], *, timeout_s: float) -> dict[str, Any]:
        """Run one job of fio, and return what fio reports of it.

        Args:
            options: of the job, besides those that say where.
            timeout_s: that it needs at most.

        Raises:
            WriteampError: fio fails, or does not end.
        """
        where = [f"--{one}" for one in self._fio_options()]
        return self._fio([*fio.ONE_JOB, *where, *options], timeout_s)

    def run_section(
        self, job: Callable[[Sequence[str]], str], section: str, *, timeout_s: float
    ) -> dict[str, Any]:
        """Run the jobs of a section, as one group, and return what fio reports of them.

        Args:
            job: returns the text of a job file, given the options that say where.
            section: its name.
            timeout_s: that it needs at most.

        Raises:
            WriteampError: fio fails, or does not end.
        """
        with temporary_folder() as folder:
            path = folder / "chain.fio"
            with output.replacing(path, "fio job", synced=False) as draft:
                draft.write(job(self._fio_options()).encode())
            arguments = [f"--section={section}", "--output-format=json", str(path)]
            return self._fio(arguments, timeout_s)

    def discard(self, *, timeout_s: float) -> list[str]:
        """Discard the contents; a file is also allocated in full and marked as ours.

        Returns:
            Sentences on what could not be discarded, or may not have reached the drive.

        Raises:
            WriteampError: there is no room for the file, or the place fails.
        """
        if self.kind == "nbd":
            options = ["--rw=trim", f"--bs={math.gcd(_MOST_TRIM_BYTES, self.size_bytes)}"]
            self.run_fio([*options, f"--size={self.size_bytes}"], timeout_s=timeout_s)
            return []
        self._require_held()
        return _discard_device(self) if self.kind == "device" else _renew_file(self)

    def _fio_options(self) -> list[str]:
        """Return the options of fio that name the place."""
        if self.kind == "nbd":
            return ["ioengine=nbd", f"uri={self.where}"]
        # fio takes a colon for the end of a file's name.
        path = self.where.replace(":", "\\:")
        return ["ioengine=libaio", "direct=1", f"filename={path}", "allow_file_create=0"]

    def _fio(self, arguments: Sequence[str], timeout_s: float) -> dict[str, Any]:
        self._require_held()
        handles = [lock for lock in self._locks if lock is not None]
        return fio.reported(arguments, self.name, timeout_s=timeout_s, handles=handles)

    def _require_held(self) -> None:
        if not self._locks:
            raise RuntimeError(f"{self.name} is written to without being held")


def kind_of(name: str) -> str:
    """Return "nbd" of a URI, "device" of a block device, and else "file"."""
    if name.startswith(_NBD_SCHEMES):
        return "nbd"
    with suppress(OSError):
        return "device" if stat.S_ISBLK(os.stat(name).st_mode) else "file"
    return "file"


def opened(name: str, size_bytes: int | None, destroys: str | None) -> TargetPlace:
    """Return the place of a name once it is certain that it may be written to.

    A file that does not exist is made.

    Args:
        name: a path or an NBD URI.
        size_bytes: so much of it is used; all of it if None. A new file needs it.
        destroys: the one target of which everything may be destroyed.

    Raises:
        WriteampError: it must not be written to, or fio cannot use it.
    """
    kind, is_new, sector_bytes = kind_of(name), False, _SECTORS_BYTES[0]
    if destroys is not None and not _is_same(name, destroys):
        raise WriteampError(
            f"--yes-destroy-data names {destroys}, but the target is {name}; name the target itself"
        )
    if kind == "nbd":
        has_bytes = _export_bytes(name)
        safety.check_export(name, size_bytes=has_bytes, destroys=destroys)
    elif kind == "device":
        safety.check_device(name, destroys=destroys)
        has_bytes = _device_bytes(name)
    else:
        check_on_disk(name)
        is_new = not os.path.exists(name)
        if is_new:
            _make(name, size_bytes)
        else:
            safety.check_file(name, destroys=destroys)
        has_bytes = os.path.getsize(name)
        if size_bytes is not None and size_bytes > has_bytes and safety.is_ours(name):
            raise WriteampError(
                f"{name} has {has_bytes} bytes, and size is {size_bytes}; remove it, or give its "
                "size"
            )
    used_bytes = _used_bytes(name, size_bytes, has_bytes)
    if kind != "nbd":
        sector_bytes = _sector_bytes(name)
    return TargetPlace(kind, name, used_bytes, sector_bytes, is_new, _CHECKED)


def _locked(path: str) -> int:
    """Return the descriptor of a lock on a file or a device."""
    try:
        lock = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise WriteampError(f"cannot open {path}: {error.strerror}") from None
    with suppress(OSError):  # some file systems have no locks
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise WriteampError(
                f"another collection measures {path}; wait for it, or give another target"
            ) from None
    return lock


def _discard_device(place: TargetPlace) -> list[str]:
    try:
        with _opened(place.name, os.O_RDWR | os.O_EXCL) as handle:
            fcntl.ioctl(handle, _BLKDISCARD, struct.pack("QQ", 0, place.size_bytes))
    except OSError as error:
        if error.errno not in _NO_DISCARD:
            raise WriteampError(f"cannot discard {place.name}: {error.strerror}") from None
        return [
            f"{place.name} cannot be discarded: what it held is spare space only when the fill has "
            "overwritten it"
        ]
    return []


def _renew_file(place: TargetPlace) -> list[str]:
    safety.mark_as_ours(place.name)
    whole = os.path.getsize(place.name)
    try:
        with _opened(place.name, os.O_RDWR) as handle:
            os.ftruncate(handle, 0)
            os.fsync(handle)
            os.ftruncate(handle, whole)
            os.posix_fallocate(handle, 0, place.size_bytes)
    except OSError as error:
        raise WriteampError(
            f"cannot make room for {place.name} ({place.size_bytes} bytes): {error.strerror}"
        ) from None
    _, options = file_system_of(place.name)
    if "discard" in options:
        return []
    return [
        f"the file system of {place.name} is not mounted with discard: run fstrim on it before, or "
        "what was deleted there is no spare space"
    ]


@contextmanager
def _opened(path: str, flags: int) -> Iterator[int]:
    handle = os.open(path, flags)
    try:
        yield handle
    finally:
        os.close(handle)


def _export_bytes(uri: str) -> int:
    if "nbd" not in _completed("fio", "--enghelp").stdout.split():
        raise WriteampError(
            "this fio has no engine nbd; install one that was built with libnbd, or attach the "
            "export as a device"
        )
    info = shutil.which("nbdinfo")
    if info is None:
        raise WriteampError(
            "nbdinfo is not installed, which tells how large the export is; install libnbd-bin"
        )
    try:
        done = _completed(info, "--size", uri)
    except subprocess.TimeoutExpired:
        raise WriteampError(f"{uri} does not answer within {_TIMEOUT_S} s") from None
    if done.returncode:
        raise WriteampError(
            f"cannot use {uri}: {(done.stderr.strip() or 'no answer').splitlines()[-1]}"
        )
    return int(done.stdout)


def _completed(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)


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
        with _opened(path, os.O_RDONLY | os.O_DIRECT) as handle:
            for sector_bytes in _SECTORS_BYTES:
                with mmap.mmap(-1, sector_bytes) as buffer, suppress(OSError):
                    if os.preadv(handle, [buffer], sector_bytes) == sector_bytes:
                        return sector_bytes
    except OSError as error:
        raise WriteampError(
            f"{path} cannot be opened for direct I/O ({error.strerror}); without that memory would "
            "be measured: give a file on a disk"
        ) from None
    raise WriteampError(f"{path} does not answer direct reads of {_SECTORS_BYTES[-1]} bytes")


def _is_same(name: str, other: str) -> bool:
    if name == other:
        return True
    with suppress(OSError):
        return os.path.samefile(name, other)
    return False
