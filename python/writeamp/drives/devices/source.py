"""Source that is read anew: a device, or files that another program keeps up to date."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from writeamp.drives.counters.reading import documents_at, snapshots_of
from writeamp.drives.counters.saved_file import TAKEN, Taken, taken_document
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.devices.device import Device, bytes_sent_to, device_at, is_device
from writeamp.drives.devices.reading import read_device
from writeamp.errors import WriteampError


@dataclass(frozen=True)
class Source:
    """A device or files, read anew each time.

    Attributes:
        name: as given.
        device: the drive; None of files, which another program keeps up to date.
        keeps_serials: of a device's documents.
    """

    name: str
    device: Device | None
    keeps_serials: bool = False

    def documents(self) -> dict[str, bytes]:
        """Return the documents of this moment.

        Raises:
            WriteampError: they cannot be read.
        """
        if self.device is not None:
            return read_device(self.device.path, keeps_serials=self.keeps_serials)
        found = documents_at(Path(self.name))
        if "" in found:
            found = {Path(self.name).name: found[""]}
        return {TAKEN: taken_document(Taken(None, self.name, {}))} | found

    def bytes_sent(self) -> int | None:
        """Return the bytes that the kernel has sent to the drive; None if unknown."""
        return None if self.device is None else bytes_sent_to(self.device)

    def snapshot(self, documents: dict[str, bytes]) -> Snapshot:
        """Return the one snapshot that its documents are.

        Raises:
            WriteampError: they are of several.
        """
        found = snapshots_of(self.name, documents)
        if len(found) != 1:
            raise WriteampError(f"{self.name} holds {len(found)} snapshots; give that of one drive")
        return found[0]


def source_at(name: str, *, keeps_serials: bool = False) -> Source:
    """Return the source of a name: a device's path, or that of a file or folder.

    Raises:
        WriteampError: there is none.
    """
    path = Path(name)
    if path.exists() and not is_device(path):
        return Source(name, None, keeps_serials)
    return Source(name, device_at(name), keeps_serials)
