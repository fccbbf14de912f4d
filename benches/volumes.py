"""Times and memory of fleets: making, splitting beside a bare scan, and running on workers.

    .venv/bin/python benches/volumes.py split --volumes 10000 --requests 100e6
    .venv/bin/python benches/volumes.py run --volumes 24 --requests 1e6

Each step is a process of its own; what it took is printed as one JSON document. Processor seconds
count where the machine is shared: a step that has it to itself takes at least those over the cores.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

WRITEAMP = Path(sys.executable).with_name("writeamp")
SCAN = """
import sys, polars as pl
kinds = {"d": pl.UInt64, "o": pl.String, "f": pl.UInt64, "l": pl.UInt64, "t": pl.UInt64}
lazy = pl.scan_csv(sys.argv[1], has_header=False, schema=kinds)
print(lazy.select(pl.col("d", "f", "l", "t").max(), pl.len()).collect(engine="streaming").rows())
"""


def measured(words: list[str]) -> dict[str, Any]:
    """Run a command, and return what it took and, if it is JSON, what it said."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(words, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall_s = time.perf_counter() - started
        out.seek(0)
        text = out.read()
    if process.returncode:
        raise SystemExit(f"{' '.join(words)} ended with status {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = {
        "wall_s": round(wall_s, 2),
        "cpu_s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2),
        "peak_rss_mib": usage.ru_maxrss >> 10,
        "load": round(os.getloadavg()[0], 1),
    }
    return took | ({"said": json.loads(text)} if text.startswith("{") else {})


def verb(words: str) -> list[str]:
    return [str(WRITEAMP), "volumes", *words.split(), "--json"]


def split(asked: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Make a fleet as plain text, scan it, and split it."""
    trace, fleet = folder / "fleet.csv", folder / "fleet"
    sizes = f"--volumes {asked.volumes} --requests {asked.requests}"
    found = {"make": measured(verb(f"make {sizes} --out {trace}"))}
    found["scan"] = measured([sys.executable, "-c", SCAN, str(trace)])
    found["split"] = measured(verb(f"split {trace} --format alibaba --out {fleet}"))
    requests = found["split"]["said"]["requests"]
    for name in ("make", "scan", "split"):
        found[name]["requests_per_s"] = round(requests / found[name]["wall_s"])
        found[name]["cpu_ns_per_request"] = round(1e9 * found[name]["cpu_s"] / requests)
    found["split_over_scan_wall"] = round(found["split"]["wall_s"] / found["scan"]["wall_s"], 2)
    return found


def run(asked: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run a fleet on one worker and on two, in turn."""
    trace, fleet = folder / "fleet.csv.zst", folder / "fleet"
    sizes = f"--volumes {asked.volumes} --requests {asked.requests}"
    measured(verb(f"make {sizes} --out {trace}"))
    measured(verb(f"split {trace} --format alibaba --out {fleet}"))
    found: dict[str, Any] = {}
    for workers in (1, 2):
        options = f"--managers {asked.managers} --op 0.15 --repeat {asked.repeat}"
        out = folder / f"runs-{workers}"
        one = measured(verb(f"run {fleet} {options} --workers {workers} --out {out}"))
        said = one.pop("said")
        cores = min(workers, len(os.sched_getaffinity(0)))
        found[f"workers_{workers}"] = one | {
            "runs": said["runs"],
            "runs_s": round(said["runs_s"], 2),
            "wall_over_runs_per_core": round(one["wall_s"] * cores / said["runs_s"], 3),
        }
    one, two = found["workers_1"], found["workers_2"]
    found["speedup_wall"] = round(one["wall_s"] / two["wall_s"], 2)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("split", "run"))
    parser.add_argument("--volumes", type=int, default=200)
    parser.add_argument("--requests", default="2e6")
    parser.add_argument("--managers", default="single,sepgc")
    parser.add_argument("--repeat", default="1")
    parser.add_argument("--folder", type=Path, help="for the files; a temporary one by default")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        found = {"split": split, "run": run}[asked.what](asked, Path(folder))
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
