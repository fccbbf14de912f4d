"""Keyword arguments of `blame`, made by `make generate`."""

from __future__ import annotations

from typing import TypedDict

from writeamp.devices.device import SizeLike
from writeamp.devices.times import ChangesLike
from writeamp.registry.specs import SpecLike
from writeamp.settings.settings import Repeat, Warmup
from writeamp.traces.words import Mapping
from writeamp.units.ratios import RatioLike


class BlameArguments(TypedDict, total=False):
    """Keyword arguments of `blame`."""

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

    trace_format: str | None
    """format of the trace; default: detected from its first rows. One of msr, spc, alibaba,
    tencent, mqsim, ssdsim, disksim, blkparse, iolog, systor, fiu, libcachesim, vscsi, blktrace,
    ftrace, biosnoop, xperf, parquet; or the meaning of its columns, as in
    columns:time=1:ms,device=2,offset=3:bytes,length=4:bytes,op=5:0=read/1=write."""

    action: str | None
    """event that counts as a request in blkparse, blktrace and ftrace, which have several per
    request: Q queued, D issued to the drive, C completed, or I inserted (ftrace only); default: Q,
    in ftrace the first of C, D, Q and I in the file."""

    repeat: Repeat
    """replay the trace, or run the fio jobs, N times; auto: a trace once, but a short trace until
    the WA of its passes agrees, and jobs until WA is steady (default auto)."""

    mapping: Mapping
    """compact: the pages that the trace writes (in timed runs, writes or reads) are numbered
    without gaps and are the logical space; as-is: addresses are kept (default compact)."""

    trace_device: str | None
    """replay only this device of the trace."""

    precondition: str
    """state of the drive at the start; these writes are not counted: full (each page written once,
    in order), workload (only the pages that the host will write), none, random (full, then random
    writes until WA is steady), random:N (full, then N drive writes of random writes) or aged:TRACE
    (full, then one pass over that trace) (default full)."""

    manager: SpecLike
    """block manager (default single)."""

    victims: SpecLike | None
    """victim policy (default: the manager's)."""

    wear_leveling: SpecLike | None
    """wear leveller (default none)."""

    time: float | str | None
    """end the run after this virtual time, such as 10s; the run is then timed."""

    timed: bool
    """simulate the time of every operation, and measure latencies; traces on a device that has
    times are timed without this option (default False)."""

    host_bytes: SizeLike | None
    """end when the host has written this many bytes after the fill; WA is then measured from the
    fill to the end, without a warm-up."""

    time_scale: RatioLike
    """multiply the arrival times of requests; 0.5 is twice as fast (default 1.0)."""

    seed: int
    """seed of all random numbers of a run (default 1)."""

    writes: int | None
    """host pages to write after the initial fill; by default until WA is steady and precise."""

    warmup: Warmup
    """host pages to write before WA is measured; auto: until WA has settled (default auto)."""

    precision: RatioLike
    """without writes, end a steady run when the half width of WA's 95% interval is at most this
    share of WA (default 0.0005)."""

    replicas: int
    """runs for the confidence interval and the test of steadiness; runs of a workload have
    different seeds (default 3)."""

    batch_pages: int
    """pages per call of the engine; affects speed, never the result (default 1024)."""
