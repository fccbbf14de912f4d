"""File system on a drive: nbdfuse (the drive as a file), a loop device, mkfs and mount.

All steps need root. The undo step of each layer is registered before the layer is created, and
checks what exists, so that a partial assembly is removed completely.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from writeamp.errors import WriteampError
from writeamp.files.temporary import is_mounted
from writeamp.machine.programs import require, run, start_daemon
from writeamp.machine.signals import HeldSignals

# mkfs commands: quiet, overwriting an old file system, with blocks or sectors of 4 KiB, and eager,
# so that no kernel thread writes metadata later.
_EAGER = "lazy_itable_init=0,lazy_journal_init=0"
_MAKE = {
    "ext4": ("mkfs.ext4", "-q", "-F", "-b", "4096", "-E", _EAGER),
    "xfs": ("mkfs.xfs", "-q", "-f", "-s", "size=4096"),
    "btrfs": ("mkfs.btrfs", "-q", "-f"),
}
# mkfs.btrfs examines all mounted loop devices, and fails if the file of one belongs to a dead
# drive, even of another user. So it runs in a mount namespace without mounted loop devices.
_WITHOUT_OTHER_LOOPS = (
    *("unshare", "--mount", "--propagation", "private", "sh", "-c"),
    r"for loop in $(sed -n 's,^\(/dev/loop[0-9]*\) .*,\1,p' /proc/self/mounts | sort -u); do "
    'umount --lazy --all-targets "$loop" || :; done; exec "$@"',
    "sh",
)
_INSIDE: dict[str, tuple[str, ...]] = {"btrfs": _WITHOUT_OTHER_LOOPS}
# Additional mkfs options for a preconditioned drive, which a TRIM of the whole drive would empty.
# mkfs.ext4 uses only the last of several -E options.
_WITHOUT_DISCARD = {"ext4": ("-E", f"{_EAGER},nodiscard"), "xfs": ("-K",), "btrfs": ("-K",)}
FILE_SYSTEMS = tuple(_MAKE)

_NEEDED = ("nbdfuse", "fusermount3", "losetup", "blkid", "mount", "umount", "sync")
_DEVICES = ("/dev/fuse", "/dev/loop-control")
_SECTOR_BYTES = 512
# Index of the sectors written in a block device's statistics (/sys/block/NAME/stat).
_SECTORS_WRITTEN = 6
_BETWEEN_TRIES_S = 0.2
# Wait for ending processes, in seconds; longer waits are useless, as a shell may stay for hours.
_PATIENCE_S = 15.0
# Exit status of blkid for a device without a known signature.
_NOTHING_FOUND = 2


@dataclass(frozen=True)
class Mounted:
    """Mounted file system, with its loop device."""

    point: Path
    loop: str

    def sync(self, signals: HeldSignals | None) -> None:
        """Write all dirty data of the file system back to the drive."""
        run(signals, "sync", "--file-system", str(self.point))

    def written_bytes(self) -> int:
        """Return the bytes that the file system has written to its block device so far."""
        statistics = Path("/sys/block", Path(self.loop).name, "stat").read_text().split()
        return int(statistics[_SECTORS_WRITTEN]) * _SECTOR_BYTES


def check_mount(point: Path, file_system: str) -> None:
    """Check early, before a drive is built, that a mount is possible.

    Raises:
        WriteampError: root, a program or a device is missing, or the mount point is in use.
    """
    if os.geteuid() != 0:
        raise WriteampError("--mount needs root. Without root, use the drive by its socket")
    require(*_NEEDED, *_INSIDE.get(file_system, ())[:1], _MAKE[file_system][0])
    for path in _DEVICES:
        if not os.path.exists(path):
            raise WriteampError(f"--mount needs {path}, which is missing on this machine")
    if is_mounted(point):
        raise WriteampError(f"{point} is already mounted. Unmount it, or choose another folder")
    if point.exists() and not point.is_dir():
        raise WriteampError(f"{point} is not a folder. Choose another mount point")
    if not point.absolute().parent.is_dir():
        raise WriteampError(
            f"{point} cannot be created: the folder {point.absolute().parent} does not exist"
        )


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
    """Create a file system on a drive and mount it with discard, so that freed space is trimmed.

    Args:
        socket: socket of the drive.
        size_bytes: size of the drive.
        point: mount point; a missing folder is created, and removed again.
        file_system: one of `FILE_SYSTEMS`.
        is_kept: whether the drive may have an earlier file system, which is mounted unchanged.
        holds_data: whether a host has stored data on the drive; mkfs never overwrites them.
        is_aged: whether the drive is preconditioned, so that mkfs must not trim it.
        folder: a private folder.
        signals: signals that stop the assembly.
        undo: receives the undo steps.
        remarks: receives a sentence if a process still uses the mount point at the end.

    Raises:
        WriteampError: a layer failed, or the drive has another file system, or data without one.
        KeyboardInterrupt: a signal was received.
    """
    point = point.absolute()
    loop = _attach(socket, size_bytes, folder, signals, undo)
    if not (is_kept and _has(loop, file_system, signals)):
        if holds_data:
            raise WriteampError(
                "the drive has data but no known file system. Use it without --mount, or "
                "pass another --backing"
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
    """Create a block device of a drive, and return its path."""
    disk = folder / "disk"
    disk.touch()
    # nbdfuse ends by itself when it is unmounted, which comes before the step that stops it.
    client = start_daemon(
        undo, folder / "nbdfuse.messages", "nbdfuse", str(disk), "--unix", str(socket)
    )
    # If the disk stays in use, so does its file system, which already caused a remark, so the
    # result is ignored.
    undo.callback(_unmounted, disk, "fusermount3", ("-u",), ("-u", "-z"))
    client.wait_until(lambda: _size_of(disk) == size_bytes, signals)
    undo.callback(_detach_loops, disk)
    # Without direct I/O, the loop device would add a second page cache.
    device = run(signals, "losetup", "--find", "--show", "--direct-io=on", str(disk))
    return device.strip()


def _has(loop: str, file_system: str, signals: HeldSignals) -> bool:
    """Return whether a kept drive has this file system; False if it has no file system.

    Raises:
        WriteampError: the drive has another file system.
    """
    words = ("--probe", "--output", "value", "--match-tag", "TYPE", loop)
    existing = run(signals, "blkid", *words, good=(0, _NOTHING_FOUND)).strip()
    if existing and existing != file_system:
        raise WriteampError(
            f"the drive has the file system {existing}. Pass --fs {existing}, or another --backing"
        )
    return bool(existing)


def _leave(point: Path, remarks: list[str]) -> None:
    """Unmount the file system; if it is still in use, detach it lazily."""
    if not _unmounted(point, "umount", (), ("--lazy",)):
        remarks.append(
            f"{point} is still in use. It was detached, and disappears after its last use"
        )


def _unmounted(path: Path, name: str, plain: tuple[str, ...], detached: tuple[str, ...]) -> bool:
    """Unmount a path if it is mounted; return whether it is no longer in use.

    The wait for processes that use the path is limited to `_PATIENCE_S`.
    """
    deadline = time.monotonic() + _PATIENCE_S
    while is_mounted(path):
        try:
            run(None, name, *plain, str(path))
        except WriteampError:
            # The mount is busy until the last process with open files has ended.
            if time.monotonic() > deadline:
                run(None, name, *detached, str(path))
                return False
            time.sleep(_BETWEEN_TRIES_S)
    return True


def _size_of(disk: Path) -> int:
    try:
        return disk.stat().st_size
    except OSError:  # the file of an ended nbdfuse
        return 0


def _detach_loops(disk: Path) -> None:
    for line in run(None, "losetup", "--associated", str(disk)).splitlines():
        run(None, "losetup", "--detach", line.split(":", 1)[0])


def _remove_folder(point: Path) -> None:
    """Remove a folder that was created as the mount point, if it is empty."""
    try:
        point.rmdir()
    except OSError:
        return
