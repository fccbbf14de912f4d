"""Answers on five loads and three devices: differences of ways, and what stays unexplained.

    .venv/bin/python benches/answers.py > benches/results/DATE-answers.md

Every pair of rows agrees within intervals, or its difference has causes that were measured; the
table shows the worst unexplained share of WA of each question. Needs nbdkit.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import writeamp as wa

EXAMPLES = Path(__file__).parent.parent / "examples"
LOADS: dict[str, dict[str, Any]] = {
    "uniform": {"workload": "uniform"},
    "zipf": {"workload": "zipf:s=0.99"},
    "hot/cold": {"workload": "hot-cold:f=0.1,r=0.9"},
    "PostgreSQL": {"trace": str(EXAMPLES / "postgres-tpcb.parquet"), "mapping": "compact"},
    "SQLite": {"trace": str(EXAMPLES / "sqlite-upserts.parquet"), "mapping": "compact"},
}
DEVICES = ("tlc-datacenter", "ssd-v", "generic")
SIZES = {"SQLite": "80MiB"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--load", action="append", choices=LOADS, help="these alone")
    parser.add_argument("--device", action="append", choices=DEVICES, help="these alone")
    asked = parser.parse_args()
    print("# Answers: rows, differences, and what is unexplained\n")
    print(f"{os.cpu_count()} processors. Drives of 512 MiB (SQLite: {SIZES['SQLite']}).\n")
    print(
        "| load | device | rows | pairs that agree | largest difference | worst unexplained | s |"
    )
    print("|---|---|---|---|---|---|---|")
    reasons: list[str] = []
    try:
        for load in asked.load or LOADS:
            for device in asked.device or DEVICES:
                reasons += ask(load, device)
    except KeyboardInterrupt:
        print("\nInterrupted: the questions that follow were not asked.")
    print("\n## Why rows differ from the simulation, in WA, and what would make it less\n")
    print("\n".join(reasons))


def ask(load: str, device: str) -> list[str]:
    """Print the row of one question, and return the lines that say why its rows differ."""
    began = time.perf_counter()
    try:
        found = wa.answer(device, size=SIZES.get(load, "512MiB"), **LOADS[load])
    except wa.WriteampError as error:
        print(f"| {load} | {device} | {error} | | | | |", flush=True)
        return []
    print(row(load, device, found, time.perf_counter() - began), flush=True)
    return [f"**{load}, {device}**", "", *why(found), ""]


def row(load: str, device: str, found: wa.Answer, seconds: float) -> str:
    rows = ", ".join(f"{one.way} {one.wa:.3f}" for one in found.rows if one.answers)
    pairs = found.differences
    agreeing = sum(one.agree for one in pairs)
    worst = max((unexplained(found, one) for one in pairs if not one.agree), key=abs, default=0.0)
    largest = max((abs(one.wa_difference) for one in pairs), default=0.0)
    return (
        f"| {load} | {device} | {rows} | {agreeing} of {len(pairs)} | {largest:.3f} | "
        f"{worst:+.2%} | {seconds:.0f} |"
    )


def unexplained(found: wa.Answer, one: Any) -> float:
    """Return what is unexplained of a difference, as a share of the larger WA."""
    larger = max(row.wa for row in found.rows if row.way in one.between)
    return float(one.unexplained / larger)


def why(found: wa.Answer) -> list[str]:
    simulated = found.simulated
    assert simulated is not None
    lines = []
    for one in found.rows:
        if one is simulated:
            continue
        if not one.answers:
            lines.append(f"- {one.way}: {one.reason}")
            continue
        pair = found.between(one.way, simulated.way)
        assert pair is not None
        sign = 1 if pair.between[1] == one.way else -1
        if pair.agree:
            lines.append(
                f"- {one.way} {sign * pair.wa_difference:+.4f}: agrees (±{pair.noise:.4f})"
            )
            continue
        causes = "; ".join(f"{sign * each.share:+.4f} {each.cause}" for each in pair.causes)
        lines.append(
            f"- {one.way} {sign * pair.wa_difference:+.4f}: {causes}; "
            f"{sign * pair.unexplained:+.4f} unexplained ({sign * unexplained(found, pair):+.2%})"
        )
    return [*lines, *(f"- {change.change}: {change.wa:.4f}" for change in found.advice)]


if __name__ == "__main__":
    main()
