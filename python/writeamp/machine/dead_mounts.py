"""Mounts in the temporary folders of killed processes."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from writeamp.errors import WriteampError
from writeamp.files.temporary import dead_folders, mounts_under
from writeamp.machine.programs import run

# Exit status of umount for failures, including that the path is not mounted.
_NOT_MOUNTED = 32


def unmount_dead() -> list[str]:
    """Unmount the file systems in the temporary folders of killed processes.

    Returns:
        A sentence for each file system that stays mounted.
    """
    failures = []
    for folder in dead_folders():
        try:
            _unmount_all(folder)
        except WriteampError as error:
            failures.append(f"{folder} of a killed process stays mounted: {error}")
    return failures


def _unmount_all(folder: Path) -> None:
    """Detach the loop devices of files in a folder, and then the mounts in the folder."""
    for file in Path("/sys/block").glob("loop*/loop/backing_file"):
        with suppress(OSError):  # already detached
            if Path(file.read_text().strip()).is_relative_to(folder.resolve()):
                loop = f"/dev/{file.parent.parent.name}"
                run(None, "umount", "--lazy", "--all-targets", loop, good=(0, _NOT_MOUNTED))
                run(None, "losetup", "--detach", loop)
    for point in reversed(mounts_under(folder)):
        run(None, "umount", "--lazy", point)
