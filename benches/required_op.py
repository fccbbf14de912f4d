"""Check of what `writeamp.required_op` promises: six workloads and managers, many seeds.

    .venv/bin/python benches/required_op.py

prints the table of docs/required-op.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import writeamp as wa

DRIVE: dict[str, Any] = {"logical_pages": 8192, "pages_per_block": 8, "writes": 600_000}
PAIRS: tuple[tuple[float, dict[str, Any]], ...] = (
    (1.8, {"workload": "uniform"}),
    (2.2, {"workload": "uniform", "victims": "fifo"}),
    (1.6, {"workload": "zipf:s=0.99", "manager": "sepgc"}),
    (1.8, {"workload": "hot-cold:f=0.1,r=0.9", "manager": "hcwf:d=5"}),
    (1.5, {"workload": "database", "manager": "sepbit"}),
    (1.4, {"workload": "zipf:s=0.8", "victims": "d-choices:d=10"}),
)
SEEDS = range(1, 13)
# Of the run at the op that was found, which has a seed of its own.
OTHER_SEED = 1000


def main() -> None:
    print("| workload, manager, victims | WA | mean op | interval | holds that op | WA met |")
    print("|---|---|---|---|---|---|")
    for target_wa, settings in PAIRS:
        found = [wa.required_op(target_wa, **settings, **DRIVE, seed=seed) for seed in SEEDS]
        own = [
            wa.simulate(**settings, **DRIVE, op=one.op, seed=OTHER_SEED + seed)
            for seed, one in zip(SEEDS, found, strict=True)
        ]
        op = float(np.mean([one.op for one in found]))
        # A search whose runs are not steady has no interval.
        known = [one for one in found if not np.isnan(one.ci[0])]
        width = float(np.mean([one.ci[1] - one.ci[0] for one in known]))
        held = sum(one.ci[0] <= op <= one.ci[1] for one in known)
        met = sum(one.ci[0] <= target_wa <= one.ci[1] for one in own)
        plan = found[0].result.plan
        print(
            f"| {plan.load_name}, {plan.policy} | {target_wa} | {op:.4f} | ±{width / 2:.4f} | "
            f"{held} of {len(known)} | {met} of {len(own)} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
