"""Snapshots in a tree of files: each file is one, and so is a folder of one drive's logs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from writeamp.drives.counters.saved_file import TAKEN
from writeamp.errors import WriteampError
from writeamp.fields.domains import file_names

# A folder with the host's log and one of these is one drive at one moment, as `serve --counters`
# writes it; those that `measure save` wrote say so of themselves.
_HOST = "smart.json"
_OF_THE_SAME = frozenset({"ocp.json", "ocp-v1.json", "ocp.bin", "fdp.json", "id-ctrl.json"})


def snapshots_under(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Return the files and folders to be read as snapshots, in the order of their names.

    Raises:
        WriteampError: there is no such path, or a folder cannot be read.
    """
    found: dict[Path, None] = {}
    for name in file_names(paths):
        path = Path(name)
        if not path.exists():
            raise WriteampError(f"there is no file or folder {str(path)!r}")
        found |= dict.fromkeys(_walked(path) if path.is_dir() else [path])
    return list(found)


def _walked(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder, onerror=_refuse):
        folders.sort()
        names = {name for name in files if not name.startswith(".")}
        here = Path(root)
        if TAKEN in names or (_HOST in names and names & _OF_THE_SAME):
            folders.clear()
            yield here
        else:
            yield from (here / name for name in sorted(names) if (here / name).is_file())


def _refuse(error: OSError) -> None:
    raise WriteampError(f"cannot read {error.filename!r}: {error.strerror or error}")
