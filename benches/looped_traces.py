"""Error of WA from a loop: traces cut from known workloads, looped, against the workloads.

    .venv/bin/python benches/looped_traces.py

prints the table of docs/steady-state.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import writeamp as wa
from writeamp.traces.looping import analyse_loop
from writeamp.traces.pages import PageTrace

PAGES = 8192
PAGES_PER_BLOCK = 32
# Written in all by each run, a multiple of the pages; the second half is measured.
DRIVE_WRITES = 60

_Pages = npt.NDArray[np.int64]
Draw = Callable[[np.random.Generator, int], _Pages]


def independent(weights: npt.NDArray[Any]) -> Draw:
    """Return a workload of independent writes, pages in a random order of their weights."""
    shuffled = np.random.default_rng(1).permutation(weights / weights.sum())
    return lambda draw, count: draw.choice(PAGES, count, p=shuffled)


def permutations(draw: np.random.Generator, count: int) -> _Pages:
    """Return a fresh order of all pages, again and again."""
    turns = -(-count // PAGES)
    return np.concatenate([draw.permutation(PAGES) for _ in range(turns)])[:count]


def zipf(exponent: float) -> Draw:
    return independent(np.arange(1, PAGES + 1) ** -exponent)


WORKLOADS: dict[str, Draw] = {
    "permutation": permutations,
    "uniform": independent(np.ones(PAGES)),
    "Zipf 0.8": zipf(0.8),
    "Zipf 1.0": zipf(1.0),
    "hot-cold 0.1/0.9": independent(np.where(np.arange(PAGES) < PAGES // 10, 81.0, 1.0)),
}


def trace_of(pages: _Pages) -> PageTrace:
    return PageTrace(
        op=np.zeros(pages.size, np.uint8),
        start=pages.astype(np.uint32),
        count=np.ones(pages.size, np.uint32),
        logical_pages=int(pages.max()) + 1,
        footprint_pages=np.unique(pages).size,
        host_pages=pages.size,
        partial_pages=0,
        page_bytes=4096,
        mapping="compact",
    )


def late_wa(trace: PageTrace, repeat: int, op: float) -> float:
    found = wa.simulate(
        trace=trace, repeat=repeat, op=op, pages_per_block=PAGES_PER_BLOCK, spread=False
    )
    return float(found.series.tail(found.series.height // 2)["wa"].mean())  # type: ignore[arg-type]


def main() -> None:
    print("| trace | drive writes in a pass | overwritten in order | part of WA beyond 1 |")
    print("|---|---|---|---|")
    for name, draw_pages in WORKLOADS.items():
        for drive_writes in (1, 2, 4, 8):
            draw = np.random.default_rng(drive_writes)
            drawn = draw_pages(draw, drive_writes * PAGES)
            written, cut = np.unique(drawn, return_inverse=True)
            # The workload itself, on the pages of the trace.
            endless = draw_pages(draw, DRIVE_WRITES * PAGES)
            on_pages = np.searchsorted(written, endless[np.isin(endless, written)])
            changes = []
            for op in (0.1, 0.3):
                looped = late_wa(trace_of(cut), DRIVE_WRITES // drive_writes, op)
                itself = late_wa(trace_of(on_pages), 1, op)
                changes.append((looped - 1) / (itself - 1) - 1)
            share = analyse_loop(trace_of(cut), PAGES_PER_BLOCK).in_order
            shown = " to ".join(f"{change:+.0%}" for change in sorted(changes, reverse=True))
            print(f"| {name} | {drive_writes} | {share:.0%} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
