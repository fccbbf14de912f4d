"""Flash operations that a CPU second simulates in virtual time, and digests of the runs.

`.venv/bin/python benches/timed.py` measures this build; `--beside LIBRARY`, another build of
`_engine.abi3.so`, lets the two take turns, each run in a process of its own. A digest stands for
all that a run found (counters, means exact, latencies, and what was served over time): where two
builds differ in it, so do their figures. Writes a table to benches/results/.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import importlib
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
from typing import Any

from run import HERE, machine

READ, WRITE = "random:bs=4k,write=0,qd={}", "random:bs=4k,write=1,qd=32"
# What `writeamp simulate` is told, and MQSim's requests a second where it did the same.
CASES: dict[str, tuple[dict[str, Any], int | None]] = {
    "mqsim, random read 4 KiB, depth 1": (
        {"device": "mqsim", "workload": READ.format(1), "time": 30.0},
        11_248,
    ),
    "mqsim, random read 4 KiB, depth 16": (
        {"device": "mqsim", "workload": READ.format(16), "time": 8.0},
        132_973,
    ),
    "mqsim, random read 4 KiB, depth 32": (
        {"device": "mqsim", "workload": READ.format(32), "time": 8.0},
        None,
    ),
    "mqsim, random read 4 KiB, depth 256": (
        {"device": "mqsim", "workload": READ.format(256), "time": 4.0},
        None,
    ),
    "mqsim, random write 4 KiB, depth 32, collecting": (
        {
            "device": "mqsim",
            "workload": WRITE,
            "writes": 400_000,
            "precondition": "random:1",
        },
        None,
    ),
    "mqsim, sequential read 128 KiB, depth 4": (
        {"device": "mqsim", "workload": "sequential:bs=128k,write=0,qd=4", "time": 5.0},
        None,
    ),
    "mqsim, table of 2 MiB, sequential read 128 KiB, depth 4": (
        {
            "device": "mqsim",
            "map_cache": "2MiB",
            "workload": "sequential:bs=128k,write=0,qd=4",
            "time": 5.0,
        },
        8_694,
    ),
    "x25-m, random read 4 KiB, depth 32": (
        {"device": "x25-m", "size": "8GiB", "workload": READ.format(32), "time": 20.0},
        None,
    ),
    "x25-m, random write 4 KiB, depth 32": (
        {
            "device": "x25-m",
            "size": "8GiB",
            "workload": WRITE,
            "writes": 400_000,
            "precondition": "random:1",
        },
        None,
    ),
}


def main() -> None:
    given = arguments()
    if given.run:
        print(json.dumps(run(given.run, given.engine)))
        return
    builds = {"now": None} | ({"before": given.beside} if given.beside else {})
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for _ in range(given.rounds):
        for case in CASES:
            for build, engine in builds.items():
                found.setdefault((case, build), []).append(in_process(case, engine))
    lines = [f"# Timed runs, {datetime.date.today()}, {machine()}", ""]
    lines += [f"M flash operations a CPU second, medians of {given.rounds}.", "", *table(found)]
    slug = re.sub(r"[^a-z0-9]+", "-", machine().lower())
    out = HERE / "results" / f"{datetime.date.today()}-timed-{slug}.md"
    out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines), f"\nwritten to {out}", sep="\n")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", metavar="LIBRARY", help="an engine to take turns with")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each (5)")
    parser.add_argument("--run", metavar="CASE", help=argparse.SUPPRESS)
    parser.add_argument("--engine", metavar="LIBRARY", help=argparse.SUPPRESS)
    return parser.parse_args()


def in_process(case: str, engine: str | None) -> dict[str, Any]:
    """Run a case in a process of its own, with another engine if one is given."""
    command = [sys.executable, __file__, "--run", case]
    command += ["--engine", os.path.abspath(engine)] if engine else []
    # Idle threads of a library for matrices would count as the engine's.
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return json.loads(subprocess.run(command, check=True, capture_output=True, env=alone).stdout)


def run(case: str, engine: str | None) -> dict[str, Any]:
    """Run a case here: its speed, its requests a second, and the digest of what it found."""
    if engine:
        spec = importlib.util.spec_from_file_location("writeamp._engine", engine)
        module = importlib.util.module_from_spec(spec)
        sys.modules["writeamp._engine"] = module
        spec.loader.exec_module(module)
    wa = importlib.import_module("writeamp")

    settings, _ = CASES[case]
    result = wa.simulate(**settings)
    document = result.to_dict(series=True)
    for of_the_clock in ("elapsed_s", "flash_ops_per_s"):
        del document[of_the_clock]
    text = json.dumps(document, sort_keys=True)
    return {
        "ops": result.flash_ops_per_s,
        "iops": result.iops["all"],
        "digest": hashlib.sha256(text.encode()).hexdigest()[:12],
    }


def table(found: dict[tuple[str, str], list[dict[str, Any]]]) -> list[str]:
    """Draw a row for each case; two builds side by side, where there are two."""
    has_before = any(build == "before" for _, build in found)
    titles = [
        "case",
        *(["before", "ratio"] if has_before else []),
        "now",
        "IOPS",
        "MQSim's",
        "digest",
    ]
    lines = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    for case, (_, of_mqsim) in CASES.items():
        now, before = found[case, "now"], found.get((case, "before"), [])
        digests = {one["digest"] for one in [*now, *before]}
        speed = statistics.median(one["ops"] for one in now)
        cells = [case]
        if before:
            old = statistics.median(one["ops"] for one in before)
            cells += [f"{old / 1e6:.2f}", f"{speed / old:.2f}"]
        cells += [
            f"{speed / 1e6:.2f}",
            f"{now[0]['iops']:,.0f}",
            f"{of_mqsim or 0:,}" if of_mqsim else "",
        ]
        cells.append(
            digests.pop() if len(digests) == 1 else f"**differ: {', '.join(sorted(digests))}**"
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    main()
