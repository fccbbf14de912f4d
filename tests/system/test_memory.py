"""Memory that processes need, which only processes of their own tell."""

from __future__ import annotations

import json
import subprocess
import sys

from places import ROOT


def test_memory_stays_below_sixteen_bytes_a_page() -> None:
    case = {
        "blocks": 16_384, "pages_per_block": 256, "fill": 0.87, "manager": "single",
        "victims": "cost-benefit", "workload": "uniform", "writes": 1000, "repeats": 1,
    }  # fmt: skip
    bench = ROOT / "benches" / "engine_case.py"
    done = subprocess.run(
        [sys.executable, bench, json.dumps(case)], capture_output=True, text=True, check=True
    )
    assert 6 < json.loads(done.stdout)["bytes_per_page"] < 16


def test_a_stream_needs_little_memory_beside_its_columns() -> None:
    bench = ROOT / "benches" / "arrow_stream.py"

    def peak_mib(rows: int) -> int:
        ended = subprocess.run(
            [sys.executable, bench, str(rows), "mixed"], capture_output=True, text=True, check=True
        )
        words = ended.stdout.split()
        return int(words[words.index("peak") + 1])

    few, many = 4_000_000, 10_000_000
    # As a hundred million of them within 1 GiB: 10.7 bytes a row. All pages are written in both.
    most_mib = 10.7 * (many - few) / 2**20
    assert peak_mib(many) - peak_mib(few) < most_mib + 20
