"""Keyword arguments of `simulate`, `compare` and `endurance`, made by `make generate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from writeamp.devices.device import SizeLike
from writeamp.devices.times import ChangesLike
from writeamp.registry.specs import SpecLike
from writeamp.settings.settings import Repeat, TraceLike, Warmup
from writeamp.traces.words import Mapping
from writeamp.units.ratios import RatioLike


class CommonArguments(TypedDict, total=False):
    """Keyword arguments of all three verbs."""

    size: SizeLike | None
    """bytes that the host sees, such as 16GiB or 16G (2^30), or 16GB (10^9): the profile is shrunk
    to it, at the same op."""

    capacity: SizeLike | None
    """bytes that the host sees, such as 1.92TB (10^12) or 1TiB (2^40), simulated by a smaller drive
    of the same op and blocks: the result states its size and the error of that (with size there is
    none)."""

    blocks: int | None
    """erase blocks in the drive."""

    logical_blocks: int | None
    """size that the host sees, in erase blocks."""

    logical_pages: int | None
    """the same in pages."""

    pages_per_block: int | None
    """pages of a flash block."""

    page_bytes: SizeLike | None
    """bytes of a page, such as 4K."""

    op: RatioLike | None
    """over-provisioning ratio (T-U)/U, T physical and U logical pages, such as 0.15 or 15%."""

    fill: RatioLike | None
    """fill U/T = 1/(1+op)."""

    spare_factor: RatioLike | None
    """spare factor (T-U)/T = op/(1+op)."""

    layout: str | None
    """how blocks are pooled: flat, striped, striped-per-lun, static."""

    write_cache: SizeLike | None
    """memory that writes are answered from."""

    map_cache: SizeLike | None
    """memory for the mapping table, or all for the whole table."""

    set: ChangesLike | None
    """replace a value of the profile's tables, such as timing.read_us=50 or
    timing.program_us=[300,1500]; may be given several times."""

    trace_format: str | None
    """format of the trace if it cannot be detected: msr, spc, alibaba, tencent, mqsim, ssdsim,
    disksim, blkparse, iolog, systor, fiu, libcachesim, vscsi, blktrace, ftrace, biosnoop, xperf,
    parquet; or what its columns mean, as in
    columns:time=1:ms,device=2,offset=3:bytes,length=4:bytes,op=5:0=read/1=write."""

    action: str | None
    """which stage of a request counts in blkparse and ftrace: Q, D or C."""

    mapping: Mapping
    """compact: the trace's written pages, closed up, are the drive's logical space; as-is:
    addresses count (default compact)."""

    trace_device: str | None
    """use only this device of the trace."""

    utilization: RatioLike
    """share of the logical pages that the workload uses; the rest is never written (default
    1.0)."""

    precondition: str
    """state of the drive when the run begins, none of it counted: full (each page written once, in
    order), workload (only the pages that the host will write), none, random (full, then aged by
    random writes until WA is steady), random:N (by N drive writes of them) or aged:TRACE (full,
    then one pass over that trace) (default full)."""

    wear_leveling: SpecLike | None
    """wear leveller (default none)."""

    batch_pages: int
    """pages handed to the engine at once; changes speed, never the outcome (default 1024)."""


class SimulateArguments(CommonArguments, total=False):
    """Keyword arguments of `simulate`."""

    trace: TraceLike | None
    """replay a block trace instead: its file, or - for standard input."""

    repeat: Repeat
    """replay the trace so many times; auto: until its passes agree, if it is short (default
    auto)."""

    manager: SpecLike
    """block manager (default single)."""

    victims: SpecLike | None
    """victim policy (default: the manager's)."""

    time: float | str | None
    """end after so much virtual time."""

    timed: bool
    """give every operation a time, and measure latencies (default False)."""

    host_bytes: SizeLike | None
    """end when the host has written so many bytes after the fill; WA then counts from the fill to
    the end, without a warm-up."""

    time_scale: RatioLike
    """multiply the times of requests that have times of their own: 0.5 is twice as fast (default
    1.0)."""

    rb_capture: str | Path | None
    """write the Ready/Busy pins of all dies to this .vcd file, from the fill on."""

    rb_rate: float | str | None
    """sample the pins at this rate, as a logic analyser does (default: exact to the nanosecond)."""

    rb_jitter: float | str | None
    """standard deviation of the moment at which the analyser sees an edge."""

    rb_missed: RatioLike | None
    """share of the pulses that the analyser misses."""

    seed: int
    """decides every random draw (default 1)."""

    writes: int | None
    """host page writes after the initial fill; without it, until steady and precise."""

    warmup: Warmup
    """host page writes to leave out of the measurement, or auto (default auto)."""

    precision: RatioLike
    """relative half width of the run's own noise, at 95% confidence, that ends an automatic run
    (default 0.0005)."""

    replicas: int
    """runs from which the interval and steadiness are judged: this one, and others of a workload
    with seeds of their own (default 3)."""

    spread: bool
    """rerun a trace, or a mix with a sequential part, on drives one block smaller and larger
    (default True)."""


class CompareArguments(CommonArguments, total=False):
    """Keyword arguments of `compare`."""

    trace: Sequence[TraceLike] | TraceLike | None
    """replay a block trace, instead of a workload or beside those that are given; several by giving
    it several times."""

    repeat: Repeat
    """replay the trace so many times; auto: until its passes agree, if it is short (default
    auto)."""

    managers: Sequence[SpecLike] | SpecLike
    """block managers, separated by commas or given several times, such as single,hcwf:d=5,sepgc
    (required)."""

    victims: Sequence[SpecLike] | SpecLike | None
    """victim policies, separated by commas or given several times, each for every manager (default:
    each manager's)."""

    replicas: int
    """runs of each manager, whose seeds follow from seed (default 3)."""

    seed: int
    """decides every random draw (default 1)."""

    writes: int | None
    """host page writes after the initial fill, the second half of them measured; by default 20
    times the logical pages."""


class EnduranceArguments(CommonArguments, total=False):
    """Keyword arguments of `endurance`."""

    trace: TraceLike | None
    """replay a block trace instead: its file, or - for standard input."""

    manager: SpecLike
    """block manager (default single)."""

    victims: SpecLike | None
    """victim policy (default: the manager's)."""

    w_max: int | None
    """erases after which a block is worn out (the paper's W_max) (required)."""

    replicas: int
    """drives to run, for the confidence interval (default 10)."""

    seed: int
    """decides every random draw; those of the other replicas follow from it (default 1)."""

    spare_share: RatioLike
    """share of the blocks that is set aside to replace worn ones; it is taken from the over-
    provisioning (default 0.0)."""
