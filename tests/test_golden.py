"""Golden counters: what one seed gives, everywhere and from one version to the next.

A change here changes every published figure: make it only on purpose, and say so in CHANGELOG.md.
To write the file anew: `.venv/bin/python tests/test_golden.py`.
"""

from __future__ import annotations

import json
from pathlib import Path

import writeamp as wa
from registered import fewest_blocks, managers
from writeamp.registry import engine_entries

GOLDEN = Path(__file__).with_name("golden.json")


def counters() -> dict[str, list[int]]:
    """Return host, gc and erase counts of one short run of every entry."""
    found = {}
    for layout in ("flat", "striped", "striped-per-lun"):
        runs = [("uniform", "single", v.example, 128) for v in engine_entries("victims")]
        runs += [("uniform", m.example, "greedy", fewest_blocks(m, 128)) for m in managers(layout)]
        runs += [(w.example, "sepgc", "cost-benefit", 128) for w in engine_entries("workloads")]
        for workload, manager, victims, blocks in runs:
            result = wa.simulate(
                "eagletree",
                workload,
                blocks=blocks,
                pages_per_block=20,
                layout=layout,
                manager=manager,
                victims=victims,
                seed=20,
                writes=30_000,
                warmup=1_000,
            )
            counts = [result.host_pages, result.causes["gc"], result.erases]
            found[f"{layout} {manager} {victims} {workload}"] = counts
    return found


def test_one_seed_gives_the_golden_counters() -> None:
    assert counters() == json.loads(GOLDEN.read_text())


if __name__ == "__main__":
    lines = (f"{json.dumps(run)}: {json.dumps(counts)}" for run, counts in counters().items())
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")
