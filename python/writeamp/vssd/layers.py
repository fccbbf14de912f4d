"""Write amplification by layer, from an application down to the flash."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from writeamp.vssd.processes import Written

# Where storage took so many times what write() was given, something else wrote.
_OTHER_WAYS = 2

LAYERS = ("application", "file_system", "device", "flash")


@dataclass(frozen=True)
class Layers:
    """Bytes that each layer wrote to the one below it.

    `application` is what the command's processes gave to write() and its like; None without a
    command. Pipes and terminals count there too, and writing to mapped memory and asynchronous I/O
    do not: those are in `application_storage`, which counts whole pages as they become dirty.
    `file_system` is what reached the block device, `device` what the drive's host asked to write,
    and `flash` what was programmed.
    """

    application: int | None
    application_storage: int | None
    file_system: int
    device: int
    flash: int

    @staticmethod
    def of(written: Written | None, *, file_system: int, device: int, flash: int) -> Layers:
        """Return the layers; `written` is what the command wrote, if there was one."""
        if written is None:
            return Layers(None, None, file_system, device, flash)
        return Layers(written.calls_bytes, written.storage_bytes, file_system, device, flash)

    def bytes_by_layer(self) -> dict[str, int]:
        """Return the bytes of each layer that is there, from the top."""
        found = {name: getattr(self, name) for name in LAYERS}
        return {name: size for name, size in found.items() if size is not None}

    def factors(self) -> dict[str, float | None]:
        """Return the factor of each layer over the one above; their product is the whole.

        None where the layer above wrote nothing.
        """
        sizes = list(self.bytes_by_layer().items())
        return {
            lower: below / above if above else None
            for (_, above), (lower, below) in pairwise(sizes)
        }

    def whole(self) -> float | None:
        """Return flash bytes for each byte of the uppermost layer."""
        top = next(iter(self.bytes_by_layer().values()))
        return self.flash / top if top else None

    def notes(self) -> list[str]:
        """Return sentences that a reader of the application's bytes should know."""
        if self.application is None or self.application_storage is None:
            return []
        if self.application_storage <= _OTHER_WAYS * self.application:
            return []
        return [
            f"the command gave {self.application:,} bytes to write(), but made "
            f"{self.application_storage:,} bytes of pages dirty: mapped files, asynchronous I/O "
            "and small pieces of pages are in the second figure only"
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON types."""
        return {
            "application_bytes": self.application,
            "application_storage_bytes": self.application_storage,
            "file_system_bytes": self.file_system,
            "device_bytes": self.device,
            "flash_bytes": self.flash,
            "factors": self.factors(),
        }
