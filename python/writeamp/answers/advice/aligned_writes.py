"""Aligned writes: requests that begin and end with pages, as few as hold the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from writeamp.answers.change import Change, Kind
from writeamp.answers.question import Question
from writeamp.answers.window import as_trace, page_trace, repeated
from writeamp.traces.pages import PageTrace
from writeamp.traces.touching import OPS


def _changes(question: Question) -> Iterator[Change]:
    window, case = question.window, question.windowed
    requests = window.requests
    if requests.head_bytes is None or not requests.host_pages:
        return
    aligned = _aligned(requests)
    if aligned.host_pages >= requests.host_pages:
        return
    times = 0 if window.plan.earlier is None else window.plan.earlier.op.size // requests.op.size
    plan = as_trace(question.plan, aligned, repeated(aligned, times) if times else None)
    yield Change(
        f"writes aligned to pages of {requests.page_bytes:,} bytes",
        "a setting of the partition, the file system or the program",
        replace(case, plan=plan, share_of_pages=aligned.host_pages / requests.host_pages),
    )


def _aligned(requests: PageTrace) -> PageTrace:
    """Return the requests with each on the fewest pages that hold its bytes."""
    assert requests.head_bytes is not None
    assert requests.tail_bytes is not None
    size = requests.page_bytes
    left_out = (requests.head_bytes.astype(np.int64) + requests.tail_bytes) // size
    is_write = requests.op == OPS["write"]
    count = np.where(is_write, requests.count - left_out, requests.count).astype(np.uint32)
    return page_trace(requests.op, requests.start, count, requests.logical_pages, size)


KIND = Kind("aligned writes", _changes)
