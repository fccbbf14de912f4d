"""Paper 5: the four-level model of write amplification and its Ready/Busy signals."""

from __future__ import annotations

from writeamp_papers.four_level.choices import READINGS
from writeamp_papers.paper import Paper, late_part

_PARTS = ("tables", "verification", "steady", "partitions", "oltp")

PAPER = Paper(
    name="four-level",
    citation="Sun, Qin, Wu, Xie: Measuring and Analyzing Write Amplification Characteristics of "
    "Solid State Disks (MASCOTS 2013)",
    summary="WA from Ready/Busy pins beside the drive's own count, in micro-benchmarks, partitions "
    "and the traces F1 and F2",
    parts=tuple(late_part(f"writeamp_papers.four_level.{name}") for name in _PARTS),
    readings=READINGS,
)
