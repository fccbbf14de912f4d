"""The four-level model of write amplification and its Ready/Busy signals (paper 5)."""

from __future__ import annotations

from writeamp.reproduce.bench import Paper
from writeamp.reproduce.four_level import oltp, steady, tables, verification, walvd
from writeamp.reproduce.four_level.choices import READINGS

PARTS = (tables.run, verification.run, steady.run, walvd.run, oltp.run)

PAPER = Paper(
    name="four-level",
    citation="A four-level model of write amplification by Ready/Busy signals (paper 5)",
    summary="Ready/Busy pins against the drive's own count, partitions, F1 and F2",
    parts=PARTS,
    readings=READINGS,
)
