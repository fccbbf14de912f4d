"""Are the stated intervals honest? Random cases against runs ten times longer with another seed.

    .venv/bin/python benches/steady_state.py --cases 200

Half of the cases run for a stated number of writes, half until steady and precise. The table goes
to docs/steady-state.md. Cases depend on their number only, so that a case can be looked at alone
(--first 17 --cases 1 --verbose).
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import writeamp as wa

MANAGERS = [
    *("single", "sepgc", "dac", "sfs", "multilog", "eti", "fadac", "warcip", "sepbit", "midas"),
    *("oracle", "hcwf", "hcwf-swap", "wolf", "wolf-interval", "fdp-frequency", "nvme-fdp"),
]
VICTIMS = [
    *("greedy", "fifo", "random", "d-choices:d=10", "windowed-greedy:window=64", "cost-benefit"),
]
DRIVE_WRITES = (5, 8, 10, 15, 20, 30, 40)
PRECISIONS = (0.003, 0.005, 0.01)
# Ten times the longest automatic runs would take minutes.
MOST_PAGES = 100_000_000


@dataclass(frozen=True)
class Case:
    """A run and what one ten times longer found."""

    number: int
    settings: dict[str, Any]
    kind: str
    steady: bool
    reason: str
    wa: float
    interval: tuple[float, float]
    long_wa: float
    long_interval: tuple[float, float]

    @property
    def covers(self) -> bool:
        """The interval holds what the longer run found."""
        return self.interval[0] <= self.long_wa <= self.interval[1]

    @property
    def overlaps(self) -> bool:
        """The two intervals have a WA in common."""
        return (
            self.interval[0] <= self.long_interval[1] and self.long_interval[0] <= self.interval[1]
        )

    def __str__(self) -> str:
        """Return the case in a line."""
        asked = " ".join(f"{key}={value}" for key, value in self.settings.items())
        low, high = self.interval
        said = f"{self.number} {asked}: {self.wa:.4f} [{low:.4f}, {high:.4f}]"
        if not self.steady:
            return f"{said} not steady: {self.reason}"
        return f"{said} steady; longer {self.long_wa:.4f}{'' if self.covers else ' MISSED'}"


def workload(draw: random.Random, pages: int) -> str:
    """Return a workload, its times in proportion to the drive."""
    cycle = draw.choice((1, 3, 10)) * pages
    return draw.choice(
        (
            "uniform",
            f"hot-cold:f={draw.choice((0.01, 0.05, 0.1, 0.3))},r={draw.choice((0.6, 0.9, 0.99))}",
            *(f"zipf:s={draw.choice((0.6, 0.8, 0.9, 0.99, 1.2))}",) * 3,
            "sequential",
            "permutation",
            "mix:sizes=0.1/0.9,weights=0.9/0.1,of=zipf(s=0.9)/sequential",
            f"phases:writes={cycle}/{2 * cycle},of=uniform/hot-cold(f=0.1,r=0.9)",
            f"groups:sizes=0.5/0.5,freq=0.1/0.9,swap_at={4 * cycle}",
            f"drift:f=0.1,r=0.9,period={cycle},steps=50",
            "database",
            *("tpcc",) * 2,
        )
    )


def run_case(number: int) -> Case:
    """Draw a case, run it, and run it ten times longer."""
    draw = random.Random(number)
    while True:
        blocks, pages_per_block = draw.choice((128, 256, 512)), draw.choice((16, 32, 64))
        op = draw.choice((0.07, 0.15, 0.28, 0.5))
        pages = int(blocks * pages_per_block / (1 + op))
        settings: dict[str, Any] = {
            "blocks": blocks,
            "pages_per_block": pages_per_block,
            "op": op,
            "workload": workload(draw, pages),
            "manager": draw.choice(MANAGERS),
        }
        if draw.random() < 0.6:
            settings["victims"] = draw.choice(VICTIMS)
        length: dict[str, Any] = (
            {"writes": draw.choice(DRIVE_WRITES) * pages}
            if number % 2
            else {"precision": draw.choice(PRECISIONS)}
        )
        try:
            found = wa.simulate(**settings, **length, seed=number)
            break
        except (
            wa.WriteampError
        ):  # a manager that the drive is too small for, or the victims not for
            continue
    long = found
    if found.steady:  # the others promise nothing
        writes = min(10 * found.writes, max(found.writes, MOST_PAGES))
        long = wa.simulate(**settings, writes=writes, seed=1_000_000 + number, replicas=1)
    return Case(
        number=number,
        settings=settings | length,
        kind="stated" if "writes" in length else "automatic",
        steady=found.steady,
        reason=found.steady_state.reason,
        wa=found.wa,
        interval=found.ci,
        long_wa=long.wa,
        long_interval=long.ci,
    )


def table(cases: list[Case]) -> Iterable[str]:
    """Yield the lines of the table."""
    yield "| runs | cases | not steady | of the steady: interval covers | intervals overlap |"
    yield "|---|---|---|---|---|"
    for kind in ("stated", "automatic", ""):
        chosen = [case for case in cases if kind in ("", case.kind)]
        steady = [case for case in chosen if case.steady]
        covers, overlaps = sum(c.covers for c in steady), sum(c.overlaps for c in steady)
        yield (
            f"| {kind or 'all'} | {len(chosen)} | {1 - len(steady) / len(chosen):.0%} "
            f"| {covers} of {len(steady)} ({covers / len(steady):.1%}) "
            f"| {overlaps} of {len(steady)} ({overlaps / len(steady):.1%}) |"
        )


def main() -> None:
    """Run the cases that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--verbose", action="store_true", help="show every case")
    asked = parser.parse_args()
    numbers = range(asked.first, asked.first + asked.cases)
    cases = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for case in pool.map(run_case, numbers):
            cases.append(case)
            if asked.verbose or (case.steady and not case.covers):
                print(case, flush=True)
    print("\n".join(table(cases)))


if __name__ == "__main__":
    main()
