"""Function `watch`, and the public names for histories and fleets of drives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from writeamp.drives.devices.device import drives_here
from writeamp.drives.devices.reading import read_device
from writeamp.drives.fleets.result import Fleet, fleet
from writeamp.drives.histories.result import History, history
from writeamp.drives.histories.watching import Round, watch_once
from writeamp.fields.domains import file_names
from writeamp.files.output import AnyPath

__all__ = ["Fleet", "History", "fleet", "history", "watch"]

# Source that means every drive of this machine.
_ALL = "all"


def watch(sources: Sequence[AnyPath] | AnyPath, db: AnyPath) -> Round:
    """Read drives once, and add their counters to a history, as `measure watch --once` does.

    Args:
        sources: devices, files, or folders with the files of one drive or of many drives; "all"
            means every drive of this machine.
        db: SQLite file of the history, which is created if missing.

    Returns:
        `Round`: `read`, `added` and `failures` (each with `name` and `reason`).

    Raises:
        WriteampError: the history cannot be written, or "all" has no drive.
    """
    names = [
        place
        for name in file_names(sources)
        for place in (drives_here() if str(name) == _ALL else [name])
    ]
    return watch_once(names, Path(db), read_device)
