"""Write amplification per byte of the host, larger than per page for pages written in part.

A page of which a request covers only a part is programmed whole. WA per page, whose denominator
counts it whole, does not show that; what SMART shows is flash bytes over the host's bytes.
"""

from __future__ import annotations

import math

from writeamp import traces
from writeamp.registry.specs import Spec

# Two figures that no table could tell apart.
_SAME = 5e-4


def partial_page_factor(
    load: Spec | traces.PageTrace, host_pages: int, host_bytes: int, page_bytes: int
) -> float:
    """Return the bytes of the pages that the host wrote over the bytes that it asked to write.

    NaN where nobody knows those: a trace in pages may count partly covered ones without saying
    which part of them.
    """
    known = isinstance(load, Spec) or not load.partial_pages or load.head_bytes is not None
    return host_pages * page_bytes / host_bytes if known and host_bytes > 0 else math.nan


def differs(factor: float) -> bool:
    """Return whether WA per byte is visibly another figure than WA per page; False if unknown."""
    return factor - 1 > _SAME
