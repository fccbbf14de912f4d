"""Source of a drive's counters, a device or files of another program, and the wait for rest."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from writeamp.drives.counters.families import NOTHING_STATED, Stated
from writeamp.drives.counters.reading import documents_at, snapshots_of
from writeamp.drives.counters.saved_file import TAKEN, SnapshotOrigin, taken_document
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.devices.device import DriveDevice, bytes_sent_to, device_at, is_device
from writeamp.drives.devices.reading import read_device
from writeamp.errors import WriteampError

# Garbage collection has settled when each flash counter rises between two readings by at most this
# share of its total rise.
_SETTLED_PART = 0.01


class DriveReading(NamedTuple):
    """Documents of a drive, their snapshot, and the bytes that the kernel had sent to the drive."""

    documents: dict[str, bytes]
    snapshot: Snapshot
    sent_bytes: int | None

    def sent_until(self, later: DriveReading) -> int | None:
        """Return the bytes that the kernel sent to the drive until a later reading, or None."""
        first, last = self.sent_bytes, later.sent_bytes
        return None if first is None or last is None else last - first


@dataclass(frozen=True)
class DriveSource:
    """Device or files that can be read repeatedly.

    Attributes:
        name: path as the user passed it.
        device: the drive; None for files that another program updates.
        stated: drive model and families set by the user.
    """

    name: str
    device: DriveDevice | None
    stated: Stated = NOTHING_STATED

    def read(self) -> DriveReading:
        """Read the current documents.

        Raises:
            WriteampError: the documents cannot be read, or are several snapshots.
        """
        documents = self._documents()
        snapshots = snapshots_of(self.name, documents, self.stated)
        if len(snapshots) != 1:
            raise WriteampError(
                f"{self.name} has {len(snapshots)} snapshots. Pass the snapshot of one drive"
            )
        sent_bytes = None if self.device is None else bytes_sent_to(self.device)
        return DriveReading(documents, snapshots[0], sent_bytes)

    def _documents(self) -> dict[str, bytes]:
        if self.device is not None:
            return read_device(self.device.path)
        documents = documents_at(Path(self.name))
        if "" in documents:
            documents = {Path(self.name).name: documents[""]}
        return {TAKEN: taken_document(SnapshotOrigin(None, self.name, {}))} | documents


def source_at(name: str, stated: Stated = NOTHING_STATED) -> DriveSource:
    """Return the source of a name: the path of a device, file or folder.

    Raises:
        WriteampError: the path does not exist.
    """
    path = Path(name)
    device = None if path.exists() and not is_device(path) else device_at(name)
    return DriveSource(name, device, stated)


class Settled(NamedTuple):
    """Last reading of a drive, whether its flash was at rest, and the seconds waited."""

    reading: DriveReading
    is_settled: bool
    seconds: float


def settled(
    source: DriveSource,
    start: DriveReading,
    *,
    every_s: float,
    most_s: float,
    sleep: Callable[[float], bool],
    save: Callable[[DriveReading], None] = lambda _reading: None,
) -> Settled:
    """Read a drive until its flash counters stop rising.

    The drive is at rest if each flash counter rose since the previous reading by at most one count,
    or by at most 1% of its rise since `start`.

    Args:
        source: source of the drive's counters.
        start: reading before the writes.
        every_s: time between readings, in seconds.
        most_s: total time limit, in seconds.
        sleep: waits for a number of seconds, and returns whether to continue.
        save: called with each reading.

    Raises:
        WriteampError: the drive cannot be read.
    """
    began = time.monotonic()
    last = source.read()
    save(last)
    while sleep(every_s):
        now = source.read()
        save(now)
        waited_s = time.monotonic() - began
        if _is_at_rest(start.snapshot, last.snapshot, now.snapshot):
            return Settled(now, True, waited_s)
        last = now
        if waited_s + every_s > most_s:
            return Settled(last, False, waited_s)
    return Settled(last, False, time.monotonic() - began)


def _is_at_rest(first: Snapshot, last: Snapshot, now: Snapshot) -> bool:
    since_first = _rise(first, now)
    return all(
        rise <= max(since_first.get(key, 0) * _SETTLED_PART, 1)
        for key, rise in _rise(last, now).items()
    )


def _rise(start: Snapshot, end: Snapshot) -> dict[tuple[str, ...], int]:
    """Return the rise of the flash counters, in counts."""
    earlier = {
        counter.key: counter.count for counter in start.facts.counters if counter.side == "flash"
    }
    return {
        counter.key: counter.count - earlier[counter.key]
        for counter in end.facts.counters
        if counter.key in earlier
    }
