"""Keyword arguments of `VirtualSsd`, made by `make generate`."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from writeamp.devices.device import SizeLike
from writeamp.devices.times import ChangesLike
from writeamp.registry.specs import SpecLike
from writeamp.units.ratios import RatioLike


class ServeArguments(TypedDict, total=False):
    """Keyword arguments of `VirtualSsd`."""

    size: SizeLike | None
    """logical size, such as 16GiB or 16G (2^30), or 16GB (10^9): the profile is shrunk to this size
    at the same op."""

    blocks: int | None
    """physical size in erase blocks."""

    logical_blocks: int | None
    """logical size in erase blocks."""

    logical_pages: int | None
    """logical size in pages."""

    pages_per_block: int | None
    """pages of an erase block."""

    page_bytes: SizeLike | None
    """page size, such as 4K."""

    mapping_unit: SizeLike | None
    """unit of the drive's map, such as 16KiB, a multiple of the page: a write of less programs a
    whole unit, by read-modify-write (default: the page)."""

    op: RatioLike | None
    """over-provisioning ratio (T-U)/U of a drive with T physical and U logical pages, such as 0.15
    or 15%."""

    fill: RatioLike | None
    """fill U/T = 1/(1+op), the share of the physical pages that the host sees; an alternative to
    op."""

    spare_factor: RatioLike | None
    """spare factor (T-U)/T = op/(1+op), the share of the physical pages that is spare; an
    alternative to op."""

    layout: str | None
    """how write frontiers and collection are spread over the LUNs (dies): flat, striped, striped-
    per-lun, static (default: that of the profile)."""

    write_cache: SizeLike | None
    """size of the write cache in memory, or off for none (default: that of the profile)."""

    map_cache: SizeLike | None
    """memory for the mapping table, whose rest is on flash; all: the whole table is in memory
    (default: that of the profile)."""

    set: ChangesLike | None
    """change a value of the profile's tables, such as timing.read_us=50 or
    timing.program_us=[300,1500]; may be given several times."""

    manager: SpecLike
    """block manager (default single)."""

    victims: SpecLike | None
    """victim policy (default: the manager's)."""

    wear_leveling: SpecLike | None
    """wear leveller (default none)."""

    socket: str | Path | None
    """Unix socket at which NBD clients connect; default: one in a private folder. SOCKET.control
    serves the counters."""

    backing: str | Path | None
    """keep the drive's data in this sparse file, and the state of its flash in FILE.flash and
    FILE.journal-N: after a stop or kill, a start with the same options continues; default: all is
    in memory."""

    mount: str | Path | None
    """mount the drive with a new file system at this folder; needs root. The file system of a kept
    drive is preserved."""

    fs: str | None
    """file system for mount: ext4, xfs, btrfs. On a preconditioned drive it is created without
    discard, which would undo the preconditioning (default ext4)."""

    precondition: str
    """initial state of a new drive, whose writes are in counters but not in the result: none (as
    sold), full (each page written once, in order), random (full, then aged by random writes until
    WA is steady), random:N (full, then N drive writes of random writes) or aged:TRACE (full, then
    one pass over that trace) (default none)."""

    seed: int
    """seed of all random numbers of the drive, its policies and its preconditioning (default 1)."""

    count_from: str
    """when counting begins; start: when the server starts; command: when the command of run starts,
    after mkfs and mount (default command)."""

    record: str | Path | None
    """write every request, from the start of the server, to this Parquet trace, which simulate
    replays exactly; with mount also its process and file, for blame."""

    counters: str | Path | None
    """write the drive's logs to this folder, refreshed once a second: smart.json, ocp.json and
    fdp.json in nvme-cli's format."""

    metrics: str | None
    """serve Prometheus metrics at this loopback address, such as 127.0.0.1:9105, or unix:PATH."""

    timed: bool
    """answer requests at the drive's speed instead of full speed (default False)."""

    time_scale: RatioLike | None
    """host seconds per second of the drive: 10 is ten times slower, which lets slow computers keep
    up; the drive is then timed."""

    rb_capture: str | Path | None
    """write the Ready/Busy pins of all dies to this .vcd file; the drive is then timed."""
