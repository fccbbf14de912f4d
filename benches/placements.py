"""Every block manager on the same work: write amplification, memory of the scheme, and speed.

Prints the table of docs/placements.md and writes it to benches/results/ with the date and machine.
"""

from __future__ import annotations

import datetime
import functools
import json
import re
import statistics
import subprocess
import sys
from collections.abc import Callable

import writeamp as wa
from run import HERE, machine
from writeamp import _engine
from writeamp.registry import engine_entries

TRACE = HERE.parent / "examples" / "postgres-tpcb.parquet"
DRIVE = {"blocks": 2048, "pages_per_block": 64, "op": 0.20}
WORKLOADS = ["zipf:s=0.99", "hot-cold:f=0.1,r=0.9"]
# A trace names no groups, so handles stand for ranges of the address space there.
MORE = ["nvme-fdp:by=range", "nvme-fdp:by=range,isolation=persistent"]
SPEED = {"blocks": 8192, "pages_per_block": 128, "fill": 0.7, "victims": "greedy"}
NEEDS_GROUPS = ("hcwf", "hcwf-swap", "nvme-fdp")


def main() -> None:
    lines = [
        f"# Placements, writeamp {wa.__version__}, {datetime.date.today()}, {machine()}",
        "",
        "Write amplification, flat layout, greedy victims (cost-benefit in brackets). Synthetic:",
        f"{DRIVE['blocks']} blocks of {DRIVE['pages_per_block']} pages, op {DRIVE['op']}, warmed",
        f"up by 2 M writes, measured over 4 M. Trace: {TRACE.name}, op 0.20, 6 times, of which",
        "5 count. Speed: hot-cold:f=0.1,r=0.9 on 1 M pages, fill 0.70, greedy, median of 5.",
        "",
        "| manager | zipf 0.99 | hot-cold .1/.9 | PostgreSQL trace | bytes/page | M writes/s |",
        "|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for manager in [entry.name for entry in engine_entries("managers")] + MORE:
        lines.append(row(manager))
        print(lines[-1], flush=True)
    slug = re.sub(r"[^a-z0-9]+", "-", machine().lower())
    out = HERE / "results" / f"{datetime.date.today()}-placements-{slug}.md"
    out.write_text("\n".join(lines) + "\n")
    print(f"\nwritten to {out}")


def row(manager: str) -> str:
    cells = [f"`{manager}`"]
    cells += [of_both_policies(functools.partial(on, workload, manager)) for workload in WORKLOADS]
    cells += [
        "–" if manager in NEEDS_GROUPS else of_both_policies(functools.partial(on_trace, manager)),
        f"{bytes_per_page(manager):.2f}",
        speed(manager),
    ]
    return "| " + " | ".join(cells) + " |"


def of_both_policies(measure: Callable[[str], float]) -> str:
    return f"{measure('greedy'):.3f} ({measure('cost-benefit'):.3f})"


def on(workload: str, manager: str, victims: str) -> float:
    run = {"workload": workload, "manager": manager, "victims": victims}
    return wa.simulate(**DRIVE, **run, warmup=2_000_000, writes=6_000_000).wa


def on_trace(manager: str, victims: str) -> float:
    run = {"manager": manager, "victims": victims, "repeat": 6, "spread": False}
    return wa.simulate(trace=TRACE, op=0.20, **run).wa


def bytes_per_page(manager: str) -> float:
    drive = wa.device(**DRIVE)
    simulation = _engine.Simulation(
        geometry=drive.geometry,
        logical_pages=drive.logical_pages,
        layout="flat",
        manager=manager,
        victims="greedy",
        workload="uniform",
        workload_pages=drive.logical_pages,
        seed=1,
        batch_pages=_engine.DEFAULT_BATCH_PAGES,
    )
    return simulation.scheme_bytes() / drive.logical_pages


def speed(manager: str) -> str:
    case = {**SPEED, "manager": manager, "workload": WORKLOADS[1], "repeats": 5}
    done = subprocess.run(
        [sys.executable, HERE / "engine_case.py", json.dumps({**case, "writes": 4_000_000})],
        check=True,
        capture_output=True,
        text=True,
    )
    return f"{statistics.median(json.loads(done.stdout)['host_pages_per_s']) / 1e6:.0f}"


if __name__ == "__main__":
    main()
