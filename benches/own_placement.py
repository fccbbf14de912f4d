"""Speed of a placement in Python beside the same in Rust.

    .venv/bin/python benches/own_placement.py --rounds 5

SepBIT (examples/my_placement.py), interpreted and compiled by Numba, and the built-in `sepbit` take
turns; that they count the same is checked. Prints a table with the medians and writes it to
benches/results/ with the date and the machine's name. Machines are noisy: compare ratios of one
run. Without Numba that column is left out. The speed is that of the host's page writes after the
fill; migrated pages, for each of which the placement is asked too, are not counted.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import re
from pathlib import Path
from statistics import median

import numpy as np

import writeamp as wa
from writeamp.custom.compiling import has_numba

HERE = Path(__file__).resolve().parent
MINE = f"{HERE.parent}/examples/my_placement.py:SepBIT"
DRIVE = {"pages_per_block": 64, "op": 0.2, "replicas": 1}
LOADS = {
    "zipf 0.99, 109,226 pages": {"workload": "zipf:s=0.99", "blocks": 2048},
    "zipf 0.99, 1.7 M pages": {"workload": "zipf:s=0.99", "blocks": 32768, "writes": 4_000_000},
    "hot-cold, 109,226 pages": {"workload": "hot-cold:f=0.1,r=0.9", "blocks": 2048},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--writes", type=int, default=1_000_000, help="on small drives")
    asked = parser.parse_args()
    managers = {"Python": f"{MINE}:compiled=no", "Rust": "sepbit"}
    if has_numba():
        managers = {"Python": managers["Python"], "Numba": MINE, "Rust": "sepbit"}
    rows = [row(name, load, managers, asked) for name, load in LOADS.items()]
    rows += [own_victims(asked)]
    text = (
        f"# SepBIT in Python, compiled and built in, {datetime.date.today()}\n\n"
        f"{machine()}; Python {platform.python_version()}, NumPy {np.__version__}"
        f"{numba_version()}; `benches/own_placement.py --rounds {asked.rounds} --writes "
        f"{asked.writes}`. Millions of host page writes a second, medians; in brackets, of Rust in "
        "the same round.\n\n"
        f"| load | WA | {' | '.join(managers)} |\n|{'---|' * (len(managers) + 2)}\n"
        + "\n".join(rows)
        + "\n"
    )
    print(text)
    slug = re.sub(r"[^a-z0-9]+", "-", machine().lower()).strip("-")
    out = HERE / "results" / f"{datetime.date.today()}-own-placement-{slug}.md"
    out.write_text(text)


def row(name: str, load: dict, managers: dict[str, str], asked: argparse.Namespace) -> str:
    speeds: dict[str, list[float]] = {one: [] for one in managers}
    counted = {}
    for _ in range(asked.rounds):
        for one, manager in managers.items():
            found = wa.simulate(manager=manager, **({"writes": asked.writes} | DRIVE | load))
            speeds[one].append(found.writes / found.run_s / 1e6)
            counted[one] = (found.wa, found.causes, found.erases)
    assert len({str(one) for one in counted.values()}) == 1, counted
    return f"| {name} | {counted['Rust'][0]:.3f} | {' | '.join(cells(speeds))} |"


def cells(speeds: dict[str, list[float]]) -> list[str]:
    found = []
    for one, of_one in speeds.items():
        ratios = [mine / rust for mine, rust in zip(of_one, speeds["Rust"], strict=True)]
        ratio = "" if one == "Rust" else f" ({median(ratios):.2f})"
        found.append(f"{median(of_one):.2f}{ratio}")
    return found


class Emptiest(wa.VictimPolicy):
    """`greedy` by columns."""

    def choose(self, candidates: object, now: int) -> object:
        """Return the place of a block with the most invalid pages."""
        return np.argmax(candidates.invalid_pages)


def own_victims(asked: argparse.Namespace) -> str:
    """Return the row of a victim policy, which is asked once for each victim."""
    load = LOADS["hot-cold, 109,226 pages"]
    speeds: dict[str, list[float]] = {"Python": [], "Rust": []}
    for _ in range(asked.rounds):
        for one, victims in (("Python", Emptiest), ("Rust", "greedy")):
            run = wa.simulate(
                manager="sepgc", victims=victims, writes=asked.writes, **DRIVE, **load
            )
            speeds[one].append(run.writes / run.run_s / 1e6)
    python, rust = cells(speeds)
    numba = "– | " if has_numba() else ""
    name = "greedy victims by NumPy under sepgc, hot-cold"
    return f"| {name} | {run.wa:.3f} | {python} | {numba}{rust} |"


def machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]}, {len(names)} cores"


def numba_version() -> str:
    if not has_numba():
        return ""
    import numba  # noqa: PLC0415 (an extra)

    return f", Numba {numba.__version__}"


if __name__ == "__main__":
    main()
