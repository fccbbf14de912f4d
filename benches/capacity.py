"""Error of a smaller drive: WA at 1/64 of the size against a drive of 128 GiB.

    .venv/bin/python benches/capacity.py > benches/results/capacity.md

The whole drive and the smaller ones write the same multiple of their capacity, the second half of
it measured. The smaller drive is what `--capacity 128GiB` simulates; beside it stands one of its
size whose workload is not scaled. A whole drive takes minutes and 300 MB.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass

import writeamp as wa

WORKLOADS = ("uniform", "zipf:s=0.99", "hot-cold:f=0.1,r=0.9")
PAGE_BYTES = 4096


@dataclass(frozen=True)
class Compared:
    """WA of one workload on the whole drive, on a smaller one, and on that without scaling.

    `stated` is the error that the smaller drive states of itself, largest over its seeds.
    """

    workload: str
    whole: float
    scaled: float
    stated: float
    as_it_is: float
    whole_s: float
    scaled_s: float
    covers: bool

    @property
    def row(self) -> str:
        """The row of the table."""
        off, naive = self.scaled / self.whole - 1, self.as_it_is / self.whole - 1
        return (
            f"| `{self.workload}` | {self.whole:.4f} | {self.scaled:.4f} | {off:+.2%} "
            f"| ±{self.stated / self.scaled:.2%} | {'yes' if self.covers else 'NO'} "
            f"| {naive:+.2%} | {self.whole_s:.0f} s | {self.scaled_s:.1f} s |"
        )


def compared(workload: str, capacity_bytes: int, drive_writes: int, op: float) -> Compared:
    """Run one workload on all three drives."""
    pages = capacity_bytes // PAGE_BYTES
    length = {"writes": drive_writes * pages, "warmup": drive_writes * pages // 2}
    began = time.perf_counter()
    whole = wa.simulate(workload=workload, op=op, size=capacity_bytes, replicas=1, **length)
    whole_s = time.perf_counter() - began
    print(f"{workload}: {whole}", file=sys.stderr, flush=True)
    began = time.perf_counter()
    scaled = [
        wa.simulate(
            workload=workload, op=op, capacity=capacity_bytes, replicas=1, seed=seed, **length
        )
        for seed in (2, 3, 4)
    ]
    scaled_s = (time.perf_counter() - began) / len(scaled)
    small_bytes = scaled[0].device.capacity_bytes
    factor = capacity_bytes // small_bytes
    small = {name: pages // factor for name, pages in length.items()}
    as_it_is = [
        wa.simulate(workload=workload, op=op, size=small_bytes, replicas=1, seed=seed, **small)
        for seed in (2, 3, 4)
    ]
    return Compared(
        workload,
        whole.wa,
        statistics.mean(one.wa for one in scaled),
        max(one.scaling.error for one in scaled),
        statistics.mean(one.wa for one in as_it_is),
        whole_s,
        scaled_s,
        covers=all(one.ci[0] <= whole.wa <= one.ci[1] for one in scaled),
    )


def table(rows: Iterable[Compared]) -> Iterable[str]:
    """Yield the lines of the table."""
    yield (
        "| workload | WA, whole | WA, smaller | off by | it states | its intervals hold it "
        "| off by, workload as it is | whole took | smaller took |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for one in rows:
        yield one.row


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--gib", type=int, default=128, help="size of the whole drive")
    parser.add_argument("--drive-writes", type=int, default=8)
    parser.add_argument("--op", type=float, default=0.15)
    asked = parser.parse_args()
    rows = (
        compared(workload, asked.gib * 2**30, asked.drive_writes, asked.op)
        for workload in WORKLOADS
    )
    for line in table(rows):
        print(line, flush=True)


if __name__ == "__main__":
    main()
