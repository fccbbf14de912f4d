"""Serial numbers in documents of drives, replaced by hashes of them, and world-wide names."""

from __future__ import annotations

import re

from writeamp.text import hashed_serial

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


def without_serials(content: bytes) -> bytes:
    """Return a document in which the hash of each serial number stands for it."""
    for pattern in _SERIALS:
        content = pattern.sub(_hashed, content)
    return _WORLD_WIDE.sub(rb"\1{}", _IDENTITY.sub(b"", content))


def _hashed(found: re.Match[bytes]) -> bytes:
    hashed = hashed_serial(found[2].decode("utf-8", "replace"))
    return found[1] + (hashed or found[2].decode("utf-8", "replace")).encode()
