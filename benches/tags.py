"""Speed of the engine with counters by tag or handle, and of an earlier engine.

All runs are in one process and take turns, and processor time is measured, so that other programs
disturb both alike. `--base FILE` is the engine's library of an earlier build. Prints a table for
benches/results/.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import time
from importlib.machinery import ExtensionFileLoader
from types import ModuleType
from typing import Any

import numpy as np

import writeamp as wa
from writeamp import _engine

TAGS = 16
CASES: dict[str, dict[str, Any]] = {
    "single, greedy, fill 0.70": {"manager": "single", "victims": "greedy", "fill": 0.70},
    "single, greedy, fill 0.87": {"manager": "single", "victims": "greedy", "fill": 0.87},
    "sepgc, fill 0.87": {"manager": "sepgc", "fill": 0.87},
    "sepbit, fill 0.87": {"manager": "sepbit", "fill": 0.87},
    "sepgc, fill 0.87, 8 M pages": {"manager": "sepgc", "fill": 0.87, "blocks": 65536},
    "sepgc, fill 0.87, 8 pages a request": {"manager": "sepgc", "fill": 0.87, "request_pages": 8},
}
# Runs with hints, whose handles are counted, and runs of the same manager without hints.
CASES |= {
    f"nvme-fdp{isolation}, fill {fill}, hints": {
        "manager": f"nvme-fdp:handles=16,by=range{isolation}",
        "hinted": f"nvme-fdp:handles=16{isolation}",
        "fill": fill,
    }
    for fill in (0.70, 0.87)
    for isolation in ("", ",isolation=persistent")
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", metavar="FILE", help="library of an earlier engine")
    parser.add_argument("--turns", type=int, default=40, help="turns of each (40)")
    parser.add_argument("--cases", default="", help="only the cases whose names have this text")
    chosen = parser.parse_args()
    base = library(chosen.base) if chosen.base else None
    print("| case | without tags, M pages/s | with / without | without / base | WA |")
    print("|---|---|---|---|---|")
    for name, case in CASES.items():
        if chosen.cases in name:
            print(row(name, case, base, chosen.turns), flush=True)


def library(path: str) -> ModuleType:
    """Return the engine in the library at `path`."""
    loader = ExtensionFileLoader("writeamp._engine", path)
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def row(name: str, case: dict[str, Any], base: ModuleType | None, turns: int) -> str:
    """Return the row of a case: speeds in turns, and their median ratios with quartiles."""
    runs = [simulation(_engine, case, tags=False), simulation(_engine, case, tags=True)]
    if base is not None:
        runs.append(simulation(base, case, tags=False))
    writes = 1_000_000
    times_s: list[list[float]] = [[] for _ in runs]
    for turn in range(turns):
        order = range(len(runs)) if turn % 2 else reversed(range(len(runs)))
        for number in order:
            begun = time.process_time()
            runs[number].run(writes)
            times_s[number].append(time.process_time() - begun)
    plain, tagged = times_s[:2]
    counters = runs[0].counters()
    wa_of_run = sum(counters[cause] for cause in _engine.CAUSES) / counters["host"]
    speed = writes / statistics.median(plain) / 1e6
    against = ratio(times_s[2], plain) if base else "–"
    return f"| {name} | {speed:.1f} | {ratio(plain, tagged)} | {against} | {wa_of_run:.2f} |"


def ratio(slower: list[float], faster: list[float]) -> str:
    """Return the median of the ratios of two series of times, with its quartiles."""
    ratios = [one / other for one, other in zip(slower, faster, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


def simulation(engine: ModuleType, case: dict[str, Any], *, tags: bool) -> Any:
    """Return a filled drive in steady state, which replays a trace of uniform writes."""
    shape = wa.device(blocks=case.get("blocks", 8192), pages_per_block=128, fill=case["fill"])
    pages, request_pages = shape.logical_pages, case.get("request_pages", 1)
    drawn = np.random.default_rng(1)
    first = drawn.integers(0, pages - request_pages, 4_000_000 // request_pages, dtype=np.uint32)
    counted = {"tags": (first % TAGS).astype(np.uint8)} if tags else {}
    load = engine.Load.trace(
        first_pages=first,
        counts=np.full(first.size, request_pages, np.uint32),
        passes=1000,
        **counted,
    )
    counting = {"counts_handles": True} if "hinted" in case else {"tags": TAGS}
    counting = counting if tags else {}
    geometry = engine.Geometry(
        channels=1,
        chips_per_channel=1,
        dies_per_chip=1,
        planes_per_die=1,
        blocks_per_plane=case.get("blocks", 8192),
        pages_per_block=128,
    )
    drive = engine.Drive(
        geometry=geometry,
        logical_pages=pages,
        layout="flat",
        manager=case.get("hinted", case["manager"]) if tags else case["manager"],
        victims=case.get("victims"),
        **counting,
    )
    run = engine.Simulation(drive, load, seed=1, batch_pages=engine.DEFAULT_BATCH_PAGES)
    run.fill(0, pages)
    run.run(2 * pages)
    return run


if __name__ == "__main__":
    main()
