"""Read latency against wear and retention on `tlc-datacenter`.

`.venv/bin/python benches/worn_reads.py` plays random reads of 4 KiB, a Poisson process, on a drive
whose blocks were erased so often and whose data are so old, and writes a table of p50, p99 and
p99.9 and of the further tries to benches/results/; `--plot FILE.png` draws them.
"""

from __future__ import annotations

import argparse
import datetime
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from run import HERE, machine

import writeamp as wa

ERASES = (0, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 5000)
DAYS = (0, 90, 365)
QUANTILES = ("p50", "p99", "p99_9")
RATE = 2_000


def measured(erases: int, days: int, seconds: float) -> wa.TimedResult:
    """Read a drive of that wear and age."""
    found = wa.simulate(
        "tlc-datacenter",
        f"random:bs=4k,write=0,rate={RATE}",
        size="16GiB",
        time=seconds,
        set={"errors.worn_erases": erases, "errors.aged_days": days},
    )
    assert isinstance(found, wa.TimedResult)
    return found


def tries(one: wa.TimedResult) -> float:
    """Return the further tries of a read, in the mean."""
    retries = one.read_retries
    assert retries is not None
    reads = one.found.read_operations - sum(retries.values())
    return retries["host"] / reads


def main() -> None:
    """Run all, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="virtual time of a run")
    parser.add_argument("--plot", type=Path, help="draw the latencies to this file")
    asked = parser.parse_args()
    found = {}
    for days in DAYS:
        for erases in ERASES:
            one = found[erases, days] = measured(erases, days, asked.seconds)
            print(days, erases, *cells(one), flush=True)
    path = HERE / "results" / f"{datetime.date.today()}-worn-reads.md"
    path.write_text(page(found, asked.seconds), encoding="utf-8")
    if asked.plot:
        draw(found, asked.plot)
    print(path)


def cells(one: wa.TimedResult) -> list[str]:
    """Return the latencies of a run in µs, and its further tries a read."""
    found = one.latency_us["read"]
    return [f"{found[name]:.0f}" for name in QUANTILES] + [f"{tries(one):.3g}"]


def page(found: dict[tuple[int, int], wa.TimedResult], seconds: float) -> str:
    """Describe what was found in a table."""
    heads = [f"{days} days: {what}" for days in DAYS for what in ("p50", "p99", "p99.9", "tries")]
    lines = [
        "# Read latency against wear and retention",
        "",
        f"`benches/worn_reads.py` on {machine()}, writeamp {wa.__version__}: tlc-datacenter of 16 "
        f"GiB, {RATE:,} random reads of 4 KiB a second, Poisson, {seconds:g} s of virtual time, "
        "seed 1. Latencies in µs; tries are further ones, a read, in the mean.",
        "",
        "| erases | " + " | ".join(heads) + " |",
        "|---" * (len(heads) + 1) + "|",
    ]
    for erases in ERASES:
        row = [cell for days in DAYS for cell in cells(found[erases, days])]
        lines.append(f"| {erases:,} | " + " | ".join(row) + " |")
    return "\n".join([*lines, ""])


def draw(found: dict[tuple[int, int], wa.TimedResult], path: Path) -> None:
    """Plot each quantile against the erases."""
    figure, panels = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True, layout="constrained")
    for panel, name in zip(panels, QUANTILES, strict=True):
        for days in DAYS:
            latencies = [found[erases, days].latency_us["read"][name] for erases in ERASES]
            panel.plot(ERASES, latencies, "o-", label=f"data {days} days old")
        panel.set_yscale("log")
        panel.set_title(f"{name.replace('_', '.')} of reads")
        panel.set_xlabel("erases of a block")
        panel.grid(alpha=0.3, which="both")
    panels[0].set_ylabel("µs")
    panels[0].legend(fontsize=8)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
