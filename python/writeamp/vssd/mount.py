"""File system on a drive: nbdfuse (the drive as a file), a loop device, mkfs and mount.

All of it needs root. Each layer says how it is taken down before it is made, and the taking down
looks at what there is, so that nothing is left however far the building came.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from writeamp.errors import WriteampError
from writeamp.files.temporary import dead_folders, is_mounted, mounts_under
from writeamp.vssd.programs import require, run, start_daemon
from writeamp.vssd.signals import HeldSignals

# What makes each file system: quietly, over what was there; all of it at once, so that nothing is
# left for a thread of the kernel to write later; in units of 4 KiB, as for drives that are sold.
_EAGER = "lazy_itable_init=0,lazy_journal_init=0"
_MAKE = {
    "ext4": ("mkfs.ext4", "-q", "-F", "-b", "4096", "-E", _EAGER),
    "xfs": ("mkfs.xfs", "-q", "-f", "-s", "size=4096"),
    "btrfs": ("mkfs.btrfs", "-q", "-f"),
}
# mkfs.btrfs looks at every loop device that is mounted, and fails if the file under one of them is
# of a drive that has died, whosoever it was. So it runs where no loop device is mounted.
_WITHOUT_OTHER_LOOPS = (
    *("unshare", "--mount", "--propagation", "private", "sh", "-c"),
    r"for loop in $(sed -n 's,^\(/dev/loop[0-9]*\) .*,\1,p' /proc/self/mounts | sort -u); do "
    'umount --lazy --all-targets "$loop" || :; done; exec "$@"',
    "sh",
)
_INSIDE: dict[str, tuple[str, ...]] = {"btrfs": _WITHOUT_OTHER_LOOPS}
# More for a drive that is aged, which one TRIM of everything would make new again. Of several -E
# mkfs.ext4 takes the last.
_WITHOUT_DISCARD = {"ext4": ("-E", f"{_EAGER},nodiscard"), "xfs": ("-K",), "btrfs": ("-K",)}
FILE_SYSTEMS = tuple(_MAKE)

_NEEDED = ("nbdfuse", "fusermount3", "losetup", "blkid", "mount", "umount", "sync")
_DEVICES = ("/dev/fuse", "/dev/loop-control")
_SECTOR_BYTES = 512
# In a block device's statistics, sectors written stand here.
_SECTORS_WRITTEN = 6
_BETWEEN_TRIES_S = 0.2
# For processes that are ending, and no longer: the shell of a user may stay there for hours.
_PATIENCE_S = 15.0
# The status with which blkid says that a device has nothing it knows.
_NOTHING_FOUND = 2
# The status with which umount says, among other failures, that nothing is mounted.
_NOT_MOUNTED = 32


@dataclass(frozen=True)
class Mounted:
    """A mounted file system, and the loop device under it."""

    point: Path
    loop: str

    def sync(self, signals: HeldSignals | None) -> None:
        """Have all that was written to the file system reach the drive."""
        run(signals, "sync", "--file-system", str(self.point))

    def written_bytes(self) -> int:
        """Return the bytes that the file system has written to its block device since it is."""
        statistics = Path("/sys/block", Path(self.loop).name, "stat").read_text().split()
        return int(statistics[_SECTORS_WRITTEN]) * _SECTOR_BYTES


def check_mount(point: Path, file_system: str) -> None:
    """Refuse early, before a drive is built, a mount that cannot be.

    Raises:
        WriteampError: it needs root, a program or a device of the system, or the place is in use.
    """
    if os.geteuid() != 0:
        raise WriteampError("--mount needs root; without it, use the drive by its socket")
    require(*_NEEDED, *_INSIDE.get(file_system, ())[:1], _MAKE[file_system][0])
    for path in _DEVICES:
        if not os.path.exists(path):
            raise WriteampError(f"--mount needs {path}, which this machine has not")
    if is_mounted(point):
        raise WriteampError(f"{point} is mounted already; umount it, or choose another folder")
    if point.exists() and not point.is_dir():
        raise WriteampError(f"{point} is no folder; choose another to mount at")
    if not point.absolute().parent.is_dir():
        raise WriteampError(f"{point} cannot be made: there is no {point.absolute().parent}")


def unmount_dead() -> list[str]:
    """Unmount the file systems of drives whose process was killed; their disks are dead.

    Returns:
        A sentence on each that stays mounted.
    """
    failures = []
    for folder in dead_folders():
        try:
            _unmount_all(folder)
        except WriteampError as error:
            failures.append(f"{folder} of a process that was killed stays mounted: {error}")
    return failures


def mount_drive(
    socket: Path,
    size_bytes: int,
    point: Path,
    file_system: str,
    *,
    is_kept: bool,
    holds_data: bool,
    is_aged: bool,
    folder: Path,
    signals: HeldSignals,
    undo: ExitStack,
    remarks: list[str],
) -> Mounted:
    """Make a file system on a drive and mount it, with discard so that freed space is trimmed.

    Args:
        socket: where the drive serves.
        size_bytes: its size.
        point: where to mount; a folder that is not there is made, and removed again.
        file_system: one of `FILE_SYSTEMS`.
        is_kept: whether the drive may have one from before; that is mounted as it is.
        holds_data: whether a host has stored anything there, which no file system replaces.
        is_aged: whether the drive must not be trimmed when the file system is made.
        folder: a private one.
        signals: what ends it.
        undo: what will take it down.
        remarks: takes a sentence if somebody uses it to the end.

    Raises:
        WriteampError: a layer failed, or the drive has another file system, or data without one.
        KeyboardInterrupt: a signal came.
    """
    point = point.absolute()
    loop = _attach(socket, size_bytes, folder, signals, undo)
    if not (is_kept and _has(loop, file_system, signals)):
        if holds_data:
            raise WriteampError(
                "the drive holds data but no file system that is known; use it without --mount, or "
                "give another --backing"
            )
        more = _WITHOUT_DISCARD[file_system] if is_aged else ()
        make = (*_MAKE[file_system], *more, loop)
        run(signals, *make, inside=_INSIDE.get(file_system, ()))
    if not point.exists():
        undo.callback(_remove_folder, point)
        point.mkdir()
    undo.callback(_leave, point, remarks)
    run(signals, "mount", "-t", file_system, "-o", "discard", loop, str(point))
    mounted = Mounted(point, loop)
    mounted.sync(signals)
    return mounted


def _attach(
    socket: Path, size_bytes: int, folder: Path, signals: HeldSignals, undo: ExitStack
) -> str:
    """Make a block device of a drive, and return its path."""
    disk = folder / "disk"
    disk.touch()
    # nbdfuse ends when it is unmounted, before its own turn to be stopped comes.
    client = start_daemon(
        undo, folder / "nbdfuse.messages", "nbdfuse", str(disk), "--unix", str(socket)
    )
    # If this stays in use, so did the file system on it, and there is a remark on that already.
    undo.callback(_unmounted, disk, "fusermount3", ("-u",), ("-u", "-z"))
    client.wait_until(lambda: _size_of(disk) == size_bytes, signals)
    undo.callback(_detach_loops, disk)
    # Without direct I/O the page cache would stand between the file system and the drive.
    found = run(signals, "losetup", "--find", "--show", "--direct-io=on", str(disk))
    return found.strip()


def _has(loop: str, file_system: str, signals: HeldSignals) -> bool:
    """Return whether a kept drive has the file system; it may have none yet.

    Raises:
        WriteampError: it has another one.
    """
    words = ("--probe", "--output", "value", "--match-tag", "TYPE", loop)
    found = run(signals, "blkid", *words, good=(0, _NOTHING_FOUND)).strip()
    if found and found != file_system:
        raise WriteampError(f"the drive has {found} on it; give --fs {found}, or another --backing")
    return bool(found)


def _leave(point: Path, remarks: list[str]) -> None:
    """Unmount the file system; one that is in use until the end is detached all the same."""
    if not _unmounted(point, "umount", (), ("--lazy",)):
        remarks.append(
            f"{point} was in use to the end; it is detached, and gone when nobody uses it"
        )


def _unmounted(path: Path, name: str, plain: tuple[str, ...], detached: tuple[str, ...]) -> bool:
    """Unmount what may be mounted at a path; return whether nobody uses it any more.

    Who uses it is waited for, but not for ever.
    """
    deadline = time.monotonic() + _PATIENCE_S
    while is_mounted(path):
        try:
            run(None, name, *plain, str(path))
        except WriteampError:
            # Busy while the last process with files open there is still ending.
            if time.monotonic() > deadline:
                run(None, name, *detached, str(path))
                return False
            time.sleep(_BETWEEN_TRIES_S)
    return True


def _unmount_all(folder: Path) -> None:
    """Detach what is mounted in a folder, and before that the loop devices of files in it."""
    for file in Path("/sys/block").glob("loop*/loop/backing_file"):
        with suppress(OSError):  # it is detached meanwhile
            if Path(file.read_text().strip()).is_relative_to(folder.resolve()):
                loop = f"/dev/{file.parent.parent.name}"
                run(None, "umount", "--lazy", "--all-targets", loop, good=(0, _NOT_MOUNTED))
                run(None, "losetup", "--detach", loop)
    for point in reversed(mounts_under(folder)):
        run(None, "umount", "--lazy", point)


def _size_of(disk: Path) -> int:
    try:
        return disk.stat().st_size
    except OSError:  # the file of a nbdfuse that has ended
        return 0


def _detach_loops(disk: Path) -> None:
    for line in run(None, "losetup", "--associated", str(disk)).splitlines():
        run(None, "losetup", "--detach", line.split(":", 1)[0])


def _remove_folder(point: Path) -> None:
    """Remove what was made to mount at, unless something is in it."""
    try:
        point.rmdir()
    except OSError:
        return
