"""Source that is read anew until it is at rest: a device, or files of another program."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from writeamp.drives.counters.families import NOTHING_STATED, Stated
from writeamp.drives.counters.reading import documents_at, snapshots_of
from writeamp.drives.counters.saved_file import TAKEN, Taken, taken_document
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.devices.device import DriveDevice, bytes_sent_to, device_at, is_device
from writeamp.drives.devices.reading import read_device
from writeamp.errors import WriteampError

# Collection has settled when the flash's counters rise by less than this part of what they rose.
_SETTLED_PART = 0.01


class DriveReading(NamedTuple):
    """Documents of a drive, the snapshot that they are, and what the kernel had sent by then."""

    documents: dict[str, bytes]
    snapshot: Snapshot
    sent_bytes: int | None

    def sent_until(self, later: DriveReading) -> int | None:
        """Return the bytes that the kernel sent to the drive in between; None if unknown."""
        first, last = self.sent_bytes, later.sent_bytes
        return None if first is None or last is None else last - first


@dataclass(frozen=True)
class DriveSource:
    """A device or files, read anew each time.

    Attributes:
        name: as given.
        device: the drive; None of files, which another program keeps up to date.
        stated: by the user of the drive.
    """

    name: str
    device: DriveDevice | None
    stated: Stated = NOTHING_STATED

    def read(self) -> DriveReading:
        """Read the documents of this moment.

        Raises:
            WriteampError: they cannot be read, or are several snapshots.
        """
        documents = self._documents()
        found = snapshots_of(self.name, documents, self.stated)
        if len(found) != 1:
            raise WriteampError(f"{self.name} holds {len(found)} snapshots; give that of one drive")
        sent_bytes = None if self.device is None else bytes_sent_to(self.device)
        return DriveReading(documents, found[0], sent_bytes)

    def _documents(self) -> dict[str, bytes]:
        if self.device is not None:
            return read_device(self.device.path)
        found = documents_at(Path(self.name))
        if "" in found:
            found = {Path(self.name).name: found[""]}
        return {TAKEN: taken_document(Taken(None, self.name, {}))} | found


def source_at(name: str, stated: Stated = NOTHING_STATED) -> DriveSource:
    """Return the source of a name: a device's path, or that of a file or folder.

    Raises:
        WriteampError: there is none.
    """
    path = Path(name)
    device = None if path.exists() and not is_device(path) else device_at(name)
    return DriveSource(name, device, stated)


class Settled(NamedTuple):
    """The last reading, whether the flash was at rest by then, and how long that took."""

    reading: DriveReading
    is_settled: bool
    seconds: float


def settled(
    source: DriveSource,
    before: DriveReading,
    *,
    every_s: float,
    most_s: float,
    sleep: Callable[[float], bool],
    kept: Callable[[DriveReading], None] = lambda _reading: None,
) -> Settled:
    """Read a drive until its flash's counters rise no more.

    At rest they rose, from one reading to the next, by no more than a hundredth of what they rose
    since the first, or by one count.

    Args:
        source: of the drive.
        before: the reading before the writes.
        every_s: between readings.
        most_s: in all.
        sleep: waits, and returns whether to go on.
        kept: is given each reading.

    Raises:
        WriteampError: the drive cannot be read.
    """
    began = time.monotonic()
    last = source.read()
    kept(last)
    while sleep(every_s):
        now = source.read()
        kept(now)
        waited_s = time.monotonic() - began
        if _is_at_rest(before.snapshot, last.snapshot, now.snapshot):
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


def _rise(before: Snapshot, after: Snapshot) -> dict[tuple[str, ...], int]:
    """Return by how much the flash's counters rose, in counts."""
    earlier = {one.key: one.count for one in before.facts.counters if one.side == "flash"}
    return {
        one.key: one.count - earlier[one.key] for one in after.facts.counters if one.key in earlier
    }
