"""`make bench`: the speed of the engine and of the trace readers, beside the peers' figures.

Prints a table with the machine's name and writes it to benches/results/. Machines are noisy: each
figure is the median of several repeats in one process, with the best beside it.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import writeamp as wa
from writeamp.traces import Trace

HERE = Path(__file__).parent
REPEATS = 7
ROWS = 2_000_000

# Paper 4's drive: 10,000 logical blocks at spare factor 0.10.
HOT_COLD = {
    "blocks": 11112,
    "pages_per_block": 32,
    "fill": 0.9,
    "victims": "d-choices:d=10",
    "workload": "hot-cold:f=0.1,r=0.9",
}
MIXED = {"blocks": 8192, "pages_per_block": 128, "manager": "single", "workload": "uniform"}
LARGE = {"blocks": 262_144, "pages_per_block": 256, "manager": "single", "workload": "uniform"}
# Name, case, the target in M host pages/s, and what the best peer does on the same work.
CASES = [
    ("1 M pages, fill 0.70", {**MIXED, "fill": 0.70, "victims": "greedy"}, 40, "11.9 (ftlsim)"),
    ("1 M pages, fill 0.87", {**MIXED, "fill": 0.87, "victims": "greedy"}, 25, "6.0 (ftlsim)"),
    ("67 M pages, fill 0.87", {**LARGE, "fill": 0.87, "victims": "greedy"}, 8, "2.2 (at 17 M)"),
    ("fifo", {**MIXED, "fill": 0.70, "victims": "fifo"}, None, ""),
    ("random", {**MIXED, "fill": 0.70, "victims": "random"}, None, ""),
    (
        "d-choices:d=10",
        {**MIXED, "fill": 0.70, "victims": "d-choices:d=10"},
        None,
        "2.1 (flashsim-dchoices)",
    ),
    ("windowed-greedy", {**MIXED, "fill": 0.70, "victims": "windowed-greedy"}, None, ""),
    ("cost-benefit", {**MIXED, "fill": 0.70, "victims": "cost-benefit"}, None, ""),
    ("sepgc", {**MIXED, "fill": 0.70, "victims": "greedy", "manager": "sepgc"}, None, ""),
    (
        "hot-cold",
        {**MIXED, "fill": 0.70, "victims": "greedy", "workload": "hot-cold:f=0.1,r=0.9"},
        None,
        "",
    ),
    ("zipf", {**MIXED, "fill": 0.70, "victims": "greedy", "workload": "zipf:s=0.99"}, None, ""),
    ("hcwf, U=10,000, b=32", {**HOT_COLD, "manager": "hcwf"}, None, ""),
    # 60 million page programs a second are 25 million host pages at this WA.
    ("hcwf-swap, U=10,000, b=32", {**HOT_COLD, "manager": "hcwf-swap:d_swap=100"}, 25, ""),
]


def main() -> None:
    lines = [
        f"# writeamp {wa.__version__}, {datetime.date.today()}, {machine()}",
        "",
        "Host page writes a second on one core, in steady state; the peers' figures were measured",
        "on a machine of this kind, but not in this run.",
        "",
        "| engine | WA | median, M/s | best, M/s | target, M/s | best peer, M/s | bytes/page |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for name, case, target, peer in CASES:
        lines.append(engine_row(name, case, target, peer))
        print(lines[-1], flush=True)
    lines += ["", "| endurance | page programs, 10^9 | minutes | threads |", "|---|---|---|---|"]
    lines.append(endurance_row())
    print("\n".join(lines[-4:]), flush=True)
    lines += ["", "| trace format | requests/s, million |", "|---|---|"]
    print("\n".join(lines[-3:]), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("msr", "spc", "mqsim", "ssdsim", "disksim", "blkparse", "parquet"):
            lines.append(f"| {name} | {requests_per_s(name, Path(folder)) / 1e6:.1f} |")
            print(lines[-1], flush=True)
    slug = re.sub(r"[^a-z0-9]+", "-", machine().lower())
    out = HERE / "results" / f"{datetime.date.today()}-{slug}.md"
    out.parent.mkdir(exist_ok=True)
    out.write_text("\n".join(lines) + "\n")
    print(f"\nwritten to {out}")


def machine() -> str:
    """Name the machine: its processor, cores and system."""
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return f"{model}, {os.cpu_count()} cores, {platform.system()}"


def engine_row(name: str, case: dict[str, object], target: int | None, peer: str) -> str:
    pages = int(case["blocks"]) * int(case["pages_per_block"])  # type: ignore[call-overload]
    whole = {**case, "repeats": REPEATS, "writes": 20_000_000 if pages < 10**7 else 10_000_000}
    done = subprocess.run(
        [sys.executable, HERE / "engine_case.py", json.dumps(whole)],
        check=True,
        capture_output=True,
        text=True,
    )
    found = json.loads(done.stdout)
    rates = [rate / 1e6 for rate in found["host_pages_per_s"]]
    cells = [
        name,
        f"{found['wa']:.4f}",
        f"{statistics.median(rates):.1f}",
        f"{max(rates):.1f}",
        "" if target is None else str(target),
        peer,
        f"{found['bytes_per_page']:.1f}",
    ]
    return "| " + " | ".join(cells) + " |"


def endurance_row(w_max: int = 5000, replicas: int = 50) -> str:
    """Wear out as many drives as paper 4's Figs. 2 and 3 show."""
    found = wa.endurance(
        workload="hot-cold:f=0.1,r=0.9",
        manager="sepgc",
        victims="d-choices:d=5",
        logical_blocks=1000,
        pages_per_block=32,
        spare_factor=0.1,
        w_max=w_max,
        replicas=replicas,
    )
    programs = sum(found.causes.values()) * replicas
    name = f"W_max {w_max}, {replicas} replicas"
    threads = found.plan.threads
    return f"| {name} | {programs / 1e9:.2f} | {found.elapsed_s / 60:.2f} | {threads} |"


def requests_per_s(name: str, folder: Path) -> float:
    """Read a synthetic trace of `ROWS` requests in one format; return the best of three."""
    path = folder / f"trace.{name}"
    wa.traces.write(synthetic(), path, name)
    best = 0.0
    for _ in range(3):
        begun = time.perf_counter()
        wa.traces.read(path, name)
        best = max(best, ROWS / (time.perf_counter() - begun))
    path.unlink()
    return best


def synthetic() -> Trace:
    random = np.random.default_rng(1)
    requests = pl.DataFrame(
        {
            "timestamp_ns": np.arange(ROWS) * 1_000_000,
            "device": np.zeros(ROWS, np.uint32),
            "op": random.choice(["read", "write"], ROWS),
            "offset": random.integers(0, 2**28, ROWS, np.uint64) * np.uint64(4096),
            "length": random.integers(1, 64, ROWS, np.uint32) * np.uint32(4096),
        },
        schema=wa.traces.SCHEMA,
    )
    return Trace(requests, "parquet", "synthetic", ["0"])


if __name__ == "__main__":
    main()
