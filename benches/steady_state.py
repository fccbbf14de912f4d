"""Check of stated intervals: random cases against runs ten times longer with another seed.

    .venv/bin/python benches/steady_state.py --cases 200
    .venv/bin/python benches/steady_state.py --loads others --first 70000 --cases 150
    .venv/bin/python benches/steady_state.py --loads changing --first 90000 --cases 100
    .venv/bin/python benches/steady_state.py --loads traces --first 90000 --cases 60

Of all loads half of the cases run for a stated number of writes, half until steady and precise.
So do "others", which have workloads that the rules were not tuned on. If the width is right, the
interval covers 95% of the longer runs, and their median deviation is 0.34 of the half width.
Changing loads (phases, drift, groups that swap, mixes) run for a stated number on small drives, and
traces are repeated as needed, against ten times as many passes. The tables go to
docs/steady-state.md. Cases depend on their number only, so that a case can be looked at alone
(--first 17 --cases 1 --verbose).
"""

from __future__ import annotations

import argparse
import math
import os
import random
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

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
MOST_PAGES = 30_000_000


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
    def deviation(self) -> float:
        """Deviation of the longer run in half widths of the interval; NaN if it has no width."""
        half_width = (self.interval[1] - self.interval[0]) / 2
        return abs(self.long_wa - self.wa) / half_width if half_width > 1e-9 else math.nan

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


def other(draw: random.Random, pages: int) -> str:
    """Return a workload that `workload` does not draw."""
    zone = draw.choice((256, 1024)) * 4096
    return draw.choice(
        (
            f"fio-zipf:theta={draw.choice((0.8, 1.1, 1.3))}",
            f"fio-pareto:h={draw.choice((0.2, 0.4))}",
            f"uniform:trim={draw.choice((0.1, 0.3))}",
            f"zipf:s={draw.choice((0.7, 1.0))},trim=0.1",
            f"cachelib:soc={draw.choice((0.04, 0.2))},soc_writes=0.33",
            f"zones-sequential:zone={zone},active={draw.choice((2, 8))},bs=16k",
            f"groups:sizes=0.2/0.3/0.5,freq={draw.choice(('5/3/2', '8/1/1'))}",
            f"random:bs={draw.choice(('8k', '16k', '64k'))}",
            "jesd219",
            "lsm:table=0.01",
        )
    )


def changing(draw: random.Random, pages: int) -> str:
    """Return a load that changes, by itself or in its parts."""
    cycle = draw.choice((0.5, 1, 3, 5, 10)) * pages
    parts = ["uniform", "hot-cold(f=0.1,r=0.9)", "zipf(s=0.9)", "sequential", "zipf(s=1.2)"]
    one, other = draw.sample(parts, 2)
    after = f"swap_at={cycle:.0f}"
    return draw.choice(
        (
            *(f"phases:writes={cycle:.0f}/{draw.choice((0.5, 1, 2)) * cycle:.0f},of={one}/{other}",)
            * 2,
            f"drift:f={draw.choice((0.1, 0.2))},r=0.9,period={cycle:.0f},steps=10",
            f"groups:sizes=0.5/0.5,freq=0.1/0.9,{after}{draw.choice(('', f',period={cycle:.0f}'))}",
            f"mix:sizes=0.3/0.7,weights=0.8/0.2,of={one}/{other}",
        )
    )


def run_changing(number: int) -> Case:
    """Draw a load that changes on a small drive, run it, and run it ten times longer."""
    draw = random.Random(number)
    while True:
        blocks, op = draw.choice((200, 300, 400)), draw.choice((0.07, 0.15, 0.28, 0.5))
        pages = int(blocks * 32 / (1 + op))
        settings: dict[str, Any] = {
            "blocks": blocks,
            "pages_per_block": 32,
            "op": op,
            "workload": changing(draw, pages),
            "manager": draw.choice(MANAGERS),
        }
        writes = draw.choice((20, 40, 80)) * pages
        try:
            found = wa.simulate(**settings, writes=writes, seed=number)
            break
        except wa.WriteampError:
            continue
    long = found
    if found.steady:
        seed = 1_000_000 + number
        long = wa.simulate(**settings, writes=10 * writes, seed=seed, replicas=1)
    return _case(number, settings | {"writes": writes}, "changing", found, long)


