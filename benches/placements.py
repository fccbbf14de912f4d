"""Every block manager on the same work: write amplification, memory of the scheme, and speed.

Prints the tables of docs/placements.md and writes them to benches/results/ with the date and
machine (some eight minutes).
"""

from __future__ import annotations

import datetime
import functools
import json
import re
import statistics
import subprocess
import sys
from collections.abc import Callable

import writeamp as wa
from run import HERE, machine
from writeamp import _engine
from writeamp.registry import engine_entries

TRACE = HERE.parent / "examples" / "postgres-tpcb.parquet"
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
# Those of which the first table shows both victim policies.
STILL = ("zipf 0.99", "hot-cold", "PostgreSQL")
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
SPEED = {"blocks": 8192, "pages_per_block": 128, "fill": 0.7, "victims": "greedy"}
ABSENT = "–"


def main() -> None:
    managers = [entry.name for entry in engine_entries("managers")] + MORE
    lines = [
        f"# Placements, writeamp {wa.__version__}, {datetime.date.today()}, {machine()}",
        "",
        "Write amplification. Drive: 2048 blocks of 64 pages, flat, op 0.20, unless said "
        "otherwise.",
        "zipf 0.99 and hot-cold (.1/.9): 6 M writes, the first 2 M left out. PostgreSQL:",
        f"{TRACE.name}, op 0.20, 6 times, of which 5 count. Speed: hot-cold on 1 M pages,",
        "fill 0.70, greedy, median of 5.",
        "",
        "## Greedy victims (cost-benefit in brackets)",
        "",
    ]
    lines += table([*STILL, "bytes/page", "M writes/s"], managers, both_policies)
    lines += [
        "",
        "## Each manager's own victims",
        "",
        "tpcc: eagletree, 40 M writes, the second half counts. swaps: two halves with 0.1 and 0.9 "
        "of",
        "the writes, changing places every 1 M writes, fill 0.7, 6 M writes, all count. drift "
        "(period",
        "4 M): 8 M writes; database: 6 M; uniform: 4 M; the second half counts.",
        "",
    ]
    # All who get no hints, so that their means are over the same loads.
    inferring = [name for name in managers if hints(name) is None]
    common = [load for load in LOADS if all(own(load, name) is not None for name in inferring)]
    heads = ["hints", "victims", *LOADS, f"geometric mean of {len(common)}"]
    lines += table(heads, managers, functools.partial(own_policies, common=common))
    lines += ["", "Zipf tells 17 groups: there `wolf` and `fdp-frequency` have max_groups=17.", ""]
    lines += [f"- {load}: {reason}" for load, reason in sorted(refusals())]
    slug = re.sub(r"[^a-z0-9]+", "-", machine().lower())
    out = HERE / "results" / f"{datetime.date.today()}-placements-{slug}.md"
    out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    print(f"\nwritten to {out}")


def table(heads: list[str], managers: list[str], cells: Callable[[str], list[str]]) -> list[str]:
    rows = [["manager", *heads], ["---"] * (len(heads) + 1)]
    for manager in managers:
        rows.append([f"`{manager}`", *cells(manager)])
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
    averaged = [found for load in common if (found := by_load[load]) is not None]
    whole = len(averaged) == len(common)
    return [
        hints(manager) or ABSENT,
        _engine.default_victims(manager),
        *map(shown, by_load.values()),
        shown(statistics.geometric_mean(averaged) if whole else None),
    ]


def shown(found: float | None) -> str:
    return ABSENT if found is None else f"{found:.3f}"


def own(load: str, manager: str) -> float | None:
    return of(load, manager, _engine.default_victims(manager))


def of(load: str, manager: str, victims: str) -> float | None:
    found = attempt(load, manager, victims)
    return None if isinstance(found, str) else found.wa


def hints(manager: str) -> str | None:
    found = attempt("uniform", manager, _engine.default_victims(manager))
    if isinstance(found, str):
        raise SystemExit(found)
    return found.hints and found.hints.replace("_", " ")


def refusals() -> set[tuple[str, str]]:
    """Why cells are empty; whatever was attempted is remembered."""
    return {(load, found) for (load, _, _), found in attempts.items() if isinstance(found, str)}


attempts: dict[tuple[str, str, str], wa.Result | str] = {}


def attempt(load: str, manager: str, victims: str) -> wa.Result | str:
    """Return the result, or the sentence in which the library refuses this combination."""
    key = (load, manager, victims)
    if key not in attempts:
        policy = {"manager": ROOM.get((manager, load), manager), "victims": victims}
        try:
            attempts[key] = wa.simulate(**LOADS[load], **policy, replicas=1)
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
