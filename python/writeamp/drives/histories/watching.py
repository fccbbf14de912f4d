"""Rounds of a watch: every source is read, and its documents are added to the history."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from writeamp.drives.counters.folders import has_several_drives, snapshots_under
from writeamp.drives.counters.reading import documents_at, snapshots_of
from writeamp.drives.histories.store import Failure, StoredReading, add
from writeamp.errors import WriteampError
from writeamp.text import hashed_serial

# Function that reads a source, such as a device, and returns its documents by file name.
DeviceReader: TypeAlias = Callable[[str], dict[str, bytes]]
# Patterns of serial numbers: in smartctl's and nvme-cli's JSON, in their text output, and in labels
# of Prometheus metrics.
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
# CrystalDiskInfo prints the drive's IDENTIFY data as hexadecimal words, which include the serial
# number.
_IDENTITY = re.compile(rb"(?m)^[ \t]*\d{3}:(?: [0-9A-F]{4})+[ \t]*\r?\n?")
# World-wide names also identify a drive. Nothing here needs them, so they are removed.
_WORLD_WIDE = re.compile(rb'("(?:wwn|eui64)"\s*:\s*)\{[^{}]*\}')


class Round(NamedTuple):
    """Outcome of a round: number of sources read, number of new readings, and failures."""

    read: int
    added: int
    failures: tuple[Failure, ...]


def watch_once(
    sources: Iterable[str | os.PathLike[str]], db: Path, read_device: DeviceReader | None = None
) -> Round:
    """Read every source once, and add its documents to the history.

    If a source cannot be read, the others are still added. The time of a file is that of its last
    change, so that the same reading is added only once.

    Args:
        sources: files, folders (of one drive's files, or of files of many drives), or devices.
        db: the history; it is created if missing.
        read_device: reads a device; None if devices are not supported.

    Raises:
        WriteampError: the history cannot be written.
    """
    readings, failures = [], []
    for name in (name for source in sources for name in _names_in(source)):
        try:
            readings.append(_reading(name, read_device))
        except WriteampError as error:
            failures.append(Failure(name, time.time(), str(error)))
    return Round(len(readings), add(db, readings, failures), tuple(failures))


def skipped_in_words(failures: Iterable[Failure]) -> list[str]:
    """Return a warning for each reason why sources were skipped, with their number."""
    groups: dict[str, list[Failure]] = {}
    for failure in failures:
        groups.setdefault(failure.reason.replace(failure.name, ""), []).append(failure)
    return [_skipped(group) for group in groups.values()]


def _skipped(failures: Sequence[Failure]) -> str:
    first, count = failures[0], len(failures)
    named = "" if first.name in first.reason else f"{first.name}: "
    scope = "in this round" if count == 1 else f"in this round, {count:,} sources; the first"
    return f"skipped {scope}: {named}{first.reason}"


def _names_in(source: str | os.PathLike[str]) -> list[str]:
    """Return the path of a source; of a folder with several drives, the path of each snapshot."""
    path = Path(os.path.abspath(os.fspath(source)))
    try:
        places = snapshots_under([path]) if path.is_dir() and has_several_drives(path) else [path]
    except WriteampError:  # reading it again gives the reason, which is then stored
        places = [path]
    return [str(place) for place in places]


def _reading(name: str, read_device: DeviceReader | None) -> StoredReading:
    path = Path(name)
    if path.is_block_device() or path.is_char_device():
        if read_device is None:
            raise WriteampError(f"{name} is a device. Read it with `writeamp measure save`")
        files, taken_at = read_device(name), time.time()
    else:
        files, taken_at = documents_at(path), _changed_at(path)
    snapshots_of(name, files)  # raises an error if the files are invalid
    return StoredReading(
        name, taken_at, {key: without_serials(content) for key, content in files.items()}
    )


def _changed_at(path: Path) -> float:
    places = [path, *path.iterdir()] if path.is_dir() else [path]
    return max(place.stat().st_mtime for place in places)


def without_serials(content: bytes) -> bytes:
    """Return a document with each serial number replaced by its hash.

    World-wide names and IDENTIFY data are removed.
    """
    for pattern in _SERIALS:
        content = pattern.sub(_hashed, content)
    return _WORLD_WIDE.sub(rb"\1{}", _IDENTITY.sub(b"", content))


def _hashed(match: re.Match[bytes]) -> bytes:
    hashed = hashed_serial(match[2].decode("utf-8", "replace"))
    return match[1] + (hashed or match[2].decode("utf-8", "replace")).encode()
