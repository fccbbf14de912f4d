"""Cost of a sweep beside its points, and speed-up of two workers beside two processes.

    .venv/bin/python benches/sweeps.py --rounds 5

Points of about 0.2 s are run in turn by one process, by two plain processes that have half of them
each, and by a Dask cluster of two workers of this machine, which has been started before; the
cluster's speed-up over that of the plain processes is printed for each round, and the median. The
overhead is the time of a sweep of points that take next to nothing, for each of them. All of it
writes the results to a folder.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import writeamp as wa
from writeamp.runners import Runner, runner_of

WORKERS = 2
_folder = count()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--points", type=int, default=40)
    parser.add_argument("--writes", type=int, default=6_000_000, help="of each point")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="writeamp-bench-") as folder, ExitStack() as stack:
        here = stack.enter_context(runner_of(workers=1))
        start_s = time.perf_counter()
        cluster = stack.enter_context(runner_of(workers=WORKERS))
        swept(Path(folder), nothing(WORKERS), cluster)
        print(f"start of {WORKERS} workers: {time.perf_counter() - start_s:.2f} s")
        overheads(Path(folder), here, cluster, asked.rounds)
        speedups(Path(folder), here, cluster, asked)


def overheads(folder: Path, here: Runner, cluster: Runner, rounds: int) -> None:
    points = 2000
    for name, runner in (("in process", here), (f"{WORKERS} workers", cluster)):
        each_ms = [1e3 * swept(folder, nothing(points), runner) / points for _ in range(rounds)]
        print(f"overhead a point, {name}: median {median(each_ms):.2f} ms", rounded(each_ms))


def speedups(folder: Path, here: Runner, cluster: Runner, asked: argparse.Namespace) -> None:
    every = simulations(range(asked.points), asked.writes)
    ratios = []
    for at in range(asked.rounds):
        times: dict[str, float] = {}
        ways: dict[str, Callable[[], Any]] = {
            "one": lambda: swept(folder, every, here),
            "plain": lambda: plainly(folder, asked.points, asked.writes),
            "cluster": lambda: swept(folder, every, cluster),
        }
        for name in sorted(ways, reverse=bool(at % 2)):
            started = time.perf_counter()
            ways[name]()
            times[name] = time.perf_counter() - started
        ratios.append(times["plain"] / times["cluster"])
        print(
            f"one process {times['one']:.2f} s ({times['one'] / asked.points:.3f} a point), "
            f"two plain {times['plain']:.2f} s (x{times['one'] / times['plain']:.2f}), "
            f"two workers {times['cluster']:.2f} s (x{times['one'] / times['cluster']:.2f}), "
            f"ratio {ratios[-1]:.3f}"
        )
    print(f"speed-up of two workers over that of two plain processes: median {median(ratios):.3f}")


def plainly(folder: Path, points: int, writes: int) -> None:
    """Run half of the points in each of two processes that know nothing of each other."""
    # Not by fork: this process has the threads of Dask's scheduler.
    context = multiprocessing.get_context("spawn")
    halves = [range(at, points, WORKERS) for at in range(WORKERS)]
    started = [
        context.Process(target=_half, args=(folder / f"half-{next(_folder)}", one, writes))
        for one in halves
    ]
    for one in started:
        one.start()
    for one in started:
        one.join()


def _half(out: Path, seeds: range, writes: int) -> None:
    wa.sweep(simulations(seeds, writes), keep=out, runner=wa.runners.Here())


def swept(folder: Path, plan: dict[str, Any], runner: Runner) -> float:
    started = time.perf_counter()
    found = wa.sweep(plan, keep=folder / str(next(_folder)), runner=runner)
    assert found.done == found.points
    return time.perf_counter() - started


def simulations(seeds: range, writes: int) -> dict[str, Any]:
    return {
        "device": {"blocks": 1024, "pages_per_block": 64, "op": 0.15},
        "run": {"writes": writes, "replicas": 1},
        "sweep": {"axes": {"seed": list(seeds)}},
    }


def nothing(points: int) -> dict[str, Any]:
    return {
        "verb": "predict",
        "predict": {"model": "uniform-distribution"},
        "sweep": {"axes": {"op": {"from": 0.1, "to": 0.5, "num": points}}},
    }


def rounded(values: list[float]) -> str:
    return "(" + ", ".join(f"{one:.2f}" for one in values) + ")"


if __name__ == "__main__":
    main()
