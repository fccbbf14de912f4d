"""Write amplification by layer, from an application down to the flash."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from writeamp.vssd.command import ProcessWrites
from writeamp.vssd.write_counter import WriteCounts

LAYERS = ("application", "file_system", "device", "flash")
_WORDS = {
    "application": "passed to write()",
    "file_system": "file system wrote",
    "device": "drive was written",
    "flash": "flash programmed",
}
TRACEPOINTS, PROCESS_COUNTERS = "tracepoints", "wchar"

# Stores to mapped files are no part of the application's bytes: above this share of them, the
# layers below hold too many bytes that are not of write().
_MOST_MAPPED_SHARE = 0.01
_STORAGE_REASON = (
    "write_bytes of /proc/PID/io counts whole folios of the page cache, of up to 2 MiB, and "
    "metadata, so it is not the bytes of pages that the command changed"
)


@dataclass(frozen=True)
class Application:
    """Bytes that a command passed to write() and its like, and the method that counted them.

    `unknown` says why they are unknown, or not of the drive's files alone; None if they are known.
    """

    size_bytes: int | None
    method: str
    unknown: str | None = None

    @staticmethod
    def of(counted: WriteCounts | str, written: ProcessWrites) -> Application:
        """Return a command's bytes from the better of two counts.

        Args:
            counted: counts of the kernel's tracepoints, or why there are none.
            written: counts in /proc/PID/io of the command's processes.
        """
        if isinstance(counted, str):
            reason = (
                f"{counted}, and wchar of /proc/PID/io holds pipes and other file systems too, but "
                "no asynchronous I/O and no stores to mapped files"
            )
            return Application(written.calls_bytes, PROCESS_COUNTERS, reason)
        if counted.has_unseen_writes:
            reason = "files were changed by calls whose bytes no tracepoint of this kernel counts"
            return Application(None, TRACEPOINTS, reason)
        if counted.mapped_bytes > _MOST_MAPPED_SHARE * counted.written_bytes:
            reason = (
                "the command stored to mapped files, and nothing counts those bytes: "
                f"{counted.mapped_folios:,} folios (at most {counted.mapped_bytes:,} bytes) became "
                f"dirty by it, and {counted.written_bytes:,} bytes were passed to write()"
            )
            return Application(None, TRACEPOINTS, reason)
        return Application(counted.written_bytes, TRACEPOINTS)


@dataclass(frozen=True)
class Layers:
    """Bytes that each layer wrote to the one below it.

    `application` is what the command passed to write() and its like, on files of the drive with the
    method "tracepoints" and on anything with "wchar"; None without a command, and where `unknown`
    says why. `file_system` is what reached the block device, `device` what the drive's host asked
    to write, and `flash` what was programmed.
    """

    application: int | None
    file_system: int
    device: int
    flash: int
    method: str | None = TRACEPOINTS
    """How `application` was counted; None without a command."""
    unknown: str | None = None
    """Why the bytes passed to write() for the drive's files are unknown; None if they are known."""

    @staticmethod
    def of(application: Application | None, *, file_system: int, device: int, flash: int) -> Layers:
        """Return the layers; `application` is what the command wrote, if there was one."""
        if application is None:
            return Layers(None, file_system, device, flash, method=None)
        return Layers(
            application.size_bytes,
            file_system,
            device,
            flash,
            application.method,
            application.unknown,
        )

    @property
    def application_storage(self) -> None:
        """Bytes of pages that the command changed: always None, as no counter has them."""
        return

    def bytes_by_layer(self) -> dict[str, int]:
        """Return the bytes of each layer that is known, from the top."""
        found = {name: getattr(self, name) for name in LAYERS}
        if self.unknown is not None:
            del found["application"]
        return {name: size for name, size in found.items() if size is not None}

    def factors(self) -> dict[str, float | None]:
        """Return the factor of each layer over the one above; their product is the whole.

        None where the layer above wrote nothing, or its bytes are unknown.
        """
        sizes = list(self.bytes_by_layer().items())
        found: dict[str, float | None] = {} if self.unknown is None else {"file_system": None}
        return found | {
            lower: below / above if above else None
            for (_, above), (lower, below) in pairwise(sizes)
        }

    def whole(self) -> float | None:
        """Return flash bytes for each byte of the uppermost layer; None if those are unknown."""
        top = next(iter(self.bytes_by_layer().values()))
        return self.flash / top if top and self.unknown is None else None

    def cells(self) -> list[list[str]]:
        """Return the cells of a table: each layer in words, its bytes and its factor."""
        factors = self.factors()
        rows = [
            [_WORDS[name], f"{size:,}", _factor(factors[name]) if name in factors else ""]
            for name, size in self.bytes_by_layer().items()
        ]
        if self.unknown is not None:
            size = "unknown" if self.application is None else f"{self.application:,}"
            where = "" if self.application is None else ", pipes too"
            rows.insert(0, [_WORDS["application"] + where, size, ""])
        return [*rows, ["in all", "", _factor(self.whole())]]

    def notes(self) -> list[str]:
        """Return a note if the application's bytes are unknown."""
        return [] if self.unknown is None else [f"no factor of the application: {self.unknown}"]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON types."""
        return {
            "application_bytes": self.application,
            "application_storage_bytes": self.application_storage,
            "application_method": self.method,
            "file_system_bytes": self.file_system,
            "device_bytes": self.device,
            "flash_bytes": self.flash,
            "factors": self.factors(),
            "unknown": self._reasons(),
        }

    def _reasons(self) -> dict[str, str]:
        """Return why each key is null."""
        reasons = {"application_storage_bytes": _STORAGE_REASON}
        if self.method is None:
            return reasons | {"application_bytes": "there was no command"}
        if self.unknown is None:
            return reasons
        key = "application_bytes" if self.application is None else "factors.file_system"
        return reasons | {key: self.unknown}


def _factor(factor: float | None) -> str:
    return "–" if factor is None else f"× {factor:.4g}"
