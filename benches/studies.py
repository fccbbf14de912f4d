"""Cost of a study beside its runs: without a folder, with one, and where all runs are kept.

    .venv/bin/python benches/studies.py --rounds 5

A comparison of many managers on tiny drives is run on one thread, and so are its runs alone, in
turn; by how much the comparison takes longer is divided by the runs. The second call into a folder
runs nothing, so that all of its time counts. The same is done for lives of drives.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import writeamp as wa
from writeamp.runners import Here
from writeamp.runs.lives import study_of
from writeamp.studies.compare import comparison
from writeamp.studies.compare.comparison import run_comparison
from writeamp.studies.endurance.lifetime import run_lifetime

DRIVE: dict[str, Any] = {"blocks": 64, "pages_per_block": 16, "op": 0.25}
WORKLOAD = "hot-cold:f=0.1,r=0.9"
REPLICAS = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--writes", type=int, default=2000, help="of each case")
    asked = parser.parse_args()
    half = asked.cases // REPLICAS
    compared = wa.Experiment.of(
        "compare",
        managers=[f"hcwf:d={2 + at}" for at in range(half)],
        workload=WORKLOAD,
        writes=asked.writes,
        replicas=REPLICAS,
        **DRIVE,
    )
    lives = wa.Experiment.of("endurance", w_max=3, replicas=asked.cases, **DRIVE)
    studies: dict[str, Callable[[Path | None], Any]] = {
        "compare": lambda out: run_comparison(compared, None, Here(), out),
        "endurance": lambda out: run_lifetime(lives, runner=Here(), keep=out),
    }
    alone: dict[str, Callable[[], float]] = {
        "compare": lambda: runs_of(compared),
        "endurance": lambda: lives_of(lives, asked.cases),
    }
    for name, study in studies.items():
        costs: dict[str, list[float]] = {"without a folder": [], "with one": [], "second call": []}
        runs = []
        for _ in range(asked.rounds):
            with tempfile.TemporaryDirectory(prefix="writeamp-bench-") as folder:
                out = Path(folder) / "out"
                of_runs = alone[name]()
                runs.append(of_runs)
                for which, given in zip(costs, (None, out, out), strict=True):
                    started = time.perf_counter()
                    found = study(given)
                    took = time.perf_counter() - started
                    skipped = found.store_stats.skipped if found.store_stats else 0
                    assert skipped == (asked.cases if which == "second call" else 0)
                    costs[which].append(took - (0 if skipped else of_runs))
                size = sum(one.stat().st_size for one in out.iterdir())
        print(f"{name}: {asked.cases} cases, runs alone {each_ms(median(runs), asked.cases)} each")
        for which, seconds in costs.items():
            print(f"  {which}: median {each_ms(median(seconds), asked.cases)}", rounded(seconds))
        print(f"  {size / asked.cases / 1024:.1f} KiB a case in the folder")


def runs_of(experiment: wa.Experiment) -> float:
    """Return the seconds that the runs of a comparison take by themselves."""
    bases = comparison._bases(experiment)
    turns = comparison._turns(experiment, [plan.load_name for plan, _ in bases])
    started = time.perf_counter()
    for turn in turns:
        comparison.run(comparison._plan_of_turn(bases, turn), bases[turn.load][1])
    return time.perf_counter() - started


def lives_of(experiment: wa.Experiment, replicas: int) -> float:
    """Return the seconds that lives take by themselves."""
    study = study_of(experiment)
    started = time.perf_counter()
    for replica in range(replicas):
        study.live(replica, None)
    return time.perf_counter() - started


def each_ms(seconds: float, cases: int) -> str:
    return f"{1e3 * seconds / cases:.2f} ms"


def rounded(values: list[float]) -> str:
    return "(" + ", ".join(f"{one:.2f}" for one in values) + " s)"


if __name__ == "__main__":
    main()
