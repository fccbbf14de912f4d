"""Source that is read anew: a device, or files that another program keeps up to date."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from writeamp.drives.counters.reading import documents_at, snapshots_of
from writeamp.drives.counters.saved_file import TAKEN, Taken, taken_document
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.counters.stated import NOTHING_STATED, Stated
from writeamp.drives.devices.device import Device, bytes_sent_to, device_at, is_device
from writeamp.drives.devices.reading import read_device
from writeamp.errors import WriteampError


class Reading(NamedTuple):
    """Documents of a drive, the snapshot that they are, and what the kernel had sent by then."""

    documents: dict[str, bytes]
    snapshot: Snapshot
    sent_bytes: int | None

    def sent_until(self, later: Reading) -> int | None:
        """Return the bytes that the kernel sent to the drive in between; None if unknown."""
        first, last = self.sent_bytes, later.sent_bytes
        return None if first is None or last is None else last - first


@dataclass(frozen=True)
class Source:
    """A device or files, read anew each time.

    Attributes:
        name: as given.
        device: the drive; None of files, which another program keeps up to date.
        stated: by the user of the drive.
    """

    name: str
    device: Device | None
    stated: Stated = NOTHING_STATED

    def read(self) -> Reading:
        """Read the documents of this moment.

        Raises:
            WriteampError: they cannot be read, or are several snapshots.
        """
        documents = self._documents()
        found = snapshots_of(self.name, documents, self.stated)
        if len(found) != 1:
            raise WriteampError(f"{self.name} holds {len(found)} snapshots; give that of one drive")
        sent_bytes = None if self.device is None else bytes_sent_to(self.device)
        return Reading(documents, found[0], sent_bytes)

    def _documents(self) -> dict[str, bytes]:
        if self.device is not None:
            return read_device(self.device.path)
        found = documents_at(Path(self.name))
        if "" in found:
            found = {Path(self.name).name: found[""]}
        return {TAKEN: taken_document(Taken(None, self.name, {}))} | found


def source_at(name: str, stated: Stated = NOTHING_STATED) -> Source:
    """Return the source of a name: a device's path, or that of a file or folder.

    Raises:
        WriteampError: there is none.
    """
    path = Path(name)
    device = None if path.exists() and not is_device(path) else device_at(name)
    return Source(name, device, stated)
