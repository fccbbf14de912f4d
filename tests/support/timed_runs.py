"""Runs in virtual time, and a small profile for them."""

from __future__ import annotations

from typing import Any

import writeamp as wa

# A drive of 4 dies whose times are round and do not scatter, without caches.
PROFILE = """
timed = true
[geometry]
channels = 2
chips_per_channel = 2
blocks_per_plane = 48
pages_per_block = 32
[management]
op = 0.25
layout = "striped-per-lun"
[timing]
read_us = 50
program_us = 900
erase_us = 2000
[host]
depth = 64
"""


def timed(device: str, workload: str, **settings: Any) -> wa.TimedResult:
    """Return the result of a run, which must be timed."""
    found = wa.simulate(device, workload, **settings)
    assert isinstance(found, wa.TimedResult)
    return found
