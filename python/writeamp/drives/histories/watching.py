"""Rounds of a watch: every source is read, and the documents go into the history."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from writeamp.drives.counters.reading import documents_at, snapshots_of
from writeamp.drives.histories.store import Failure, StoredReading, add
from writeamp.errors import WriteampError
from writeamp.text import hashed_serial

# Reads a source, such as a device, and returns its documents by name.
Reader: TypeAlias = Callable[[str], dict[str, bytes]]
# Keys of smartctl's and nvme-cli's JSON, lines of their text, and labels of Prometheus.
_SERIALS = (
    re.compile(
        rb'("(?:serial_number|sn|SerialNumber|subnqn|logical_unit_id)"\s*:\s*")([^"\\]*)(?=")'
    ),
    re.compile(
        rb"(?m)(^[ \t]*(?:Serial [Nn]umber|sn|subnqn|LU WWN Device Id|Logical Unit id)"
        rb"[ \t]*:[ \t]*)(\S[^\r\n]*?)(?=[ \t]*\r?$)"
    ),
    re.compile(rb'(\b(?:serial_number|serial)=")([^"\\]*)(?=")'),
)
# CrystalDiskInfo prints the words of the drive's identity, in which the number stands again.
_IDENTITY = re.compile(rb"(?m)^[ \t]*\d{3}:(?: [0-9A-F]{4})+[ \t]*\r?\n?")
# Numbers that are of one drive, too, which nothing reads here.
_WORLD_WIDE = re.compile(rb'("(?:wwn|eui64)"\s*:\s*)\{[^{}]*\}')


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


def _reading(name: str, read_device: Reader | None) -> StoredReading:
    path = Path(name)
    if path.is_block_device() or path.is_char_device():
        if read_device is None:
            raise WriteampError(f"{name} is a device; `writeamp measure save` reads one")
        files, taken_at = read_device(name), time.time()
    else:
        files, taken_at = documents_at(path), _changed_at(path)
    snapshots_of(name, files)  # which says what is wrong with it
    return StoredReading(name, taken_at, {key: without_serials(one) for key, one in files.items()})


def _changed_at(path: Path) -> float:
    places = [path, *path.iterdir()] if path.is_dir() else [path]
    return max(one.stat().st_mtime for one in places)


def without_serials(content: bytes) -> bytes:
    """Return a document in which the hash of each serial number stands for it."""
    for pattern in _SERIALS:
        content = pattern.sub(_hashed, content)
    return _WORLD_WIDE.sub(rb"\1{}", _IDENTITY.sub(b"", content))


def _hashed(found: re.Match[bytes]) -> bytes:
    hashed = hashed_serial(found[2].decode("utf-8", "replace"))
    return found[1] + (hashed or found[2].decode("utf-8", "replace")).encode()
