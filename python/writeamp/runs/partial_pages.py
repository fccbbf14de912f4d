"""Pages that requests cover only in part: bytes of written pages per host byte."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from writeamp import traces
from writeamp.devices.device import Device
from writeamp.registry.specs import Spec
from writeamp.runs.loads import engine_load
from writeamp.traces.touching import OPS

# If WA per byte exceeds WA per page by less than this share, only WA per page is shown, because the
# two would be printed with the same digits.
_SAME = 5e-4
# Pages of a workload from which its factor is estimated.
_SAMPLED_PAGES = 1 << 20


def partial_page_factor(
    load: Spec | traces.PageTrace, host_pages: int, host_bytes: int, page_bytes: int
) -> float:
    """Return the bytes of the pages that the host wrote, divided by the bytes it requested.

    A page that a request covers in part is programmed and counted as a whole. WA per page does not
    include this factor. SMART counters give flash bytes divided by host bytes, which includes it.
    The factor is NaN if the requested bytes are unknown: a trace in pages may not state how many
    bytes of a page a request covers.
    """
    is_exact = isinstance(load, Spec) or not load.partial_pages or load.head_bytes is not None
    return host_pages * page_bytes / host_bytes if is_exact and host_bytes > 0 else math.nan


def factor_of_load(load: Spec | traces.PageTrace, pages: int, drive: Device, seed: int) -> float:
    """Return the `partial_page_factor` of a load on the first `pages` pages of a drive.

    That of a workload is 1 if its requests are whole pages. Otherwise it is estimated from the
    first requests with this seed.
    """
    if not isinstance(load, Spec):
        columns = (load.count, load.head_bytes, load.tail_bytes)
        return _factor_of(load, load.op, [each for each in columns if each is not None], drive)
    workload = engine_load(load.text, pages, drive)
    if workload.writes_whole_pages():
        return 1.0
    op, _, *counts = workload.requests(seed=seed, pages=_SAMPLED_PAGES)
    return _factor_of(load, op, counts, drive)


def _factor_of(
    load: Spec | traces.PageTrace,
    op: npt.NDArray[np.uint8],
    counts: list[npt.NDArray[Any]],
    drive: Device,
) -> float:
    is_write = op == OPS["write"]
    host_pages, *outside = (int(count[is_write].sum(dtype=np.int64)) for count in counts)
    missed = sum(outside)
    return partial_page_factor(
        load, host_pages, host_pages * drive.page_bytes - missed, drive.page_bytes
    )


def differs(factor: float) -> bool:
    """Return whether WA per byte visibly exceeds WA per page; False if the factor is NaN."""
    return factor - 1 > _SAME
