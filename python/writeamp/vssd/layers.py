"""Write amplification by layer, from an application down to the flash."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from writeamp.machine.command import ProcessWrites
from writeamp.vssd.write_counter import WriteCounts

LAYERS = ("application", "file_system", "device", "flash")
_WORDS = {
    "application": "passed to write()",
    "file_system": "file system wrote",
    "device": "host wrote",
    "flash": "flash programmed",
}
TRACEPOINTS, PROCESS_COUNTERS = "tracepoints", "wchar"

# Stores to mapped files are not counted as bytes of the application. If their bytes are above this
# share of the bytes passed to write(), the layers below include too many bytes that did not pass
# through write(), and the application's bytes are unknown.
_MOST_MAPPED_SHARE = 0.01
_STORAGE_REASON = (
    "write_bytes of /proc/PID/io counts whole folios of the page cache, of up to 2 MiB, and "
    "metadata, so it does not give the bytes of pages that the command changed"
)


@dataclass(frozen=True)
class Application:
    """Bytes that a command passed to write() and similar calls, and how they were counted.

    `unknown` is the reason why the bytes are unknown or include other files, or None.
    """

    size_bytes: int | None
    method: str
    unknown: str | None = None

    @staticmethod
    def of(counted: WriteCounts | str, written: ProcessWrites) -> Application:
        """Return a command's bytes by tracepoints, or by /proc if tracepoints cannot be used.

        If tracepoints missed writes, the bytes are None.

        Args:
            counted: counts of the kernel's tracepoints, or the reason why they are missing.
            written: counts in /proc/PID/io of the command's processes.
        """
        if isinstance(counted, str):
            reason = (
                f"{counted}, and wchar of /proc/PID/io includes pipes and other file systems, but "
                "excludes asynchronous I/O and stores to mapped files"
            )
            return Application(written.calls_bytes, PROCESS_COUNTERS, reason)
        if counted.has_unseen_writes:
            reason = "files were changed by calls that this kernel's tracepoints do not count"
            return Application(None, TRACEPOINTS, reason)
        if counted.mapped_bytes > _MOST_MAPPED_SHARE * counted.written_bytes:
            reason = (
                "the command stored to mapped files, and the bytes of these stores cannot be "
                f"counted: they changed {counted.mapped_folios:,} folios of the page cache (at "
                f"most {counted.mapped_bytes:,} bytes), and {counted.written_bytes:,} bytes were "
                "passed to write()"
            )
            return Application(None, TRACEPOINTS, reason)
        return Application(counted.written_bytes, TRACEPOINTS)


@dataclass(frozen=True)
class Layers:
    """Bytes that each layer (application, file system, device) wrote to the layer below it.

    `application` is the number of bytes that the command passed to write() and similar calls: on
    the drive's files with the method "tracepoints", on all files with "wchar". It is None without a
    command, or if tracepoints missed writes. `file_system` is the bytes that reached the block
    device, `device` the bytes that the host wrote to the drive, and `flash` the bytes programmed.
    """

    application: int | None
    file_system: int
    device: int
    flash: int
    method: str | None = TRACEPOINTS
    """How `application` was counted; None without a command."""
    unknown: str | None = None
    """Why the bytes passed to write() for the drive's files are unknown, or None."""

    @staticmethod
    def of(application: Application | None, *, file_system: int, device: int, flash: int) -> Layers:
        """Return the layers; `application` has the bytes of the command, if there was one."""
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
        """Return the bytes of each layer whose bytes are known, from the top."""
        sizes = {name: getattr(self, name) for name in LAYERS}
        if self.unknown is not None:
            del sizes["application"]
        return {name: size for name, size in sizes.items() if size is not None}

    def factors(self) -> dict[str, float | None]:
        """Return bytes of each layer / bytes of the layer above; their product is `whole()`.

        A ratio is None if the layer above wrote no bytes, or its bytes are unknown.
        """
        sizes = list(self.bytes_by_layer().items())
        ratios: dict[str, float | None] = {} if self.unknown is None else {"file_system": None}
        return ratios | {
            lower: below / above if above else None
            for (_, above), (lower, below) in pairwise(sizes)
        }

    def whole(self) -> float | None:
        """Return flash bytes / bytes of the top layer; None if the latter are unknown."""
        top = next(iter(self.bytes_by_layer().values()))
        return self.flash / top if top and self.unknown is None else None

    def cells(self) -> list[list[str]]:
        """Return table rows: each layer, its bytes, and its bytes / bytes of the layer above."""
        factors = self.factors()
        rows = [
            [_WORDS[name], f"{size:,}", _factor(factors[name]) if name in factors else ""]
            for name, size in self.bytes_by_layer().items()
        ]
        if self.unknown is not None:
            size = "unknown" if self.application is None else f"{self.application:,}"
            where = "" if self.application is None else " (any file or pipe)"
            rows.insert(0, [_WORDS["application"] + where, size, ""])
        whole = self.whole()
        if whole is not None:
            top = next(iter(self.bytes_by_layer()))
            rows.append([f"flash programmed / {_WORDS[top]}", "", _factor(whole)])
        return rows

    def notes(self) -> list[str]:
        """Return a note if the application's bytes are unknown."""
        return (
            []
            if self.unknown is None
            else [f"the ratio of file system to application bytes is unknown: {self.unknown}"]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the layers as JSON types."""
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
        """Return the reason for each key of `to_dict` that is None."""
        reasons = {"application_storage_bytes": _STORAGE_REASON}
        if self.method is None:
            return reasons | {"application_bytes": "no command was run"}
        if self.unknown is None:
            return reasons
        key = "application_bytes" if self.application is None else "factors.file_system"
        return reasons | {key: self.unknown}


def _factor(factor: float | None) -> str:
    return "–" if factor is None else f"× {factor:.4g}"
