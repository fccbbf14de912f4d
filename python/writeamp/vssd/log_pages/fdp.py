"""FDP statistics (log 0x22): their keys in nvme-cli's JSON. All count bytes."""

from __future__ import annotations

HOST_WRITTEN = "hbmw"
MEDIA_WRITTEN = "mbmw"
MEDIA_ERASED = "mbe"
