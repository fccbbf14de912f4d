"""Plan of a chain for who measures by hand: fio jobs, when to read counters, what it costs."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from writeamp.devices.device import device
from writeamp.devices.profile import profile_names
from writeamp.errors import WriteampError
from writeamp.learn.twin.chain import Chain

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


# Where a person writes the drive's name.
BY_HAND = ("filename=/dev/THE_DRIVE", "ioengine=libaio", "direct=1")
FILL = "fill"

_FILL_BYTES = 1 << 20
# Draws of sections are of seeds so far apart, as those of other chains are.
_SEEDS = 1000
_BESIDE = "mix(sizes=1/1,weights=1/1,of=uniform/sequential)"
# What fio calls the workloads of a chain: its zones are shares of accesses and of the space.
_FIO = {
    "uniform": "random_distribution=random",
    "mix(sizes=1/4/15/80,weights=35/30/20/15)": "random_distribution=zoned:35/1:30/4:20/15:15/80",
    "hot-cold(f=0.1,r=0.9)": "random_distribution=zoned:90/10:10/90",
    "mix(sizes=1/4,weights=1/0)": "random_distribution=zoned:100/20:0/80",
    "hot-cold(f=0.5,r=0.9)": "random_distribution=zoned:90/50:10/50",
}


def fio_jobs(
    chain: Chain, place: Sequence[str] = BY_HAND, *, fine: bool = False, seed: int = 1
) -> str:
    """Return a fio job file whose sections are run one by one: fio --section=NAME FILE.

    Args:
        chain: what they write.
        place: the options that say where.
        fine: a section for each part of a window, as `Chain.parts` gives them.
        seed: decides fio's draws; each section has draws of its own.
    """
    lines = [
        "# Run each section by itself, in order and without pauses: fio --section=NAME chain.fio",
        "# Read the counters of host and flash bytes before the first one and after each.",
        "[global]",
        *place,
        f"size={chain.capacity_bytes}",
        f"bs={chain.page_bytes}",
        "iodepth=32",
        "norandommap=1",
        # Without it fio 3.33 writes the same addresses whatever the seed is (its issue 1502).
        "randrepeat=0",
        "random_generator=tausworthe64",
        "end_fsync=1",
        "thread=1",
        "group_reporting=1",
        "",
        *_fill(chain),
    ]
    for at, cut in enumerate(_cuts(chain, fine=fine)):
        streams = _streams(chain, cut)
        for stream in streams:
            lines += [f"[{cut.name}]", *stream, f"randseed={_SEEDS * seed + at}", ""]
        if not streams:
            io_size = f"io_size={cut.pages * chain.page_bytes}"
            workload = chain.phases[cut.phase].workload
            lines += [f"[{cut.name}]", f"# no fio job writes {workload}; {io_size}", ""]
    return "\n".join(lines)


def section_names(chain: Chain) -> list[str]:
    """Return the names of the sections of all parts, in order, without the fill."""
    return [cut.name for cut in _cuts(chain, fine=True)]


def unwritten(chain: Chain) -> list[str]:
    """Return the workloads of a chain that no fio job writes."""
    without = [cut.phase for cut in _cuts(chain, fine=False) if not _streams(chain, cut)]
    return list(dict.fromkeys(chain.phases[phase].workload for phase in without))


class _Cut(NamedTuple):
    """A window or a part of one: where in its phase it begins, and the pages that it writes."""

    name: str
    phase: int
    begin_pages: int
    pages: int


def _cuts(chain: Chain, *, fine: bool) -> Iterator[_Cut]:
    parts = list(chain.parts(chain.logical_pages, fine=fine))
    of_window = Counter(part.window for part in parts)
    seen: Counter[int] = Counter()
    phase, phase_begin, begin = 0, 0, 0
    for part in parts:
        if part.phase != phase:
            phase, phase_begin = part.phase, begin
        seen[part.window] += 1
        name = f"window-{part.window + 1}"
        if of_window[part.window] > 1:
            name += f"-part-{seen[part.window]}"
        yield _Cut(name, phase, begin - phase_begin, part.end_pages - begin)
        begin = part.end_pages


def _fill(chain: Chain) -> list[str]:
    """Return the fill in order, the last bytes in a job of their own: fio writes whole requests."""
    whole = chain.capacity_bytes // _FILL_BYTES * _FILL_BYTES
    rest = chain.capacity_bytes - whole
    lines = [f"[{FILL}]", "rw=write", "bs=1M", f"size={whole}", ""] if whole else []
    if rest:
        lines += [f"[{FILL}]", "rw=write", f"offset={whole}", f"size={rest}", ""]
    return lines


def _streams(chain: Chain, cut: _Cut) -> list[list[str]]:
    """Return the streams of a cut, which are written beside each other; none if fio has none."""
    workload, page = chain.phases[cut.phase].workload, chain.page_bytes
    found = _FIO.get(workload)
    if found is not None:
        return [["rw=randwrite", found, f"io_size={cut.pages * page}"]]
    if workload.startswith("random(bs="):
        size = workload.removeprefix("random(bs=").removesuffix(")")
        return [["rw=randwrite", f"bs={size}", f"io_size={cut.pages * page}"]]
    half, before, own = chain.logical_pages // 2, cut.begin_pages // 2, cut.pages // 2
    if workload != _BESIDE or before + own > half:
        return []
    # The sequential stream goes on where the cut before left it. Deeper queues would make bursts of
    # each stream, which lie together in a small erase unit.
    together = ["flow=1", "iodepth=1"]
    return [
        [
            "rw=randwrite",
            f"size={half * page}",
            f"io_size={(cut.pages - own) * page}",
            *together,
        ],
        [
            "rw=write",
            f"offset={(half + before) * page}",
            f"size={(half - before) * page}",
            f"io_size={own * page}",
            *together,
        ],
    ]
