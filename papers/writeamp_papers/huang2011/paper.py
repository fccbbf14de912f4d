"""Huang, Li, Szalay and Terzis 2011, on models of flash-based storage (paper 2).

"Performance modeling and analysis of flash-based storage devices", MSST 2011.
"""

from __future__ import annotations

from writeamp_papers.huang2011.devices import DEVICES
from writeamp_papers.huang2011.readings import READINGS
from writeamp_papers.paper import Paper, late_part

_ROOM = "writeamp_papers.huang2011"

# Each device's tables are finished before the next device is measured, so that an interruption
# keeps them. Statements that compare devices follow.
PAPER = Paper(
    name="huang2011",
    citation="Huang, Li, Szalay and Terzis, Performance modeling and analysis of flash-based "
    "storage devices (MSST 2011)",
    summary="performance models of a disk, three flash drives and an array, fitted on grids of "
    "workloads and on traces",
    parts=(
        late_part(f"{_ROOM}.specification", "profiles"),
        *(late_part(f"{_ROOM}.tables", "of_device", device) for device in DEVICES),
        late_part(f"{_ROOM}.specification", "speeds"),
        late_part(f"{_ROOM}.curves"),
        late_part(f"{_ROOM}.statements"),
        late_part(f"{_ROOM}.traces"),
    ),
    readings=READINGS,
    uses_traces=True,
)
