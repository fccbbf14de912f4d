"""One benchmark of the engine in a process of its own: speed in steady state, and memory.

Called by run.py with the case as JSON; prints one JSON document.
"""

from __future__ import annotations

import json
import sys
import time

import psutil

import writeamp as wa
from writeamp import _engine
from writeamp.devices.policy import Policy


def main() -> None:
    case = json.loads(sys.argv[1])
    process = psutil.Process()
    before_bytes = process.memory_info().rss
    drive = wa.device(
        blocks=case["blocks"], pages_per_block=case["pages_per_block"], fill=case["fill"]
    )
    simulation = _engine.Simulation(
        Policy(case["manager"], case["victims"], None).drive(drive),
        _engine.Load.spec(case["workload"], drive.logical_pages),
        seed=1,
        batch_pages=_engine.DEFAULT_BATCH_PAGES,
    )
    simulation.fill(0, drive.logical_pages)
    simulation.run(2 * drive.logical_pages)
    start = simulation.counters()
    rates = []
    for _ in range(case["repeats"]):
        begun = time.perf_counter()
        simulation.run(case["writes"])
        rates.append(case["writes"] / (time.perf_counter() - begun))
    end = simulation.counters()
    pages = {cause: end[cause] - start[cause] for cause in _engine.CAUSES}
    found = {
        "wa": sum(pages.values()) / pages["host"],
        "host_pages_per_s": sorted(rates),
        "bytes_per_page": (process.memory_info().rss - before_bytes) / drive.physical_pages,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
