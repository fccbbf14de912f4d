"""Place of a real target: a file, a block device or an NBD export that may be written to."""

from __future__ import annotations

import errno
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
from writeamp.system import ioctl, lock_alone, require_linux

_LEAST_BYTES = 16 << 20
_NBD_SCHEMES = ("nbd:", "nbds:", "nbd+", "nbds+")
_SECTORS_BYTES = (512, 4096)
_TIMEOUT_S = 30
# Number of the ioctl that discards a range of a block device (BLKDISCARD of linux/fs.h).
_BLKDISCARD = 0x1277
_MOST_TRIM_BYTES = 32 << 20
_NO_DISCARD = (errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL)
# Token that only `opened` passes, so that a place cannot be created by mistake without its checks.
_CHECKED = object()


@dataclass(frozen=True)
class TargetPlace:
    """Place of a real target that passed the checks of `opened`, which alone creates one.

    It can be written to while its lock is held (`held`).

    Attributes:
        kind: "file", "device" or "nbd".
        name: path or URI, as the user passed it.
        size_bytes: bytes that are used, from the start.
        sector_bytes: smallest request; all requests are multiples of it.
        is_new: whether writeamp has just created it.
    """

    kind: str
    name: str
    size_bytes: int
    sector_bytes: int
    is_new: bool = False
    checked: InitVar[object] = None
    _locks: list[int | None] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self, checked: object) -> None:
        """Reject a place that `opened` has not checked."""
        if checked is not _CHECKED:
            raise TypeError(
                "only opened() creates places, as it checks that they may be written to"
            )

    @property
    def where(self) -> str:
        """URI, or path without symbolic links."""
        return self.name if self.kind == "nbd" else os.path.realpath(self.name)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock a file or a device against other measurements, and permit writes to it.

        fio holds the lock, too: other measurements are rejected until fio has ended. An NBD export
        has no lock.

        Raises:
            WriteampError: another process holds the lock.
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
        """Run one job of fio, and return fio's report of it.

        Args:
            options: options of the job, without the options that name the place.
            timeout_s: expected runtime in seconds; fio is killed two minutes later.

        Raises:
            WriteampError: fio fails, or does not end.
        """
        where = [f"--{option}" for option in self._fio_options()]
        return self._fio([*fio.ONE_JOB, *where, *options], timeout_s)

    def run_section(
        self, job: Callable[[Sequence[str]], str], section: str, *, timeout_s: float
    ) -> dict[str, Any]:
        """Run the jobs of a section as one group, and return fio's report of them.

        Args:
            job: function that returns the text of a job file, given the options that name the
                place.
            section: name of the section.
            timeout_s: expected runtime in seconds; fio is killed two minutes later.

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
        """Discard the contents; a file is also fully allocated and marked as created by writeamp.

        Returns:
            Sentences about contents that were not discarded, or whose discard may not have reached
            the drive.

        Raises:
            WriteampError: the file system is too full for the file, or discarding fails.
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
        # fio takes a colon as a separator of file names.
        path = self.where.replace(":", "\\:")
        return ["ioengine=libaio", "direct=1", f"filename={path}", "allow_file_create=0"]

    def _fio(self, arguments: Sequence[str], timeout_s: float) -> dict[str, Any]:
        self._require_held()
        handles = [lock for lock in self._locks if lock is not None]
        return fio.reported(arguments, self.name, timeout_s=timeout_s, handles=handles)

    def _require_held(self) -> None:
        if not self._locks:
            raise RuntimeError(f"{self.name} is written to without a lock")


def kind_of(name: str) -> str:
    """Return "nbd" for a URI, "device" for a block device, otherwise "file"."""
    if name.startswith(_NBD_SCHEMES):
        return "nbd"
    with suppress(OSError):
        return "device" if stat.S_ISBLK(os.stat(name).st_mode) else "file"
    return "file"


def opened(name: str, size_bytes: int | None, destroys: str | None) -> TargetPlace:
    """Return the place with this name after checking that it may be written to.

    A missing file is created.

    Args:
        name: path or NBD URI.
        size_bytes: bytes to use; default: the whole file or device. A new file needs a size.
        destroys: name of the only target whose data may be destroyed (--yes-destroy-data), or None.

    Raises:
        WriteampError: not Linux, the place must not be written to, or fio cannot use it.
    """
    require_linux("measuring a file or a drive")
    kind, is_new, sector_bytes = kind_of(name), False, _SECTORS_BYTES[0]
    if destroys is not None and not _is_same(name, destroys):
        raise WriteampError(
            f"--yes-destroy-data names {destroys}, but the target is {name}. Both must be the same"
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
                f"{name} has {has_bytes} bytes, but size is {size_bytes}. Remove the file, or "
                "pass its size"
            )
    used_bytes = _used_bytes(name, size_bytes, has_bytes)
    if kind != "nbd":
        sector_bytes = _sector_bytes(name)
    return TargetPlace(kind, name, used_bytes, sector_bytes, is_new, _CHECKED)


