"""Keyword arguments of functions of fleets, made by `make generate`."""

from __future__ import annotations

from typing import TypedDict

from writeamp.devices.device import SizeLike
from writeamp.settings.settings import Repeat, Warmup
from writeamp.units.ratios import RatioLike


class MakeArguments(TypedDict, total=False):
    """Keyword arguments of `make`."""

    volumes: int
    """number of volumes (default 100)."""

    requests: int
    """total number of requests (default 1000000)."""

    seed: int
    """seed of all random numbers; equal seeds give equal fleets (default 1)."""

    trace_format: str
    """format of the trace: alibaba or tencent (default alibaba)."""

    size: SizeLike
    """median size of a volume in bytes, or such as 64MiB; sizes are log-normal (default
    67108864)."""

    size_sigma: float
    """standard deviation of the natural logarithm of volume sizes (default 1.0)."""

    traffic_sigma: float
    """standard deviation of the natural logarithm of a volume's requests per page (default 0.7)."""

    skew_low: float
    """smallest exponent s: a volume's r-th hottest page gets requests in proportion to about r^-s;
    0 is uniform (default 0.0)."""

    skew_high: float
    """largest exponent s; each volume draws its exponent uniformly from the smallest to the largest
    (default 1.2)."""

    sequential: RatioLike
    """mean share of requests that begin where the volume's previous request ended (default 0.2)."""

    reads: RatioLike
    """mean share of reads in a volume's requests (default 0.3)."""

    drift: float
    """mean distance that the hot pages move during the trace, as a multiple of the volume's size
    (default 0.1)."""

    request_pages: float
    """mean length of a request in pages of 4 KiB; lengths have a geometric distribution (default
    2.0)."""

    duration: float | str
    """time span of the trace, such as 12h or 7d (default 1d)."""


class SplitArguments(TypedDict, total=False):
    """Keyword arguments of `split`."""

    trace_format: str | None
    """format of the files; default: detected from its first rows. One of msr, spc, alibaba,
    tencent, mqsim, ssdsim, disksim, blkparse, iolog, systor, fiu, libcachesim, vscsi, blktrace,
    ftrace, biosnoop, xperf, parquet; or the meaning of its columns, as in
    columns:time=1:ms,device=2,offset=3:bytes,length=4:bytes,op=5:0=read/1=write."""

    action: str | None
    """event that counts as a request in blkparse, blktrace and ftrace, which have several per
    request: Q queued, D issued to the drive, C completed, or I inserted (ftrace only); default: Q,
    in ftrace the first of C, D, Q and I in the file."""

    by_file: bool | None
    """treat each file as one volume, even if it names several devices; by default only files whose
    format has no device names are one volume."""


class NeedArguments(TypedDict, total=False):
    """Keyword arguments of `need`."""

    where: str | None
    """SQL condition that volumes must meet, such as 'drive_writes > 2'."""

    preset: str | None
    """only volumes that meet the rule of a paper: sepbit: written_set_bytes > 10 * 1073741824 AND
    drive_writes > 2; updated: drive_writes > 2."""

    sample: int | None
    """number of volumes to select at random, spread evenly over page writes and drive writes; by
    default all."""

    sample_seed: int
    """seed of the random choice of the sample (default 1)."""

    pages_per_block: int | None
    """pages of an erase block."""

    page_bytes: SizeLike | None
    """page size, such as 4K."""

    layout: str | None
    """how write frontiers and collection are spread over the LUNs (dies): flat, striped, striped-
    per-lun, static (default: that of the profile)."""

    precondition: str
    """state of the drive at the start; these writes are not counted: full (each page written once,
    in order), workload (only the pages that the host will write), none, random (full, then random
    writes until WA is steady), random:N (full, then N drive writes of random writes) or aged:TRACE
    (full, then one pass over that trace) (default full)."""

    repeat: Repeat
    """replay the trace, or run the fio jobs, N times; auto: a trace once, but a short trace until
    the WA of its passes agrees, and jobs until WA is steady (default auto)."""

    seed: int
    """seed of all random numbers of a run (default 1)."""

    writes: int | None
    """host pages to write after the initial fill; by default until WA is steady and precise."""

    warmup: Warmup
    """host pages to write before WA is measured; auto: until WA has settled (default auto)."""


class RunArguments(NeedArguments, total=False):
    """Keyword arguments of `run` and `together`."""

    baseline: str | None
    """manager with which the other managers are compared; by default the first."""

    resamples: int
    """number of resampled fleets for the confidence intervals, each with as many volumes as the
    compared fleet, drawn with replacement (default 2000)."""

    op: RatioLike | None
    """over-provisioning ratio (T-U)/U of a drive with T physical and U logical pages, such as 0.15
    or 15%."""

    fill: RatioLike | None
    """fill U/T = 1/(1+op), the share of the physical pages that the host sees; an alternative to
    op."""

    spare_factor: RatioLike | None
    """spare factor (T-U)/T = op/(1+op), the share of the physical pages that is spare; an
    alternative to op."""
