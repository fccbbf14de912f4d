"""Serial numbers in documents of drives, replaced by hashes of them."""

from __future__ import annotations

import re

from writeamp.measure.counters.facts import hashed_serial

# Keys of smartctl's and nvme-cli's JSON, and the line of smartctl's text.
_SERIALS = (
    re.compile(rb'("(?:serial_number|sn|SerialNumber)"\s*:\s*")([^"\\]*)(?=")'),
    re.compile(rb"(?m)(^Serial [Nn]umber:[ \t]*)(\S[^\r\n]*?)(?=[ \t]*\r?$)"),
)


def without_serials(content: bytes) -> bytes:
    """Return a document in which the hash of each serial number stands for it."""
    for pattern in _SERIALS:
        content = pattern.sub(_hashed, content)
    return content


def _hashed(found: re.Match[bytes]) -> bytes:
    hashed = hashed_serial(found[2].decode("utf-8", "replace"))
    return found[1] + (hashed or found[2].decode("utf-8", "replace")).encode()
