"""`make bench-limit`: what bounds the engine on this machine, and how near it comes.

The map is read and written once for each page programmed, at random; so the time of such an
access, times WA, bounds a run, whatever else is done well (docs/performance.md). With
`--base COMMIT` the engine of that commit is built side by side under target/, and the two take
turns, each run in a process of its own. Writes the tables to benches/results/.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from run import HERE, LARGE, MIXED, machine

from writeamp._engine import SIMD
from writeamp.registry import engine_entries

ROOT = HERE.parent
FAIR = 0.97
# Values of WRITEAMP_SIMD on this machine.
WAYS = ["scalar", "avx2", "avx512"]
WAYS = WAYS[: WAYS.index(SIMD) + 1]
SMALL = {**MIXED, "fill": 0.70, "victims": "greedy", "repeats": 3, "writes": 10_000_000}
LIMITED = {
    "0.70": SMALL,
    "0.87": {**SMALL, "fill": 0.87},
    "67 M": {**LARGE, "fill": 0.87, "victims": "greedy", "repeats": 2, "writes": 8_000_000},
}
ZIPF = {"zipf": {**SMALL, "workload": "zipf:s=0.99"}}


def main() -> None:
    given = arguments()
    cases = {**LIMITED, **ZIPF, **of_victims(), **of_managers()}
    names = given.cases.split(",") if given.cases else list(cases)
    if unknown := [name for name in names if name not in cases]:
        sys.exit(f"no case {unknown[0]!r}; there are {', '.join(cases)}")
    lines = [f"# The engine and the memory's limit, {datetime.date.today()}, {machine()}", ""]
    lines += [f"Caches: {caches()}. Vector instructions: {', '.join(WAYS)}.", ""]
    if limited := [name for name in names if name in LIMITED]:
        lines += limits(limited)
    if given.base:
        lines += ["", *turns(given.base, {name: cases[name] for name in names}, given.rounds)]
    slug = re.sub(r"[^a-z0-9]+", "-", machine().lower())
    out = HERE / "results" / f"{datetime.date.today()}-limit-{slug}.md"
    out.write_text("\n".join(lines) + "\n")
    print(f"\nwritten to {out}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", metavar="COMMIT", help="an engine to take turns with")
    parser.add_argument("--rounds", type=int, default=15, help="turns of each (15)")
    parser.add_argument("--cases", metavar="NAME,NAME", help="these cases alone")
    given = parser.parse_args()
    if given.rounds < 1:
        parser.error("--rounds must be at least 1")
    return given


def caches() -> str:
    """Return the caches that the first core uses, with their sizes."""
    folders = sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"))
    facts = [
        [(folder / name).read_text().strip() for name in ("level", "type", "size")]
        for folder in folders
    ]
    return ", ".join(f"L{level} {kind.lower()} {size}" for level, kind, size in facts) or "unknown"


def of_victims() -> dict[str, dict[str, object]]:
    """Return a case for each victim policy that keeps no history of pages, under `single`."""
    return {
        entry.name: {**SMALL, "victims": entry.example}
        for entry in engine_entries("victims")
        if entry.name not in ("greedy", "cost-hotness")
    }


def of_managers() -> dict[str, dict[str, object]]:
    """Return a case for each block manager, on a workload that has hot and cold groups."""
    return {
        entry.name: {
            **SMALL,
            "manager": entry.example,
            "victims": None,
            "workload": "hot-cold:f=0.1,r=0.9",
            "repeats": 1,
            "writes": 3_000_000,
        }
        for entry in engine_entries("managers")
    }


def limits(names: list[str]) -> list[str]:
    """Return a table of the map's time, the bound that it makes, and what the engine does."""
    print("measuring the memory ...", flush=True)
    entries = {
        name: int(case["blocks"] * case["pages_per_block"] * case["fill"])
        for name, case in LIMITED.items()
        if name in names
    }
    bench = ["cargo", "bench", "--quiet", "--package", "writeamp-benches", "--bench", "memory"]
    sizes = [str(size) for size in entries.values()]
    run = [*bench, "--", *sizes]
    done = subprocess.run(run, cwd=ROOT, check=True, capture_output=True, text=True)
    table = [
        "| fill | map, MB | access, ns | on 4 KiB pages | instructions | WA | limit, M/s "
        "| engine, M/s | of it |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(table), flush=True)
    for (name, size), found in zip(entries.items(), json.loads(done.stdout), strict=True):
        for way in WAYS:
            speed, wa = measured(LIMITED[name], WRITEAMP_SIMD=way)
            limit = 1e3 / (found["huge_ns"] * wa)
            cells = [
                name,
                f"{size * 4 / 1e6:.1f}",
                f"{found['huge_ns']:.2f}",
                f"{found['small_ns']:.2f}",
                way,
                f"{wa:.3f}",
                f"{limit:.0f}",
                f"{speed:.1f}",
                f"{speed / limit:.0%}",
            ]
            table.append("| " + " | ".join(cells) + " |")
            print(table[-1], flush=True)
    return table


def turns(base: str, cases: dict[str, dict[str, object]], rounds: int) -> list[str]:
    """Return a table of the engine beside that of another commit."""
    commit, package = built(base)
    table = [
        f"Beside {commit}: medians of {rounds} turns; a ratio with its quartiles.",
        "",
        "| case | before, M/s | now, M/s | ratio | quartiles | WA |",
        "|---|---|---|---|---|---|",
    ]
    print("\n".join(["", *table]), flush=True)
    for name, case in cases.items():
        before, now = [], []
        for turn in range(rounds):
            for is_base in (True, False) if turn % 2 else (False, True):
                speed, wa = measured(case, **({"PYTHONPATH": str(package)} if is_base else {}))
                (before if is_base else now).append(speed)
        ratios = [mine / its for mine, its in zip(now, before, strict=True)]
        ratio = statistics.median(ratios)
        low, _, high = statistics.quantiles(ratios, n=4) if rounds > 1 else ratios * 3
        cells = [
            name,
            f"{statistics.median(before):.1f}",
            f"{statistics.median(now):.1f}",
            f"{ratio:.2f}" if ratio >= FAIR else f"**{ratio:.2f}**",
            f"{low:.2f} to {high:.2f}",
            f"{wa:.4f}",
        ]
        table.append("| " + " | ".join(cells) + " |")
        print(table[-1], flush=True)
    return table


def measured(case: dict[str, object], **variables: str) -> tuple[float, float]:
    """Return M host pages/s (median) and WA of one run with these environment variables."""
    environment = os.environ | variables
    command = [sys.executable, HERE / "engine_case.py", json.dumps(case)]
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{case}: {done.stderr.strip().splitlines()[-1]}")
    found = json.loads(done.stdout)
    return statistics.median(found["host_pages_per_s"]) / 1e6, found["wa"]


def built(base: str) -> tuple[str, Path]:
    """Return the short name of a commit, and where the package with its engine is."""

    def said(*command: str, folder: Path = ROOT) -> str:
        done = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout.strip()

    commit = said("git", "rev-parse", "--short", "--verify", f"{base}^{{commit}}")
    place = ROOT / "target" / "base" / commit
    package = place / "package"
    if not package.exists():
        print(f"building the engine of {commit} ...", flush=True)
        place.mkdir(parents=True, exist_ok=True)
        tree = place / "tree"
        if not tree.exists():
            said("git", "worktree", "prune")
            said("git", "worktree", "add", "--detach", str(tree), commit)
        target = ROOT / "target" / "base" / "target"
        environment = os.environ | {
            "CARGO_TARGET_DIR": str(target),
            "PYO3_PYTHON": sys.executable,
        }
        build = ["cargo", "build", "--quiet", "--release", "--package", "writeamp-python"]
        subprocess.run(build, cwd=tree, env=environment, check=True)
        shutil.copytree(tree / "python", place / "new")
        engine = place / "new" / "writeamp" / "_engine.abi3.so"
        shutil.copy(target / "release" / "lib_engine.so", engine)
        (place / "new").rename(package)
        said("git", "worktree", "remove", "--force", str(tree))
    return commit, package


if __name__ == "__main__":
    main()
