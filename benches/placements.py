"""Every block manager on one set of work: write amplification, memory of the scheme, speed.

Prints its tables, and writes them to benches/results/ with the date and machine. `make generate`
copies them from there to docs/placements.md and docs/compare.md. As many simulations run at a time
as there are processors (half an hour on two).
"""

from __future__ import annotations

import datetime
import functools
import json
import math
import multiprocessing
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from run import HERE, machine

import writeamp as wa
from writeamp import _engine
from writeamp.registry import engine_entries

TRACE = HERE.parent / "examples" / "postgres-tpcb.parquet"
SQLITE = HERE.parent / "examples" / "sqlite-upserts.parquet"
DRIVE = {"blocks": 2048, "pages_per_block": 64, "op": 0.20}
SWAPS = "groups:sizes=0.5/0.5,freq=0.1/0.9,period=1000000,swap_at=1000000"
HOT_COLD = "hot-cold:f=0.1,r=0.9"
M = 1_000_000
LOADS: dict[str, dict[str, object]] = {
    "zipf 0.99": {**DRIVE, "workload": "zipf:s=0.99", "warmup": 2 * M, "writes": 6 * M},
    "hot-cold": {**DRIVE, "workload": HOT_COLD, "warmup": 2 * M, "writes": 6 * M},
    "PostgreSQL": {"trace": TRACE, "op": 0.20, "repeat": 6, "spread": False},
    "tpcc": {"device": "eagletree", "workload": "tpcc", "warmup": 20 * M, "writes": 40 * M},
    "swaps": {
        **{"blocks": 2048, "pages_per_block": 64, "fill": 0.7},
        **{"workload": SWAPS, "warmup": 0, "writes": 6 * M},
    },
    "drift": {
        **DRIVE,
        **{"workload": "drift:f=0.1,r=0.9,period=4e6", "warmup": 4 * M, "writes": 8 * M},
    },
    "database": {**DRIVE, "workload": "database", "warmup": 3 * M, "writes": 6 * M},
    "uniform": {**DRIVE, "workload": "uniform", "warmup": 2 * M, "writes": 4 * M},
}
# Loads beside those eight, on which no figure was tuned; but zipf 1.2 and the mixture showed faults
# that were mended. SQLite ran on the virtual SSD (examples/sqlite_upserts.py with 20,000
# transactions, ext4).
KEPT_ASIDE: dict[str, dict[str, object]] = {
    "zipf 0.8, op 0.1": {
        **DRIVE,
        "op": 0.10,
        "workload": "zipf:s=0.8",
        "warmup": 2 * M,
        "writes": 4 * M,
    },
    "zipf 1.2, op 0.05": {
        **DRIVE,
        "op": 0.05,
        "workload": "zipf:s=1.2",
        "warmup": 2 * M,
        "writes": 4 * M,
    },
    "hot-cold .2/.8, op 0.4": {
        **{**DRIVE, "op": 0.40, "workload": "hot-cold:f=0.2,r=0.8"},
        **{"warmup": 2 * M, "writes": 4 * M},
    },
    "zipf 1.1, op 0.07": {
        **DRIVE,
        "op": 0.07,
        "workload": "zipf:s=1.1",
        "warmup": 2 * M,
        "writes": 4 * M,
    },
    "drift .2/.8, op 0.1": {
        **{**DRIVE, "op": 0.10, "workload": "drift:f=0.2,r=0.8,period=2e6"},
        **{"warmup": 2 * M, "writes": 4 * M},
    },
    "four groups, op 0.07": {
        **{**DRIVE, "op": 0.07, "workload": "groups:sizes=0.1/0.2/0.3/0.4,freq=0.5/0.3/0.15/0.05"},
        **{"warmup": 2 * M, "writes": 4 * M},
    },
    "mixture": {
        **DRIVE,
        "workload": "mix(sizes=0.2/0.3/0.5,weights=0.3/0.4/0.3,of=uniform/sequential/zipf(s=1))",
        **{"warmup": 2 * M, "writes": 4 * M},
    },
    "SQLite, op 0.15": {"trace": SQLITE, "op": 0.15, "repeat": 6, "spread": False},
}
# Those of which the first table shows both victim policies.
STILL = ("zipf 0.99", "hot-cold", "PostgreSQL")
# Beside its own, the victim policies under which a scheme may be the best. Where it comes near the
# best with these, others are tried too.
VICTIMS = ["greedy", "cost-benefit"]
NEAR = 1.15
OTHER_VICTIMS = [
    "cost-benefit:age=closed",
    "cost-benefit:power=0.5",
    "cost-benefit:age=closed,power=0.5",
    "cost-hotness",
]
# Addresses near each other share a stream. Where groups of pages are ranges, as in most synthetic
# loads, that is to know them.
RANGES = ["nvme-fdp:by=range", "nvme-fdp:by=range,isolation=persistent"]
# A trace names no groups; these do without them.
MORE = [
    "hcwf:detector=bloom",
    "hcwf-swap:detector=bloom",
    *RANGES,
    "wolf:detector=bloom",
    "fdp-frequency:detector=bloom",
]
# As published sfs has victims that spoil long runs, four groups, and a linear scale.
OTHER_SFS = [
    ("sfs", "cost-benefit"),
    ("sfs:groups=6", "cost-benefit"),
    ("sfs:scale=log,unit=page", "cost-benefit"),
]
# The groups that zipf tells on this drive are one more than these keep by default.
ROOM = {
    ("wolf", "zipf 0.99"): "wolf:max_groups=17",
    ("fdp-frequency", "zipf 0.99"): "fdp-frequency:max_groups=17",
}
DRIVES = """\
Write amplification ± half the width of the run's own 95% interval. Drive: 2048 blocks of 64 pages,
flat, op 0.20, unless said otherwise. zipf 0.99 and hot-cold (.1/.9): 6 M writes, the first 2 M left
out. PostgreSQL: postgres-tpcb.parquet, op 0.20, 6 times, of which 5 count. tpcc: eagletree, 40 M
writes, the second half counts. swaps: two halves with 0.1 and 0.9 of the writes, changing places
every 1 M writes, fill 0.7, 6 M writes, all count. drift (.1/.9, period 4 M): 8 M writes; database:
6 M; uniform: 4 M; the second half counts. Loads kept aside: 4 M writes, the second half counts;
mixture: uniform, sequential and zipf 1 parts; SQLite: sqlite-upserts.parquet, 6 times. Seconds: of
all those runs. Speed: hot-cold on 1 M pages, fill 0.70, greedy, median of 5.
""".splitlines()
ZIPF_GROUPS = "Zipf tells 17 groups: there `wolf` and `fdp-frequency` have max_groups=17."
SPEED = {"blocks": 8192, "pages_per_block": 128, "fill": 0.7, "victims": "greedy"}
ABSENT = "–"


