"""Plan of a chain for who measures by hand: a fio job, when to read counters, what it costs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from writeamp.devices.device import device
from writeamp.devices.profile import profile_names
from writeamp.errors import WriteampError
from writeamp.twin.chain import Chain, Phase

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
        WriteampError: there is no such profile, file or block device.
    """
    if target in profile_names() or target.endswith(".toml"):
        return device(target).capacity_bytes
    try:
        with Path(target).open("rb") as file:
            return file.seek(0, os.SEEK_END)
    except OSError as error:
        raise WriteampError(
            f"cannot tell the capacity of {target}: {error.strerror}; give --capacity"
        ) from None


def fio_jobs(chain: Chain) -> str:
    """Return a fio job file: the fill, then a section for each window, to be run one by one."""
    lines = [
        "# Run each section by itself, in order and without pauses: fio --section=NAME chain.fio",
        "# Read the counters of host and flash bytes before the first one and after each.",
        "[global]",
        "filename=/dev/THE_DRIVE",
        f"size={chain.capacity_bytes}",
        f"bs={chain.page_bytes}",
        "direct=1",
        "ioengine=libaio",
        "iodepth=32",
        "norandommap=1",
        "randrepeat=0",
        "group_reporting=1",
        "",
        "[fill]",
        "rw=write",
        "bs=1M",
        "",
    ]
    window = 0
    for phase in chain.phases:
        start = 0.0
        for end in phase.ends:
            window += 1
            io_bytes = round((end - start) * chain.logical_pages) * chain.page_bytes
            lines += _section(f"window-{window}", phase, io_bytes, chain)
            start = end
    return "\n".join(lines)


def _section(name: str, phase: Phase, io_bytes: int, chain: Chain) -> list[str]:
    """Return the section of a window; two streams beside each other are two with one name."""
    half = chain.capacity_bytes // 2
    found = _FIO.get(phase.workload)
    if found is not None:
        return [f"[{name}]", "rw=randwrite", found, f"io_size={io_bytes}", ""]
    if phase.workload.startswith("random(bs="):
        size = phase.workload.removeprefix("random(bs=").removesuffix(")")
        return [f"[{name}]", "rw=randwrite", f"bs={size}", f"io_size={io_bytes}", ""]
    if phase.workload == "mix(sizes=1/1,weights=1/1,of=uniform/sequential)":
        share = f"io_size={io_bytes // 2}"
        return [
            f"[{name}]",
            "rw=randwrite",
            f"size={half}",
            "flow=1",
            share,
            "",
            f"[{name}]",
            "rw=write",
            f"offset={half}",
            f"size={half}",
            "flow=1",
            share,
            "",
        ]
    return [f"[{name}]", f"# no fio job writes {phase.workload}; io_size={io_bytes}", ""]


# What fio calls the workloads of a chain: its zones are shares of accesses and of the space.
_FIO = {
    "uniform": "random_distribution=random",
    "mix(sizes=1/4/15/80,weights=35/30/20/15)": ("random_distribution=zoned:35/1:30/4:20/15:15/80"),
    "hot-cold(f=0.1,r=0.9)": "random_distribution=zoned:90/10:10/90",
    "mix(sizes=1/4,weights=1/0)": "random_distribution=zoned:100/20:0/80",
    "hot-cold(f=0.5,r=0.9)": "random_distribution=zoned:90/50:10/50",
}


def _steps(chain: Chain) -> list[str]:
    return [
        "discard the whole drive: blkdiscard /dev/THE_DRIVE",
        "read host and flash bytes written; run [fill]; read them again: the first window",
        f"run [window-1] to [window-{chain.windows}] in order without pauses, and read them after "
        "each",
        "write windows.csv: host_bytes,flash_bytes of each, and a line for each window",
        "writeamp twin measure --plan PLAN.toml --windows windows.csv --out windows.parquet",
    ]