def _locked(path: str) -> int:
    """Return the file descriptor of a lock on a file or a device."""
    try:
        lock = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise WriteampError(f"cannot open {path}: {error.strerror}") from None
    try:
        lock_alone(lock)
    except BlockingIOError:
        os.close(lock)
        raise WriteampError(
            f"another process measures {path} and holds its lock. Wait for it, or pass another "
            "target"
        ) from None
    return lock


def _discard_device(place: TargetPlace) -> list[str]:
    try:
        with _opened(place.name, os.O_RDWR | os.O_EXCL) as handle:
            ioctl(handle, _BLKDISCARD, struct.pack("QQ", 0, place.size_bytes))
    except OSError as error:
        if error.errno not in _NO_DISCARD:
            raise WriteampError(f"cannot discard {place.name}: {error.strerror}") from None
        return [
            f"{place.name} cannot be discarded: its old data becomes spare space only after the "
            "fill has overwritten it"
        ]
    return []


def _renew_file(place: TargetPlace) -> list[str]:
    safety.mark_as_ours(place.name)
    size_bytes = os.path.getsize(place.name)
    try:
        with _opened(place.name, os.O_RDWR) as handle:
            os.ftruncate(handle, 0)
            os.fsync(handle)
            os.ftruncate(handle, size_bytes)
            os.posix_fallocate(handle, 0, place.size_bytes)
    except OSError as error:
        raise WriteampError(
            f"cannot allocate {place.name} ({place.size_bytes} bytes): {error.strerror}"
        ) from None
    _, options = file_system_of(place.name)
    if "discard" in options:
        return []
    return [
        f"the file system of {place.name} is not mounted with discard. Run fstrim on it first; "
        "otherwise the drive still stores its deleted data, so it has less spare space"
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
            "this fio lacks the engine nbd. Install a fio built with libnbd, or attach the "
            "export as a device"
        )
    info = shutil.which("nbdinfo")
    if info is None:
        raise WriteampError(
            "nbdinfo, which reads the size of the export, is not installed. Install libnbd-bin"
        )
    try:
        process = _completed(info, "--size", uri)
    except subprocess.TimeoutExpired:
        raise WriteampError(f"{uri} did not answer within {_TIMEOUT_S} s") from None
    if process.returncode:
        raise WriteampError(
            f"cannot use {uri}: {(process.stderr.strip() or 'no answer').splitlines()[-1]}"
        )
    return int(process.stdout)


def _completed(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)


def _used_bytes(name: str, size_bytes: int | None, has_bytes: int) -> int:
    used_bytes = has_bytes if size_bytes is None else size_bytes
    if used_bytes > has_bytes:
        raise WriteampError(
            f"{name} has {has_bytes} bytes, but size is {used_bytes}. Pass a smaller size"
        )
    if used_bytes < _LEAST_BYTES:
        raise WriteampError(
            f"{name} would use {used_bytes} bytes. At least {_LEAST_BYTES} are needed"
        )
    # If the size is not a whole number of 4096-byte sectors, the rest at the end stays unused.
    return used_bytes // _SECTORS_BYTES[-1] * _SECTORS_BYTES[-1]


def _make(path: str, size_bytes: int | None) -> None:
    if size_bytes is None:
        raise WriteampError(
            f"no profile, file or device is named {path!r}. Pass --size to create a file, or use "
            "`writeamp list devices` for the names of profiles"
        )
    if size_bytes < _LEAST_BYTES:
        raise WriteampError(f"size is {size_bytes} bytes. At least {_LEAST_BYTES} are needed")
    folder = Path(path).parent
    try:
        free_bytes = shutil.disk_usage(folder).free
        if size_bytes > free_bytes:
            raise WriteampError(
                f"{path} would have {size_bytes} bytes, but {folder} has only {free_bytes} free. "
                "Pass a smaller size"
            )
        with open(path, "xb") as file:
            file.truncate(size_bytes)
    except OSError as error:
        raise WriteampError(f"cannot create {path!r}: {error.strerror}") from None
    safety.mark_as_ours(path)


def _device_bytes(path: str) -> int:
    try:
        with open(path, "rb") as device:
            return device.seek(0, os.SEEK_END)
    except OSError as error:
        raise WriteampError(f"cannot open {path}: {error.strerror}") from None


def _sector_bytes(path: str) -> int:
    """Return the smallest request size that direct I/O accepts, by trial.

    Raises:
        WriteampError: direct I/O is unavailable, as on a file system in memory.
    """
    try:
        with _opened(path, os.O_RDONLY | os.O_DIRECT) as handle:
            for sector_bytes in _SECTORS_BYTES:
                with mmap.mmap(-1, sector_bytes) as buffer, suppress(OSError):
                    if os.preadv(handle, [buffer], sector_bytes) == sector_bytes:
                        return sector_bytes
    except OSError as error:
        raise WriteampError(
            f"{path} cannot be opened for direct I/O ({error.strerror}). Without it, the page "
            "cache would be measured. Pass a file on a disk"
        ) from None
    raise WriteampError(f"{path} rejects direct reads of {_SECTORS_BYTES[-1]} bytes")


def _is_same(name: str, other: str) -> bool:
    if name == other:
        return True
    with suppress(OSError):
        return os.path.samefile(name, other)
    return False
