"""Peak memory of reading a trace from an Arrow stream.

Run `python benches/arrow_stream.py [ROWS]`.

The rows are made a batch at a time, and the drive is as large as the pages that they write. What is
said is the peak of a process that does nothing else, and what of it is beyond the page map (8 bytes
a page of the drive, of each drive that exists at the same time).
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import writeamp as wa

PAGES = 1 << 20
BATCH_ROWS = 1 << 16
MAP_BYTES = 8


def batches(rows: int, *, mixed: bool) -> Iterator[pa.RecordBatch]:
    random = np.random.default_rng(1)
    for first in range(0, rows, BATCH_ROWS):
        count = min(BATCH_ROWS, rows - first)
        page = random.integers(0, PAGES, count, dtype=np.uint32)
        if not mixed:
            yield pa.record_batch({"page": page})
            continue
        kinds = pa.array(["write", "write", "write", "read", "trim"])
        yield pa.record_batch(
            {
                "offset": page.astype(np.int64) * 4096,
                "length": random.integers(1, 3, count) * 4096,
                "op": kinds.take(pa.array(random.integers(0, 5, count))),
            }
        )


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000_000
    mixed = "mixed" in sys.argv[2:]
    start, begin = peak_bytes(), time.perf_counter()
    result = wa.simulate(
        trace=batches(rows, mixed=mixed), op=0.28, writes=rows // 2 if mixed else None, spread=False
    )
    peak = peak_bytes()
    page_map = MAP_BYTES * (result.device.physical_pages)
    print(
        f"rows {rows}, peak {peak / 2**20:.0f} MiB, of which {start / 2**20:.0f} MiB before, page "
        f"map {page_map / 2**20:.0f} MiB, beyond it {(peak - page_map) / 2**20:.0f} MiB; "
        f"WA {result.wa:.4f}, {time.perf_counter() - begin:.0f} s"
    )


if __name__ == "__main__":
    main()
