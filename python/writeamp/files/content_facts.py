"""Size and checksum of a file, and records of them in JSON beside the file."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from writeamp.errors import WriteampError
from writeamp.files import inputs, output

_CHUNK_BYTES = 2**20
_LARGEST_RECORD_BYTES = 2**20


@dataclass(frozen=True)
class ContentFacts:
    """Size and SHA-256 of a content; None if unknown."""

    size_bytes: int | None = None
    sha256: str | None = None

    def __str__(self) -> str:
        """Return the known facts as text for messages."""
        size = "" if self.size_bytes is None else f"{self.size_bytes:,} bytes"
        digest = "" if self.sha256 is None else f"sha256 {self.sha256}"
        return ", ".join(filter(None, (size, digest)))

    def allow(self, content: ContentFacts) -> bool:
        """Return whether a content has these facts, as far as they are known."""
        return self.size_bytes in (None, content.size_bytes) and self.sha256 in (
            None,
            content.sha256,
        )


def facts_of(path: Path, progress: Callable[[int, int], None] | None = None) -> ContentFacts:
    """Return size and checksum of a file.

    Raises:
        OSError: it cannot be read.
    """
    digest, done_bytes = hashlib.sha256(), 0
    with inputs.opened(path) as file:
        size_bytes = os.fstat(file.fileno()).st_size
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
            done_bytes += len(chunk)
            if progress is not None:
                progress(done_bytes, size_bytes)
    return ContentFacts(done_bytes, digest.hexdigest())


def read_record(path: Path) -> Mapping[str, Any]:
    """Return a JSON object that this program stored beside a file; empty if there is none."""
    try:
        record = json.loads(inputs.read_bytes(path, _LARGEST_RECORD_BYTES, "record"))
    except (OSError, ValueError, WriteampError):  # missing or damaged: as if never written
        return {}
    return record if isinstance(record, dict) else {}


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Store a JSON object beside a file.

    Raises:
        WriteampError: it cannot be written.
    """
    with output.replacing(path, "record") as file:
        file.write(json.dumps(record, indent=2).encode() + b"\n")
