"""Mount points as the kernel lists them.

A look at a file fails where its server is dead.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

# In a line of /proc/self/mountinfo: where it is mounted, with blanks as octal digits.
_POINT_FIELD = 4
_ESCAPED = re.compile(r"\\([0-7]{3})")


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
