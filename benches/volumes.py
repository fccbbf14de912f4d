"""Times and memory of fleets: making, splitting beside a bare scan, and running on workers.

    .venv/bin/python benches/volumes.py split --volumes 10000 --requests 100e6
    .venv/bin/python benches/volumes.py run --volumes 24 --requests 1e6

Each step is a process of its own; what it took is printed as one JSON document. Processor seconds
count where the machine is shared: a step that has it to itself takes at least those over the cores,
and at least those of its busiest process, as each computes on one thread.
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
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from writeamp.runners import Here
from writeamp.runs import one_run
from writeamp.settings.compared import PoliciesSettings
from writeamp.volumes.fleet import Fleet
from writeamp.volumes.study import run_fleet

WRITEAMP = Path(sys.executable).with_name("writeamp")
ENGINE = one_run.EngineSimulation
# Between two looks at the processes of a command; what they do in the last one is not seen.
LOOK_S = 0.1
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
        status, peak_kib, busiest_s = watched(process.pid)
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
        "busiest_process_s": round(busiest_s, 2),
        "peak_rss_mib": peak_kib >> 10,
        "load": round(os.getloadavg()[0], 1),
    }
    return took | ({"said": json.loads(text)} if text.startswith("{") else {})


def watched(pid: int) -> tuple[int, int, float]:
    """Wait for a process; return its status, its peak memory in KiB, and what its busiest did.

    The last is in processor seconds, of the processes that it has started and its own.
    """
    tree = psutil.Process(pid)
    busy_s: Counter[int] = Counter()
    while True:
        with suppress(psutil.Error):
            for one in (tree, *tree.children(recursive=True)):
                with suppress(psutil.Error):
                    times = one.cpu_times()
                    busy_s[one.pid] = times.user + times.system
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if ended:
            return status, usage.ru_maxrss, max(busy_s.values(), default=0.0)
        time.sleep(LOOK_S)


class TimedEngine:
    """Simulation of the engine whose calls are timed on the processor, for all of them together."""

    engine_s = 0.0

    def __init__(self, *given: Any, **named: Any) -> None:
        """Build what is timed."""
        self._simulation = self._timed(ENGINE)(*given, **named)

    def __getattr__(self, name: str) -> Any:
        """Return a method that is timed."""
        return self._timed(getattr(self._simulation, name))

    @staticmethod
    def _timed(call: Any) -> Any:
        def timed(*given: Any, **named: Any) -> Any:
            before = time.thread_time()
            try:
                return call(*given, **named)
            finally:
                TimedEngine.engine_s += time.thread_time() - before

        return timed


def engine_share(fleet: Path, asked: argparse.Namespace) -> dict[str, Any]:
    """Run a fleet in this process, and return what of its processor time is the engine's."""
    one_run.EngineSimulation = TimedEngine  # type: ignore[misc, assignment]
    repeat = asked.repeat if asked.repeat == "auto" else int(asked.repeat)
    before = time.process_time()
    run_fleet(
        Fleet.open(fleet),
        PoliciesSettings(managers=asked.managers),
        runner=Here(),
        op=0.15,
        repeat=repeat,
    )
    cpu_s, engine_s = time.process_time() - before, TimedEngine.engine_s
    one_run.EngineSimulation = ENGINE  # type: ignore[misc]
    return {
        "cpu_s": round(cpu_s, 2),
        "engine_s": round(engine_s, 2),
        "cpu_over_engine": round(cpu_s / engine_s, 3),
    }


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
    """Run a fleet in this process, on one worker and on two, in turn."""
    trace, fleet = folder / "fleet.csv.zst", folder / "fleet"
    sizes = f"--volumes {asked.volumes} --requests {asked.requests}"
    measured(verb(f"make {sizes} --out {trace}"))
    measured(verb(f"split {trace} --format alibaba --out {fleet}"))
    found: dict[str, Any] = {"here": engine_share(fleet, asked)}
    for workers in (1, 2):
        options = f"--managers {asked.managers} --op 0.15 --repeat {asked.repeat}"
        out = folder / f"runs-{workers}"
        one = measured(verb(f"run {fleet} {options} --workers {workers} --keep {out}"))
        said = one.pop("said")
        found[f"workers_{workers}"] = one | {"runs": said["runs"]}
    one, two = found["workers_1"], found["workers_2"]
    found["speedup_wall"] = round(one["wall_s"] / two["wall_s"], 2)
    found["speedup_of_busiest"] = round(one["busiest_process_s"] / two["busiest_process_s"], 2)
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