# A load, a manager and its victim policy.
Key = tuple[str, str, str]


@dataclass(frozen=True)
class Run:
    """Values that the tables show of a simulation."""

    wa: float
    ci: tuple[float, float]
    hints: str | None
    bytes_per_page: float
    seconds: float


def main() -> None:
    managers = [entry.name for entry in engine_entries("managers")] + MORE
    rows = [(name, _engine.default_victims(name)) for name in managers]
    at = managers.index("sfs") + 1
    rows[at:at] = OTHER_SFS
    loads = [*LOADS, *KEPT_ASIDE]
    run([(load, *row) for row in rows for load in loads])
    # All who get no hints, so that their means are over the same loads.
    inferring = [row for row in rows if hints(*row) is None]
    common = [load for load in LOADS if all(of(load, *row) for row in inferring)]
    every = table(
        ["hints", "victims", *LOADS, f"geometric mean of {len(common)}", "seconds"],
        [(shown(name), functools.partial(on_all_loads, name, by, common)) for name, by in rows],
    )
    names = list(dict.fromkeys(name for name, _ in inferring if name != "wolf-interval"))
    run([(load, name, victims) for load in loads for name in names for victims in VICTIMS])
    run([key for load in loads for key in worth_a_try(load, names)])
    best = table(
        ["`wolf-interval`", "best other that infers", "WA over it", "by ranges of addresses"],
        [(load, functools.partial(beside_the_next, load, names)) for load in loads],
        of="load",
    )
    both = [*managers, *dict.fromkeys(name for name, _ in OTHER_SFS if name != "sfs")]
    run([(load, name, victims) for name in both for load in STILL for victims in VICTIMS])
    still = table(
        [*STILL, "bytes/page", "M writes/s"],
        [(shown(name), functools.partial(under_both, name)) for name in both],
    )
    lines = [
        f"# Placements, writeamp {wa.__version__}, {datetime.date.today()}, {machine()}",
        *["", *DRIVES, "", "## Each manager's own victims", "", *every, "", ZIPF_GROUPS],
        *[
            "",
            "## `wolf-interval` beside the best of the others, under any victim policy",
            "",
            *best,
        ],
        *["", "## Greedy victims (cost-benefit in brackets)", "", *still, ""],
        *(f"- {reason}" for reason in sorted(refusals())),
    ]
    slug = re.sub(r"[^a-z0-9]+", "-", machine().lower())
    out = HERE / "results" / f"{datetime.date.today()}-placements-{slug}.md"
    out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    print(f"\nwritten to {out}; `make generate` brings its tables to the pages")


