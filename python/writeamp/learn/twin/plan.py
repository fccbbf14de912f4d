"""Plan of a chain for who measures by hand: a fio job, when to read counters, what it costs."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from writeamp.devices.device import device
from writeamp.devices.profile import profile_names
from writeamp.errors import WriteampError
from writeamp.learn.twin.chain import Chain
from writeamp.learn.twin.fio_jobs import fio_jobs

_SECONDS_PER_HOUR = 3600


def plan_tables(chain: Chain, *, write_mb_s: float, rated_tbw: float | None) -> dict[str, Any]:
    """Return the tables of a plan beside the chain.

    Args:
        chain: what the drive serves.
        write_mb_s: bandwidth of its random writes, in 10^6 bytes a second.
        rated_tbw: its rated endurance in 10^12 bytes written.
    """
    written = chain.written_bytes
    cost = {
        "host_bytes": float(written),
        "drive_writes": written / chain.capacity_bytes,
        "hours": written / (write_mb_s * 1e6) / _SECONDS_PER_HOUR,
    }
    if rated_tbw is not None:
        cost["share_of_rated_endurance"] = written / (rated_tbw * 1e12)
    return {"cost": cost, "by_hand": {"steps": _steps(chain), "fio": fio_jobs(chain)}}


def capacity_of(target: str) -> int:
    """Return the bytes that the host of a target sees.

    Raises:
        WriteampError: there is no such profile, file or block device, or it is no flash drive.
    """
    if target in profile_names() or target.endswith(".toml"):
        profile = device(target)
        profile.check_flash()
        return profile.capacity_bytes
    try:
        mode = os.stat(target).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISBLK(mode)):
            raise WriteampError(f"{target} is neither a file nor a block device")
        with Path(target).open("rb") as file:
            return file.seek(0, os.SEEK_END)
    except OSError as error:
        raise WriteampError(
            f"cannot tell the capacity of {target}: {error.strerror}; give --capacity"
        ) from None


def _steps(chain: Chain) -> list[str]:
    return [
        "discard the whole drive: blkdiscard /dev/THE_DRIVE",
        "read host and flash bytes written; run [fill]; read them again: the first window",
        f"run [window-1] to [window-{chain.windows}] in order without pauses, and read them after "
        "each",
        "write windows.csv: host_bytes,flash_bytes of each, and a line for each window",
        "writeamp twin measure --plan PLAN.toml --windows windows.csv --out windows.parquet",
    ]
