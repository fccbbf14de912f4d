"""Folders of snapshots: of one drive, or of many."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from writeamp.drives.counters.reading import read_snapshots
from writeamp.drives.counters.saved_file import TAKEN
from writeamp.errors import WriteampError
from writeamp.fields.domains import file_names

# A folder with the host log and one of the other logs is one snapshot of one drive, as `serve
# --counters` writes it. Folders written by `measure save` have the file `TAKEN` instead.
_HOST_LOG = "smart.json"
_OF_THE_SAME = frozenset({"ocp.json", "ocp-v1.json", "ocp.bin", "fdp.json", "id-ctrl.json"})


def snapshots_under(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Return the files and folders to read as snapshots, sorted by name.

    Raises:
        WriteampError: a path does not exist, or a folder cannot be read.
    """
    places: dict[Path, None] = {}
    for name in file_names(paths):
        path = Path(name)
        if not path.exists():
            raise WriteampError(f"the file or folder {str(path)!r} does not exist")
        places |= dict.fromkeys(_walked(path) if path.is_dir() else [path])
    return list(places)


def _walked(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder, onerror=_refuse):
        folders.sort()
        names = {name for name in files if not name.startswith(".")}
        here = Path(root)
        if _is_saved(names):
            folders.clear()
            yield here
        else:
            yield from (here / name for name in sorted(names) if (here / name).is_file())


def _refuse(error: OSError) -> None:
    raise WriteampError(f"cannot read {error.filename!r}: {error.strerror or error}")


def _is_saved(names: set[str]) -> bool:
    """Return whether these are the files of a folder that writeamp wrote for one drive."""
    return TAKEN in names or (_HOST_LOG in names and bool(names & _OF_THE_SAME))


def has_several_drives(folder: Path) -> bool:
    """Return whether a folder has documents of several drives.

    That is the case if the documents name several models or serial numbers, or if two of them are
    outputs of the same tool: a tool prints one document of a drive at one moment.

    Raises:
        WriteampError: the folder cannot be read.
    """
    places = snapshots_under([folder])
    if places == [folder]:
        return False
    sources: list[str] = []
    serials: set[str] = set()
    models: set[str] = set()
    for place in places:
        try:
            snapshots = read_snapshots(place)
        except WriteampError:
            continue
        for snapshot in snapshots:
            sources += snapshot.sources
            serials |= {snapshot.facts.serial} - {None}  # type: ignore[arg-type]
            models |= {snapshot.facts.model} - {None}  # type: ignore[arg-type]
    return len(set(sources)) < len(sources) or len(serials) > 1 or len(models) > 1
