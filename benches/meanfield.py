"""Time of a fixed point of the mean field on one core, by write mode and pages of a block.

Prints a table with the machine's name and writes it to benches/results/: medians over the twelve
drives of paper 4's Table 1, each the best of a few calls, at every block size.
"""

from __future__ import annotations

import datetime
import re
import statistics

from run import HERE, machine

import writeamp as wa
from writeamp.meanfield import FixedPoint, hot_cold, hot_cold_swap

REPEATS = 5
PAGES_PER_BLOCK = (16, 32, 64, 128, 256)
# Spare factor, d, d*, hot write fraction, hot fraction.
DRIVES = [
    (0.15, 4, 1, 0.86, 0.24),
    (0.12, 9, 10, 0.81, 0.08),
    (0.09, 12, 5, 0.94, 0.02),
    (0.06, 5, 2, 0.86, 0.13),
    (0.15, 15, 40, 0.8, 0.07),
    (0.12, 50, 8, 0.77, 0.2),
    (0.09, 3, 1, 0.92, 0.12),
    (0.06, 8, 15, 0.88, 0.03),
    (0.15, 4, 100, 0.8, 0.05),
    (0.12, 20, 30, 0.95, 0.15),
    (0.09, 6, 3, 0.7, 0.2),
    (0.06, 10, 1, 0.9, 0.1),
]
TARGETS_MS = {("HCWF", 128): 2, ("HCWF(swap)", 64): 20, ("HCWF(swap)", 128): 100}


def main() -> None:
    lines = [
        f"# writeamp {wa.__version__}, mean field, {datetime.date.today()}, {machine()}",
        "",
        "Milliseconds a fixed point on one core: to find it, and to check it (residual and",
        "conditioning). Twelve drives, those of paper 4's Table 1 with other block sizes.",
        "",
        "| write mode | pages per block | found, median | found, worst | target | checked, median |"
        " largest residual |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for mode in ("HCWF", "HCWF(swap)"):
        for pages in PAGES_PER_BLOCK:
            lines.append(row(mode, pages))
            print(lines[-1], flush=True)
    slug = re.sub(r"[^a-z0-9]+", "-", machine().lower())
    out = HERE / "results" / f"{datetime.date.today()}-meanfield-{slug}.md"
    out.parent.mkdir(exist_ok=True)
    out.write_text("\n".join(lines) + "\n")
    print(f"\nwritten to {out}")


def row(mode: str, pages: int) -> str:
    found_ms, checked_ms, residuals = [], [], []
    for drive in DRIVES:
        points = [solve(mode, pages, *drive) for _ in range(REPEATS)]
        found_ms.append(1e3 * min(point.elapsed_s for point in points))
        checked_ms.append(1e3 * min(point.check_elapsed_s for point in points))
        residuals.append(points[0].residual)
    cells = [
        mode,
        str(pages),
        f"{statistics.median(found_ms):.2f}",
        f"{max(found_ms):.2f}",
        str(TARGETS_MS.get((mode, pages), "")),
        f"{statistics.median(checked_ms):.2f}",
        f"{max(residuals):.1e}",
    ]
    return "| " + " | ".join(cells) + " |"


def solve(mode: str, pages: int, *drive: float) -> FixedPoint:
    spare_factor, d, d_swap, hot_write_fraction, hot_fraction = drive
    arguments = {
        "pages_per_block": pages,
        "spare_factor": spare_factor,
        "d": int(d),
        "hot_fraction": hot_fraction,
        "hot_write_fraction": hot_write_fraction,
    }
    if mode == "HCWF":
        return hot_cold(**arguments)
    return hot_cold_swap(**arguments, d_swap=int(d_swap))


if __name__ == "__main__":
    main()
