"""Rounds of a watch: every source is read, and the documents go into the history."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from writeamp.drives.counters.reading import documents_at, snapshots_of
from writeamp.drives.histories.serials import without_serials
from writeamp.drives.histories.store import Failure, Reading, add
from writeamp.errors import WriteampError

# Reads a source, such as a device, and returns its documents by name.
Reader: TypeAlias = Callable[[str], dict[str, bytes]]


class Round(NamedTuple):
    """Outcome of a round: sources that were read, readings that are new, and failures."""

    read: int
    added: int
    failures: tuple[Failure, ...]


def watch_once(
    sources: Iterable[str | os.PathLike[str]], db: Path, read_device: Reader | None = None
) -> Round:
    """Read every source once, and add what it says to the history.

    A source that cannot be read does not keep the others from being kept. The time of a file is
    that of its last change, so that the same reading is kept once.

    Args:
        sources: files, folders of one drive's files, or devices.
        db: the history, which is made if there is none.
        read_device: reads a device; None if none can be read.

    Raises:
        WriteampError: the history cannot be written.
    """
    readings, failures = [], []
    for source in sources:
        name = os.path.abspath(os.fspath(source))
        try:
            readings.append(_reading(name, read_device))
        except WriteampError as error:
            failures.append(Failure(name, time.time(), str(error)))
    return Round(len(readings), add(db, readings, failures), tuple(failures))


def _reading(name: str, read_device: Reader | None) -> Reading:
    path = Path(name)
    if path.is_block_device() or path.is_char_device():
        if read_device is None:
            raise WriteampError(f"{name} is a device; `writeamp measure save` reads one")
        files, taken_at = read_device(name), time.time()
    else:
        files, taken_at = documents_at(path), _changed_at(path)
    snapshots_of(name, files)  # which says what is wrong with it
    return Reading(name, taken_at, {key: without_serials(one) for key, one in files.items()})


def _changed_at(path: Path) -> float:
    places = [path, *path.iterdir()] if path.is_dir() else [path]
    return max(one.stat().st_mtime for one in places)
