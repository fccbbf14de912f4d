"""The four-level model of write amplification and its Ready/Busy signals (paper 5)."""

from __future__ import annotations

from writeamp.reproduce.bench import Paper
from writeamp.reproduce.four_level import micro, oltp, tables, verification, walvd

PARTS = (
    tables.run,
    verification.run,
    micro.run,
    walvd.run,
    oltp.run,
)

PAPER = Paper(
    name="four-level",
    citation="A four-level model of write amplification by Ready/Busy signals (paper 5)",
    summary="Ready/Busy pins against the drive's own count, micro-benchmarks, partitions, F1 and F2",
    parts=PARTS,
)
