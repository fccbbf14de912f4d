"""Tail latency against load on `tlc-datacenter`, by how its dies choose what to do next.

`.venv/bin/python benches/tails.py` plays random requests (70% reads of 4 KiB, a Poisson process)
at growing rates on an aged drive, once for each set of rules, and writes tables of p99 and p99.9 of
reads and writes to benches/results/; `--plot FILE.png` draws them.
"""

from __future__ import annotations

import argparse
import datetime
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from run import HERE, machine

import writeamp as wa

# Small, with small blocks, so that it comes to collect all the time.
DRIVE: dict[str, Any] = {
    "device": "tlc-datacenter",
    "size": "12GiB",
    "pages_per_block": 1152,
    "manager": "sepgc",
    "precondition": "random:1",
}
RATES = (5000, 10000, 20000, 40000, 60000)
# The profile's flash, and nothing of its rules but the order in which operations come.
PLAIN: dict[str, Any] = {
    "scheduling.reads_first": False,
    "scheduling.suspend": False,
    "scheduling.copies_yield": False,
    "scheduling.dispatch": '"in-turn"',
    "collection.soft_blocks": 3,
}
FIRST = PLAIN | {"scheduling.reads_first": True}
SUSPEND = FIRST | {"scheduling.suspend": True}
YIELD = SUSPEND | {"scheduling.copies_yield": True}
PACED = YIELD | {"collection.paced": True}
RULES: dict[str, dict[str, Any]] = {
    "in order": PLAIN,
    "reads first": FIRST,
    "… and suspend": SUSPEND,
    "… and copies yield": YIELD,
    "… and paced": PACED,
    "… and at most 5 ms of waiting": PACED | {"scheduling.most_wait_us": 5000.0},
}
QUANTILES = (("read", "p99"), ("read", "p99_9"), ("write", "p99"), ("write", "p99_9"))


def measured(
    rules: dict[str, Any], rate: int, seconds: float, cache_mib: int = 4
) -> wa.TimedResult:
    """Run one load under one set of rules."""
    rules = rules | {"write_cache.bytes": cache_mib << 20}
    settings = [f"{key}={str(value).lower()}" for key, value in rules.items()]
    load = f"random:bs=4k,write=0.3,rate={rate}"
    found = wa.simulate(**DRIVE, workload=load, time=seconds, set=settings)
    assert isinstance(found, wa.TimedResult)
    return found


def main() -> None:
    """Run all, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="virtual time of a run")
    parser.add_argument("--cache-mib", type=int, default=4, help="size of the write cache")
    parser.add_argument("--rates", type=int, nargs="+", default=list(RATES))
    parser.add_argument("--plot", type=Path, help="draw the tails to this file")
    asked = parser.parse_args()
    found = {}
    for name, rules in RULES.items():
        for rate in asked.rates:
            one = found[name, rate] = measured(rules, rate, asked.seconds, asked.cache_mib)
            print(f"{name:32} {rate:6} {one.wa:6.3f}", *tails(one), flush=True)
    name = f"{datetime.date.today()}-tails-cache-{asked.cache_mib}-mib"
    path = HERE / "results" / f"{name}.md"
    path.write_text(page(found, asked), encoding="utf-8")
    if asked.plot:
        draw(found, asked.rates, asked.plot)
    print(path)


def tails(one: wa.TimedResult) -> list[str]:
    """Return the quantiles of a run in ms, to three digits."""
    return [written(tail_ms(one, *of)) for of in QUANTILES]


def written(ms: float) -> str:
    """Write a time to three digits."""
    return f"{float(f'{ms:.3g}'):,g}"


def tail_ms(one: wa.TimedResult, direction: str, quantile: str) -> float:
    """Return a quantile of latency in ms."""
    return one.latency_us[direction][quantile] / 1e3


def page(found: dict[tuple[str, int], wa.TimedResult], asked: argparse.Namespace) -> str:
    """Describe what was found in tables."""
    rates, seconds = asked.rates, asked.seconds
    lines = [
        "# Tail latency against load",
        "",
        f"`benches/tails.py` on {machine()}, writeamp {wa.__version__}: {DRIVE['device']} of "
        f"{DRIVE['size']}, blocks of {DRIVE['pages_per_block']} pages a plane, a write cache of "
        f"{asked.cache_mib} MiB, manager {DRIVE['manager']}, aged by one drive write; 70% random "
        f"reads of 4 KiB, 30% random writes, Poisson, {seconds:g} s of virtual time, seed 1. "
        "In ms.",
    ]
    for direction, quantile in QUANTILES:
        shown = quantile.replace("_", ".")
        lines += ["", f"## {shown} of {direction}s", ""]
        lines += ["| requests a second | " + " | ".join(f"{rate:,}" for rate in rates) + " |"]
        lines += ["|---" * (len(rates) + 1) + "|"]
        for name in RULES:
            cells = [written(tail_ms(found[name, rate], direction, quantile)) for rate in rates]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    was = [f"{found[name, rates[-1]].wa:.3f}" for name in RULES]
    lines += ["", f"WA at the highest rate, in the order of the rows: {', '.join(was)}.", ""]
    return "\n".join(lines)


def draw(found: dict[tuple[str, int], wa.TimedResult], rates: list[int], path: Path) -> None:
    """Plot each quantile against the rate."""
    figure, panels = plt.subplots(2, 2, figsize=(10, 7), sharex=True, layout="constrained")
    for panel, (direction, quantile) in zip(panels.flat, QUANTILES, strict=True):
        for name in RULES:
            panel.plot(
                rates,
                [tail_ms(found[name, r], direction, quantile) for r in rates],
                "o-",
                label=name,
            )
        panel.set_yscale("log")
        panel.set_title(f"{quantile.replace('_', '.')} of {direction}s")
        panel.set_ylabel("ms")
    for panel in panels[1]:
        panel.set_xlabel("requests a second")
    panels[0, 0].legend(fontsize=8)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
