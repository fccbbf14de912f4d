"""Documents of a virtual SSD's control socket, and a server that answers with them."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import writeamp as wa

PAGE_BYTES = 4096
DEVICE = wa.device(blocks=100, pages_per_block=50, op=0.25)

COUNTERS: dict[str, Any] = {
    "since": 1000,
    "requests": 31_000,
    "elapsed_ns": 7_300_000_000_000,
    "size_bytes": 4000 * PAGE_BYTES,
    "page_bytes": PAGE_BYTES,
    "logical_pages": 4000,
    "physical_pages": 5000,
    "pages_per_block": 50,
    "blocks": 100,
    "luns": 1,
    "mapped_pages": 3990,
    "host": {
        "written_pages": 20_000,
        "written_bytes": 20_000 * PAGE_BYTES,
        "read_pages": 300,
        "read_bytes": 299 * PAGE_BYTES + 512,
        "trimmed_pages": 40,
        "trimmed_bytes": 40 * PAGE_BYTES,
        "flushes": 7,
        "write_requests": 15_000,
        "read_requests": 290,
        "trim_requests": 3,
    },
    "read_modify_write_pages": 11,
    "programs": {"host": 20_000, "gc": 25_000, "wear_leveling": 1000},
    "erases": 901,
    "unmapped_pages": 40,
    "skipped_pages": 5,
    "max_erase_count": 14,
    "min_erase_count": 3,
    "mean_erase_count": 9.01,
    "latency": None,
    "timed": None,
    "recording_error": None,
}
# Counters by placement handle; the sums are those of `COUNTERS`.
HANDLES: list[dict[str, Any]] = [
    {
        "handle": handle,
        "host_pages": host_pages,
        "media_pages": media_pages,
        "moved_in_pages": moved_in_pages,
        "moved_out_pages": moved_out_pages,
    }
    for handle, host_pages, media_pages, moved_in_pages, moved_out_pages in (
        (0, 15_000, 16_000, 0, 800),
        (2, 5000, 30_000, 0, 10_200),
        (None, 0, 0, 25_000, 14_000),
    )
]
BLOCKS: dict[str, Any] = {
    "valid_pages_histogram": [1, *[0] * 37, 40, 50, *[0] * 10, 3],
    "free_blocks": 5,
    "erase_counts": {"3": 10, "9": 79, "14": 11},
}
SERIES: dict[str, Any] = {
    "written_pages": [10_000, 15_000, 20_000],
    "programmed_pages": [10_000, 27_000, 46_000],
}


def counters(**more: Any) -> dict[str, Any]:
    """Return counters with some of the values replaced."""
    return deepcopy(COUNTERS) | more


@contextmanager
def control_server(
    path: Path, counted: Callable[[], dict[str, Any]] = lambda: COUNTERS
) -> Iterator[None]:
    """Answer at the socket as a virtual SSD does, as long as the block runs."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            for line in self.rfile:
                asked = json.loads(line)["ask"]
                found = {"blocks": BLOCKS, "series": SERIES}
                answer = counted() if asked in {"counters", "begin"} else found[asked]
                self.wfile.write(json.dumps(answer).encode() + b"\n")

    class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
        daemon_threads = True

    with Server(str(path), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()
            path.unlink()