def table(
    heads: list[str], rows: list[tuple[str, Callable[[], list[str]]]], of: str = "manager"
) -> list[str]:
    lines = [[of, *heads], ["---"] * (len(heads) + 1)]
    lines += [[name, *cells()] for name, cells in rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def on_all_loads(manager: str, victims: str, common: list[str]) -> list[str]:
    by_load = {load: of(load, manager, victims) for load in LOADS}
    found = [result for load in common if (result := by_load[load])]
    whole = len(found) == len(common)
    return [
        hints(manager, victims) or ABSENT,
        victims,
        *(with_error(result) for result in by_load.values()),
        f"{statistics.geometric_mean(result.wa for result in found):.3f}" if whole else ABSENT,
        f"{sum(result.seconds for result in found):.0f}" if whole else ABSENT,
    ]


def worth_a_try(load: str, names: list[str]) -> list[Key]:
    """The runs of managers under other victims, that are near the best with the usual ones."""
    found = on_load(load, names)
    least = min(found)[0]
    near = dict.fromkeys(name for amplification, name, _ in found if amplification < NEAR * least)
    return [(load, name, victims) for name in near for victims in OTHER_VICTIMS]


def beside_the_next(load: str, names: list[str]) -> list[str]:
    """The best scheme but wolf-interval, whichever victims serve it best."""
    ours = of(load, "wolf-interval", _engine.default_victims("wolf-interval"))
    if ours is None:
        raise SystemExit(f"wolf-interval does not run on {load}")
    least, manager, victims = min(on_load(load, [name for name in names if name not in RANGES]))
    return [
        with_error(ours),
        f"{least:.3f} {shown(manager)}, {shown(victims)}",
        f"{100 * (ours.wa / least - 1):+.1f}%",
        f"{min(on_load(load, RANGES))[0]:.3f}",
    ]


def on_load(load: str, names: list[str]) -> list[tuple[float, str, str]]:
    """The write amplification of each run of these managers on a load."""
    return [
        (found.wa, manager, victims)
        for (where, manager, victims), found in runs.items()
        if where == load and manager in names and isinstance(found, Run)
    ]


def under_both(manager: str) -> list[str]:
    found = [[of(load, manager, victims) for victims in VICTIMS] for load in STILL]
    known = next(run for pair in found for run in pair if run)
    return [*map(pair_of, found), f"{known.bytes_per_page:.2f}", speed(manager)]


def pair_of(found: list[Run | None]) -> str:
    greedy, cost_benefit = (f"{run.wa:.3f}" if run else ABSENT for run in found)
    return f"{greedy} ({cost_benefit})" if any(found) else ABSENT


def shown(spec: str) -> str:
    return f"`{spec}`"


def with_error(found: Run | None) -> str:
    """WA and half the width of its confidence interval, which is none of a short run."""
    if found is None:
        return ABSENT
    low, high = found.ci
    return f"{found.wa:.3f}" if math.isnan(high) else f"{found.wa:.3f} ± {(high - low) / 2:.3f}"


def hints(manager: str, victims: str) -> str | None:
    found = runs["uniform", manager, victims]
    if isinstance(found, str):
        raise SystemExit(found)
    return found.hints and found.hints.replace("_", " ")


def refusals() -> set[str]:
    """Notes on cells that are empty."""
    return {found for found in runs.values() if isinstance(found, str)}


runs: dict[Key, Run | str] = {}


def of(load: str, manager: str, victims: str) -> Run | None:
    found = runs[load, manager, victims]
    return None if isinstance(found, str) else found


def run(keys: Iterable[Key]) -> None:
    """Remember what comes of runs that were not run yet."""
    missing = [key for key in dict.fromkeys(keys) if key not in runs]
    with multiprocessing.get_context("spawn").Pool() as pool:
        for done, (key, found) in enumerate(pool.imap_unordered(attempt, missing), 1):
            runs[key] = found
            what = f"{found.wa:.3f}  {found.seconds:.1f} s" if isinstance(found, Run) else found
            print(f"{done}/{len(missing)}", *key, what, sep="  ", file=sys.stderr, flush=True)


def attempt(key: Key) -> tuple[Key, Run | str]:
    """The result, or the sentence in which the library refuses this combination."""
    load, manager, victims = key
    policy = {"manager": ROOM.get((manager, load), manager), "victims": victims}
    begun = time.perf_counter()
    try:
        found = wa.simulate(**{**LOADS, **KEPT_ASIDE}[load], **policy, replicas=1)
    except wa.WriteampError as refusal:
        return key, str(refusal)
    bytes_per_page = found.scheme_bytes / found.device.logical_pages
    seconds = time.perf_counter() - begun
    return key, Run(found.wa, found.ci, found.hints, bytes_per_page, seconds)


def speed(manager: str) -> str:
    case = {**SPEED, "manager": manager, "workload": HOT_COLD, "repeats": 5}
    done = subprocess.run(
        [sys.executable, HERE / "engine_case.py", json.dumps({**case, "writes": 4_000_000})],
        check=True,
        capture_output=True,
        text=True,
    )
    return f"{statistics.median(json.loads(done.stdout)['host_pages_per_s']) / 1e6:.0f}"


if __name__ == "__main__":
    main()
