"""Plan of a chain for measuring by hand: fio jobs, when to read counters, bytes and hours."""

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
    """Return the tables of a plan file (cost, and steps by hand), without those of the chain.

    Args:
        chain: the chain of the plan.
        write_mb_s: bandwidth of random writes of the drive, in 10^6 bytes per second.
        rated_tbw: rated endurance of the drive (TBW), in 10^12 bytes written.
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
    """Return the capacity of a target, in bytes.

    Raises:
        WriteampError: the profile, file or block device does not exist, or is not a flash drive.
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
            f"cannot read the capacity of {target}: {error.strerror}; give --capacity"
        ) from None


def _steps(chain: Chain) -> list[str]:
    return [
        "discard the whole drive: blkdiscard /dev/THE_DRIVE",
        "read the counters of host and flash bytes; run [fill] of chain.fio; read the counters "
        "again",
        f"run [window-1] to [window-{chain.windows}] in order without pauses, and read the "
        "counters after each",
        "write windows.csv: the header host_bytes,flash_bytes, a line for the fill, and a line for "
        "each window, with the increase of both counters in bytes",
        "writeamp twin measure --plan PLAN.toml --windows windows.csv --out windows.parquet",
    ]


# Options of fio for a manual run; the user fills in the drive's name.
BY_HAND = ("filename=/dev/THE_DRIVE", "ioengine=libaio", "direct=1")
FILL = "fill"

_FILL_BYTES = 1 << 20
# Distance between the first fio seeds of two chains whose own seeds differ by 1. Each section uses
# one of the fio seeds in between, so sections of different chains have different draws.
_SEEDS = 1000
_BESIDE = "mix(sizes=1/1,weights=1/1,of=uniform/sequential)"
# Options of fio for the workloads of a chain. A zone is a pair in percent: its share of the
# accesses, and its share of the space.
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
    """Return a fio job file with sections to run one by one: fio --section=NAME FILE.

    Args:
        chain: the chain that the sections write.
        place: the options of fio that name the target.
        fine: a section for each part of a window, as in `Chain.parts`.
        seed: seed of fio's draws; each section has draws of its own.
    """
    lines = [
        "# Run each section by itself, in order and without pauses: fio --section=NAME chain.fio",
        "# Read the counters of host and flash bytes before the first section and after each one.",
        "[global]",
        *place,
        f"size={chain.capacity_bytes}",
        f"bs={chain.page_bytes}",
        "iodepth=32",
        "norandommap=1",
        # Without this option, fio 3.33 ignores the seed and repeats the addresses (fio issue 1502).
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
            io_size = f"{cut.pages * chain.page_bytes} bytes"
            workload = chain.phases[cut.phase].workload
            cannot = f"# fio cannot write {workload}: write {io_size} of it by another program"
            lines += [f"[{cut.name}]", cannot, ""]
    return "\n".join(lines)


def section_names(chain: Chain) -> list[str]:
    """Return the names of the sections of all parts, in order, without the fill."""
    return [cut.name for cut in _cuts(chain, fine=True)]


def unwritten(chain: Chain) -> list[str]:
    """Return the workloads of a chain that fio cannot write."""
    without = [cut.phase for cut in _cuts(chain, fine=False) if not _streams(chain, cut)]
    return list(dict.fromkeys(chain.phases[phase].workload for phase in without))


class _Cut(NamedTuple):
    """A window or a part of it.

    `begin_pages` is the number of pages that its phase wrote before it; `pages` is the number of
    pages that it writes.
    """

    name: str
    phase: int
    begin_pages: int
    pages: int


def _cuts(chain: Chain, *, fine: bool) -> Iterator[_Cut]:
    parts = list(chain.parts(chain.logical_pages, fine=fine))
    of_window = Counter(span.window for span in parts)
    seen: Counter[int] = Counter()
    phase, phase_begin, begin = 0, 0, 0
    for span in parts:
        if span.phase != phase:
            phase, phase_begin = span.phase, begin
        seen[span.window] += 1
        name = f"window-{span.window + 1}"
        if of_window[span.window] > 1:
            name += f"-part-{seen[span.window]}"
        yield _Cut(name, phase, begin - phase_begin, span.end_pages - begin)
        begin = span.end_pages


def _fill(chain: Chain) -> list[str]:
    """Return the sequential fill; bytes after the last whole request are a separate job."""
    whole = chain.capacity_bytes // _FILL_BYTES * _FILL_BYTES
    rest = chain.capacity_bytes - whole
    lines = [f"[{FILL}]", "rw=write", "bs=1M", f"size={whole}", ""] if whole else []
    if rest:
        lines += [f"[{FILL}]", "rw=write", f"offset={whole}", f"size={rest}", ""]
    return lines


def _streams(chain: Chain, cut: _Cut) -> list[list[str]]:
    """Return fio's options for each parallel stream of a cut; empty if fio cannot write it."""
    workload, page = chain.phases[cut.phase].workload, chain.page_bytes
    distribution = _FIO.get(workload)
    if distribution is not None:
        return [["rw=randwrite", distribution, f"io_size={cut.pages * page}"]]
    if workload.startswith("random(bs="):
        size = workload.removeprefix("random(bs=").removesuffix(")")
        return [["rw=randwrite", f"bs={size}", f"io_size={cut.pages * page}"]]
    half, begin, own = chain.logical_pages // 2, cut.begin_pages // 2, cut.pages // 2
    if workload != _BESIDE or begin + own > half:
        return []
    # The sequential stream continues where the previous section ended. The queue depth is 1: with
    # deeper queues, a stream's requests come in bursts, and a small erase unit would hold pages of
    # one stream only.
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
            f"offset={(half + begin) * page}",
            f"size={(half - begin) * page}",
            f"io_size={own * page}",
            *together,
        ],
    ]
