"""Differences between operating systems: locks, signals, free memory and mount points.

Simulations, theory and traces run on every system. What needs Linux calls `require_linux`.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from pathlib import Path
from typing import IO

from writeamp.errors import WriteampError

if sys.platform == "win32":
    LOCK_SH = LOCK_EX = LOCK_NB = 0

    def flock(_handle: object, _operation: int) -> None:
        """Fail as on a file system without locks, which every caller expects."""
        raise OSError(errno.ENOTSUP, "this system has no locks of whole files")

    ioctl = flock
else:
    import resource
    from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock, ioctl

__all__ = [
    "ENDING_SIGNALS",
    "LOCK_EX",
    "LOCK_NB",
    "LOCK_SH",
    "flock",
    "free_memory_bytes",
    "ioctl",
    "lock_alone",
    "mount_points",
    "require_linux",
]

# Signals that end a process. SIGINT is last, because its handler is restored last in
# `machine/signals.py`. Windows has no SIGHUP.
ENDING_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGINT") if hasattr(signal, name)
)
# Field of the mount point in a line of /proc/self/mountinfo.
_POINT_FIELD = 4


def lock_alone(handle: int | IO[bytes]) -> bool:
    """Lock a file or folder until it is closed, and return whether its file system has locks.

    Raises:
        BlockingIOError: another process has locked it.
    """
    try:
        flock(handle, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True


def require_linux(what: str) -> None:
    """Check that this system is Linux.

    Args:
        what: what needs it, with its article.

    Raises:
        WriteampError: it is another system.
    """
    if sys.platform != "linux":
        raise WriteampError(f"{what} needs Linux; this system is {sys.platform}")


def free_memory_bytes() -> int:
    """Return the memory that is free to this process, by the machine and by its own limit."""
    if sys.platform != "linux":
        import psutil  # noqa: PLC0415 (slow)

        return int(psutil.virtual_memory().available)
    lines = Path("/proc/meminfo").read_text().splitlines()
    kib = next(line.split()[1] for line in lines if line.startswith("MemAvailable:"))
    most_bytes, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most_bytes == resource.RLIM_INFINITY:
        return int(kib) * 1024
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return max(0, min(int(kib) * 1024, most_bytes - pages * os.sysconf("SC_PAGE_SIZE")))


def mount_points() -> list[str]:
    """Return the kernel's mount points, in the order of mounting, with blanks as octal digits.

    Other systems than Linux have none: writeamp mounts nothing there.
    """
    if sys.platform != "linux":
        return []
    lines = os.fsdecode(Path("/proc/self/mountinfo").read_bytes()).splitlines()
    return [line.split(" ")[_POINT_FIELD] for line in lines]
