"""An ext4 file system on a memory disk that logs its requests.

The layers: nbdkit's memory plugin behind its log filter, nbdfuse (the disk as a file), a loop
device, ext4 mounted with discard so that freed space reaches the disk as TRIM. All of it needs
root. Each layer registers how it is taken down before it is made, so that an interrupt at any
moment leaves nothing behind; the taking down looks at what there is.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from capture_programs import PATIENCE_S, CaptureError, run, start_daemon, wait_until

# The Debian package of each program.
DISK_PROGRAMS = {
    "nbdkit": "nbdkit",
    "nbdfuse": "libnbd-bin",
    "fusermount3": "fuse3",
    "losetup": "mount",
    "mount": "mount",
    "umount": "mount",
    "mkfs.ext4": "e2fsprogs",
}
DISK_DEVICES = ("/dev/fuse", "/dev/loop-control")
REQUEST_LOG = "requests.log"


@contextlib.contextmanager
def work_directory() -> Iterator[Path]:
    """A temporary directory that other users may enter, removed unless a mount is left in it."""
    work = Path(tempfile.mkdtemp(prefix="writeamp-"))
    work.chmod(0o755)
    try:
        yield work
    finally:
        mounted = [path for path in work.iterdir() if os.path.ismount(path)]
        if mounted:
            raise CaptureError(f"{mounted[0]} could not be unmounted and was left as it is")
        shutil.rmtree(work)


def serve_disk(size_bytes: int, work: Path, undo: contextlib.ExitStack) -> str:
    """Start a memory disk whose requests go to work/REQUEST_LOG; returns its loop device."""
    disk, socket = work / "disk", work / "nbd.sock"
    disk.touch()
    listen = ("--foreground", "--unix", str(socket), "--filter=log")
    memory = ("memory", str(size_bytes), f"logfile={work / REQUEST_LOG}")
    server = start_daemon(undo, work / "nbdkit.messages", "nbdkit", *listen, *memory)
    wait_until(socket.exists, server)

    # nbdfuse ends when it is unmounted, before its own turn to be stopped comes.
    client = start_daemon(
        undo, work / "nbdfuse.messages", "nbdfuse", str(disk), "--unix", str(socket)
    )
    undo.callback(_unmount, disk, "fusermount3", "-u")
    wait_until(lambda: disk.stat().st_size == size_bytes, client)

    undo.callback(_detach_loop_devices, disk)
    return run("losetup", "--find", "--show", str(disk)).strip()


def make_filesystem(loop: str, work: Path, undo: contextlib.ExitStack) -> Path:
    """Make ext4 on the loop device and mount it; returns the mount point."""
    run("mkfs.ext4", "-q", loop)
    mount_point = work / "mnt"
    mount_point.mkdir()
    undo.callback(_unmount, mount_point, "umount")
    run("mount", "-t", "ext4", "-o", "discard", loop, str(mount_point))
    return mount_point


def _unmount(path: Path, *command: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while os.path.ismount(path):
        try:
            run(*command, str(path))
        except CaptureError:
            # Busy while the last process with files open there is still ending.
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def _detach_loop_devices(disk: Path) -> None:
    for line in run("losetup", "--associated", str(disk)).splitlines():
        run("losetup", "--detach", line.split(":", 1)[0])