def run_trace(number: int) -> Case:
    """Draw a trace, repeat it as needed, and ten times as often."""
    draw = random.Random(number)
    rng = np.random.default_rng(number)
    while True:
        pages, phases = draw.choice((3000, 6000)), draw.choice((1, 2, 4))
        parts = [_drawn(draw, rng, pages, draw.choice((1, 2, 5)) * pages) for _ in range(phases)]
        settings: dict[str, Any] = {
            "op": draw.choice((0.07, 0.15, 0.28, 0.5)),
            "pages_per_block": 32,
            "manager": draw.choice(MANAGERS),
        }
        trace = np.concatenate(parts)
        try:
            found = wa.simulate(trace=trace, **settings, seed=number, spread=False)
            break
        except wa.WriteampError:
            continue
    long = found
    if found.steady:
        long = wa.simulate(
            trace=trace, **settings, seed=number, spread=False, repeat=10 * found.passes.height
        )
    return _case(number, settings | {"writes of a pass": trace.size}, "traces", found, long)


def _drawn(
    draw: random.Random, rng: np.random.Generator, pages: int, count: int
) -> npt.NDArray[np.int64]:
    """Return pages that are written at random, by a skew of their own, or in order."""
    if draw.random() < 0.2:
        return np.arange(count) % pages
    weights = np.arange(1, pages + 1) ** -draw.choice((0.0, 0.6, 0.9, 1.2))
    return rng.permutation(pages)[rng.choice(pages, count, p=weights / weights.sum())]


def run_case(number: int, draw_load: Callable[[random.Random, int], str] = workload) -> Case:
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
            "workload": draw_load(draw, pages),
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
    kind = "stated" if "writes" in length else "automatic"
    return _case(number, settings | length, kind, found, long)


def _case(number: int, settings: dict[str, Any], kind: str, found: Any, long: Any) -> Case:
    return Case(
        number=number,
        settings=settings,
        kind=kind,
        steady=found.steady,
        reason=found.steady_state.reason,
        wa=found.wa,
        interval=found.ci,
        long_wa=long.wa,
        long_interval=long.ci,
    )


RUNS = {
    "all": run_case,
    "others": partial(run_case, draw_load=other),
    "changing": run_changing,
    "traces": run_trace,
}


def table(cases: list[Case]) -> Iterable[str]:
    """Yield the lines of the table."""
    yield (
        "| runs | cases | not steady | of the steady: interval covers | intervals overlap "
        "| median deviation, half widths |"
    )
    yield "|---|---|---|---|---|---|"
    for kind in (*sorted({case.kind for case in cases}, reverse=True), ""):
        chosen = [case for case in cases if kind in ("", case.kind)]
        steady = [case for case in chosen if case.steady]
        covers, overlaps = sum(c.covers for c in steady), sum(c.overlaps for c in steady)
        yield (
            f"| {kind or 'all'} | {len(chosen)} | {1 - len(steady) / len(chosen):.0%} "
            f"| {covers} of {len(steady)} ({covers / max(len(steady), 1):.1%}) "
            f"| {overlaps} of {len(steady)} ({overlaps / max(len(steady), 1):.1%}) "
            f"| {np.nanmedian([case.deviation for case in steady]):.2f} |"
        )


def main() -> None:
    """Run the cases that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument(
        "--step", type=int, default=1, help="2: only stated, or only automatic runs"
    )
    parser.add_argument("--loads", choices=RUNS, default="all")
    parser.add_argument("--verbose", action="store_true", help="show every case")
    asked = parser.parse_args()
    numbers = range(asked.first, asked.first + asked.step * asked.cases, asked.step)
    cases = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for case in pool.map(RUNS[asked.loads], numbers):
            cases.append(case)
            if asked.verbose or (case.steady and not case.covers):
                print(case, flush=True)
    print("\n".join(table(cases)))


if __name__ == "__main__":
    main()
