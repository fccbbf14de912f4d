"""Wear levellers beside HCWF(swap), on workloads and a trace: WA, fairness, endurance.

Run: .venv/bin/python benches/wear_leveling.py [FIGURE.png]   (75 s on two cores)
"""

from __future__ import annotations

import sys
from pathlib import Path

from writeamp.plots import save
from writeamp_papers.bench import Bench
from writeamp_papers.verschoren2019 import levelers

TRACE = Path(__file__).parents[1] / "examples" / "postgres-tpcb.parquet"
LOGICAL_BLOCKS, W_MAX, REPLICAS = 1000, 1000, 10


def main() -> None:
    loads = [*levelers.synthetic_loads(LOGICAL_BLOCKS), levelers.trace_load(TRACE)]
    found = levelers.outcomes(Bench(), loads, w_max=W_MAX, replicas=REPLICAS)
    print("| workload | scheme | WA | PE fairness | endurance (full drive writes) |")
    print("|---|---|---|---|---|")
    for one in found:
        fairness = f"{one.pe_fairness:.3f} ± {one.pe_fairness_half_width:.3f}"
        endurance = f"{one.endurance_full_drive_writes:.0f}"
        print(f"| {one.load} | {one.scheme} | {one.wa:.3f} | {fairness} | {endurance} |")
    if len(sys.argv) > 1:
        subtitle = f"W_max {W_MAX}, {REPLICAS} runs, 32 pages a block, spare factor 0.10, d=5"
        save(levelers.figure(found, subtitle=subtitle), Path(sys.argv[1]))


if __name__ == "__main__":
    main()
