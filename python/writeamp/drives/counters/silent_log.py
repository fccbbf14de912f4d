"""SMART logs of zeros, as drives and bridges answer that do not report one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from writeamp.drives.counters.printed import count_of

# Keys of nvme-cli and smartctl. A drive in use has some that are not 0, and so has a new one.
SIGNS_OF_LIFE = (
    "avail_spare", "available_spare", "data_units_read", "data_units_written",
    "host_read_commands", "host_reads", "host_write_commands", "host_writes",
    "controller_busy_time", "power_cycles", "power_on_hours", "unsafe_shutdowns",
)  # fmt: skip


def percentage_used(
    value: float | None, others: Iterable[Any]
) -> tuple[float | None, tuple[str, ...]]:
    """Return the percentage used, or the note that says why a 0 is none.

    Args:
        value: as it is printed.
        others: values of the same log under `SIGNS_OF_LIFE`.
    """
    counts = [count_of(one) for one in others]
    if value == 0 and not any(one is not None and one.high for one in counts):
        return None, ("percentage used is 0 as all other counts of the log are: not reported",)
    return value, ()
