"""Effect of looping a trace on WA: pages that the loop, not the trace, makes invalid.

Within a pass the trace overwrites its own pages. The pages that are valid at the end of the pass
are overwritten by the next pass, which is an effect of the loop. If the trace writes pages only
once, the next pass overwrites them in their order, so that whole blocks become invalid together.
That lowers WA below the value of the workload itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from writeamp.traces.pages import PageTrace

_I64 = npt.NDArray[np.int64]
_WRITE, _TRIM = 0, 1

# If the next pass overwrites at least this share of the lasting writes of a pass (`Loop`), the loop
# and not the trace decides WA.
MATERIAL_SHARE = 0.2

# Number of page writes that are processed at once, to limit the memory.
_CHUNK_PAGES = 1 << 22


@dataclass(frozen=True)
class Loop:
    """Shares of the lasting writes of a pass that the next pass overwrites.

    A write is lasting if its page is not overwritten in the same moment (a short run of page
    writes). The share `in_order` is overwritten in the order in which it was written,
    `by_next_pass` in any order. Pages that the pass itself trims do not count.
    """

    in_order: float
    by_next_pass: float
    pass_pages: int

    def decides(self, spare_pages: int) -> str | None:
        """Return a sentence on how the loop decides WA with these spare pages; None if it does not.

        In looped traces of known workloads, shares of at least `MATERIAL_SHARE` made WA − 1 at
        least 9% too low (docs/steady-state.md).
        """
        if self.in_order >= MATERIAL_SHARE:
            return (
                f"the next pass overwrites {self.in_order:.0%} of the writes of a pass in the "
                "order in which they were written, so that whole blocks become invalid together"
            )
        if self.by_next_pass >= MATERIAL_SHARE and self.pass_pages <= spare_pages:
            return (
                f"a pass writes {self.pass_pages:,} pages, no more than the {spare_pages:,} spare "
                "ones, so they become invalid before their blocks are collected"
            )
        return None


def analyse_loop(trace: PageTrace, moment_pages: int) -> Loop:
    """Return the shares of a trace's lasting writes that the next pass overwrites; cached.

    Args:
        trace: trace of one pass; it is not changed.
        moment_pages: number of page writes that count as one moment, about the pages of a block.
    """
    key = (analyse_loop.__name__, moment_pages)
    loop: Loop | None = trace.analyses.get(key)
    if loop is None:
        loop = trace.analyses[key] = _analysed(trace, moment_pages)
    return loop


def _analysed(trace: PageTrace, moment_pages: int) -> Loop:
    first = np.full(trace.logical_pages, -1, np.int64)
    last = np.full(trace.logical_pages, -1, np.int64)
    lasting = 0
    for position, pages in _writes(trace):
        at = np.arange(position, position + pages.size)
        # If a page occurs twice, NumPy keeps the last assignment, so `last` is correct.
        last[pages] = at
        new = np.flatnonzero(first[pages] < 0)[::-1]
        first[pages[new]] = at[new]
        lasting += _distinct_in_moments(pages, moment_pages)
    left = (last >= 0) & (last >= _last_trims(trace))
    at_one_place = left & (last - first <= moment_pages)
    return Loop(
        in_order=float(np.count_nonzero(at_one_place) / lasting),
        by_next_pass=float(np.count_nonzero(left) / lasting),
        pass_pages=trace.host_pages,
    )


def _writes(trace: PageTrace) -> Iterator[tuple[int, _I64]]:
    """Yield the written pages in chunks, with the number of page writes before each."""
    writes = np.flatnonzero(trace.op == _WRITE)
    counts = trace.count[writes].astype(np.int64)
    ends = np.cumsum(counts)
    for start in range(0, int(ends[-1]), _CHUNK_PAGES):
        end = min(start + _CHUNK_PAGES, int(ends[-1]))
        first, last = np.searchsorted(ends, (start, end - 1), side="right")
        some = slice(first, last + 1)
        begins = ends[some] - counts[some]
        inside = np.minimum(ends[some], end) - np.maximum(begins, start)
        first_pages = trace.start[writes[some]].astype(np.int64)
        yield start, np.repeat(first_pages - begins, inside) + np.arange(start, end)


def _distinct_in_moments(pages: _I64, moment_pages: int) -> int:
    """Return the number of distinct pages written in each moment, summed over all moments."""
    moment = np.arange(pages.size) // moment_pages
    pages_of_moments = np.sort(moment * (pages.max() + 1) + pages)
    return 1 + int(np.count_nonzero(np.diff(pages_of_moments)))


def _last_trims(trace: PageTrace) -> _I64:
    """Return for each page the number of page writes before its last trim; −1 without a trim."""
    written_before = np.full(trace.logical_pages, -1, np.int64)
    written = np.cumsum(np.where(trace.op == _WRITE, trace.count, 0), dtype=np.int64)
    for request in np.flatnonzero(trace.op == _TRIM):
        start = int(trace.start[request])
        written_before[start : start + int(trace.count[request])] = written[request]
    return written_before
