"""Every block manager on the same work: write amplification, memory of the scheme, and speed.

Prints the tables of docs/placements.md and of docs/compare.md, which it writes there between their
marks, and to benches/results/ with the date and machine (some twenty minutes).
"""

from __future__ import annotations

import datetime
import functools
import json
import math
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import writeamp as wa
from run import HERE, machine
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
# Loads on which nothing was tuned: other skews and over-provisioning, and SQLite on the virtual SSD
# (examples/sqlite_upserts.py with 20,000 transactions, ext4).
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
    "drift .2/.8, op 0.1": {
        **{**DRIVE, "op": 0.10, "workload": "drift:f=0.2,r=0.8,period=2e6"},
        **{"warmup": 2 * M, "writes": 4 * M},
    },
    "four groups, op 0.07": {
        **{**DRIVE, "op": 0.07, "workload": "groups:sizes=0.1/0.2/0.3/0.4,freq=0.5/0.3/0.15/0.05"},
        **{"warmup": 2 * M, "writes": 4 * M},
    },
    "SQLite, op 0.15": {"trace": SQLITE, "op": 0.15, "repeat": 6, "spread": False},
}
# Those of which the first table shows both victim policies.
STILL = ("zipf 0.99", "hot-cold", "PostgreSQL")
# Beside its own, the victim policies under which a scheme may be the best.
VICTIMS = ["greedy", "cost-benefit", "cost-benefit:age=closed,power=0.5", "cost-hotness"]
# A trace names no groups; these do without them.
MORE = [
    "hcwf:detector=bloom",
    "hcwf-swap:detector=bloom",
    "nvme-fdp:by=range",
    "nvme-fdp:by=range,isolation=persistent",
    "wolf:detector=bloom",
    "fdp-frequency:detector=bloom",
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
SQLite: sqlite-upserts.parquet, 6 times. Seconds: of all those runs. Speed: hot-cold on 1 M pages,
fill 0.70, greedy, median of 5.
""".splitlines()
ZIPF_GROUPS = "Zipf tells 17 groups: there `wolf` and `fdp-frequency` have max_groups=17."
SPEED = {"blocks": 8192, "pages_per_block": 128, "fill": 0.7, "victims": "greedy"}
ABSENT = "–"


def main() -> None:
    managers = [entry.name for entry in engine_entries("managers")] + MORE
    # All who get no hints, so that their means are over the same loads.
    inferring = [name for name in managers if hints(name) is None]
    common = [load for load in LOADS if all(own(load, name) is not None for name in inferring)]
    heads = ["hints", "victims", *LOADS, f"geometric mean of {len(common)}", "seconds"]
    every = table(heads, managers, functools.partial(own_policies, common=common))
    best = table(
        ["`wolf-interval`", "next without hints", "under", "WA over the next"],
        [*LOADS, *KEPT_ASIDE],
        functools.partial(beside_the_next, managers=inferring),
        of="load",
    )
    still = table([*STILL, "bytes/page", "M writes/s"], managers, both_policies)
    lines = [
        f"# Placements, writeamp {wa.__version__}, {datetime.date.today()}, {machine()}",
        *["", *DRIVES, "", "## Each manager's own victims", "", *every, "", ZIPF_GROUPS],
        *["", "## `wolf-interval` beside the best of the others without hints", "", *best],
        *["", "## Greedy victims (cost-benefit in brackets)", "", *still, ""],
        *(f"- {load}: {reason}" for load, reason in sorted(refusals())),
    ]
    slug = re.sub(r"[^a-z0-9]+", "-", machine().lower())
    out = HERE / "results" / f"{datetime.date.today()}-placements-{slug}.md"
    out.write_text("\n".join(lines) + "\n")
    docs = HERE.parent / "docs"
    renew(docs / "compare.md", {"every manager": every, "the best without hints": best})
    renew(docs / "placements.md", {"every manager": every, "both victim policies": still})
    print("\n".join(lines))
    print(f"\nwritten to {out}, docs/compare.md and docs/placements.md")


def renew(page: Path, tables: dict[str, list[str]]) -> None:
    """Put each table between the marks of its name on a page of the docs."""
    text = page.read_text()
    for name, lines in tables.items():
        begin, end = (
            f"<!-- {word} of benches/placements.py: {name} -->" for word in ("table", "end")
        )
        before, _, rest = text.partition(begin)
        _, has_marks, after = rest.partition(end)
        if not has_marks:
            raise SystemExit(f"{page} has no '{begin}' with an end after it")
        text = "".join([before, begin, "\n", "\n".join(lines), "\n", end, after])
    page.write_text(text)


def table(
    heads: list[str], names: list[str], cells: Callable[[str], list[str]], of: str = "manager"
) -> list[str]:
    rows = [[of, *heads], ["---"] * (len(heads) + 1)]
    for name in names:
        rows.append([f"`{name}`" if of == "manager" else name, *cells(name)])
        print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    return ["| " + " | ".join(row) + " |" for row in rows]


def both_policies(manager: str) -> list[str]:
    by_load = [
        f"{shown(of(load, manager, 'greedy'))} ({shown(of(load, manager, 'cost-benefit'))})"
        for load in STILL
    ]
    return [*by_load, f"{bytes_per_page(manager):.2f}", speed(manager)]


def own_policies(manager: str, common: list[str]) -> list[str]:
    by_load = {load: own(load, manager) for load in LOADS}
    averaged = [by_load[load] for load in common]
    found = [result for result in averaged if result is not None]
    mean = statistics.geometric_mean(result.wa for result in found)
    seconds = sum(took[load, manager, _engine.default_victims(manager)] for load in common)
    whole = len(found) == len(common)
    return [
        hints(manager) or ABSENT,
        _engine.default_victims(manager),
        *(with_error(result) for result in by_load.values()),
        f"{mean:.3f}" if whole else ABSENT,
        f"{seconds:.0f}" if whole else ABSENT,
    ]


def beside_the_next(load: str, managers: list[str]) -> list[str]:
    """The best scheme but wolf-interval, whichever victims serve it best."""
    ours = own(load, "wolf-interval")
    if ours is None:
        raise SystemExit(f"wolf-interval: {attempt(load, 'wolf-interval', 'greedy')}")
    found = [
        (result.wa, manager, victims)
        for manager in managers
        if manager != "wolf-interval"
        for victims in dict.fromkeys([_engine.default_victims(manager), *VICTIMS])
        if (result := of(load, manager, victims)) is not None
    ]
    least, manager, victims = min(found)
    return [
        with_error(ours),
        f"{least:.3f} `{manager}`",
        f"`{victims}`",
        f"{100 * (ours.wa / least - 1):+.1f}%",
    ]


def with_error(found: wa.Result | None) -> str:
    """WA and half the width of its confidence interval, which is none of a short run."""
    if found is None:
        return ABSENT
    low, high = found.ci
    return f"{found.wa:.3f}" if math.isnan(high) else f"{found.wa:.3f} ± {(high - low) / 2:.3f}"


def shown(found: wa.Result | None) -> str:
    return ABSENT if found is None else f"{found.wa:.3f}"


def own(load: str, manager: str) -> wa.Result | None:
    return of(load, manager, _engine.default_victims(manager))


def of(load: str, manager: str, victims: str) -> wa.Result | None:
    found = attempt(load, manager, victims)
    return None if isinstance(found, str) else found


def hints(manager: str) -> str | None:
    found = attempt("uniform", manager, _engine.default_victims(manager))
    if isinstance(found, str):
        raise SystemExit(found)
    return found.hints and found.hints.replace("_", " ")


def refusals() -> set[tuple[str, str]]:
    """Why cells are empty; whatever was attempted is remembered."""
    return {(load, found) for (load, _, _), found in attempts.items() if isinstance(found, str)}


attempts: dict[tuple[str, str, str], wa.Result | str] = {}
took: dict[tuple[str, str, str], float] = {}


def attempt(load: str, manager: str, victims: str) -> wa.Result | str:
    """Return the result, or the sentence in which the library refuses this combination."""
    key = (load, manager, victims)
    if key not in attempts:
        policy = {"manager": ROOM.get((manager, load), manager), "victims": victims}
        begun = time.perf_counter()
        try:
            attempts[key] = wa.simulate(**{**LOADS, **KEPT_ASIDE}[load], **policy, replicas=1)
            took[key] = time.perf_counter() - begun
        except wa.WriteampError as refusal:
            attempts[key] = str(refusal)
    return attempts[key]


def bytes_per_page(manager: str) -> float:
    found = attempt("uniform", manager, _engine.default_victims(manager))
    if isinstance(found, str):
        raise SystemExit(found)
    return found.scheme_bytes / found.device.logical_pages


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
