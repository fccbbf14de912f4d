"""SMART / Health Information (log 0x02): its keys in nvme-cli's JSON, and its data units."""

from __future__ import annotations

# Bytes of a data unit: 1000 sectors of 512 bytes (NVMe base specification).
DATA_UNIT_BYTES = 512_000

WRITTEN = "data_units_written"
PERCENT_USED = "percent_used"
POWER_ON_HOURS = "power_on_hours"


def data_units(size_bytes: int) -> int:
    """Return the data units that a drive reports for a number of bytes."""
    return -(-size_bytes // DATA_UNIT_BYTES)
