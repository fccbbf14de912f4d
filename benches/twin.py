"""Hidden drives: how well twins find them, and predict what they do under other workloads.

Draws drives by a seed, measures the chain on each, fits, and compares with what the drives are and
with what they come to under workloads that the chain does not hold:

    .venv/bin/python benches/twin.py --drives 64 --seed 1 --workloads 10
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from dataclasses import replace

import numpy as np
import writeamp as wa
from writeamp.devices.policy import Policy
from writeamp.twin.chain import chain_of
from writeamp.twin.fitting import fit
from writeamp.twin.measuring import measure
from writeamp.twin.profile import write_profile
from writeamp.twin.table import Table, table_of
from writeamp.twin.windows import Windows

PAGE_BYTES = 4096
UNSEEN = (
    "zipf:s=0.8",
    "zipf:s=1.1",
    "hot-cold:f=0.2,r=0.8",
    "hot-cold:f=0.05,r=0.5",
    "hot-cold:f=0.3,r=0.95",
    "drift:f=0.1,r=0.9,period=1e6,steps=10",
    "tpcc",
    "database",
    "mix:sizes=0.3/0.7,weights=0.8/0.2,of=zipf(s=0.9)/uniform",
    "groups:sizes=1/2/4/8,freq=8/4/2/1",
)


def inside(random: np.random.Generator) -> tuple[str, str]:
    """Return a drive of the families that are candidates, with any parameters of theirs."""
    victims = {
        "greedy": "greedy",
        "d-choices": f"d-choices:d={random.integers(2, 8)}",
        "windowed-greedy": f"windowed-greedy:window={random.integers(16, 200)}",
        "fifo": "fifo",
        "random": "random",
        "cost-benefit": "cost-benefit",
    }
    pairs = [("single", name) for name in victims]
    pairs += [("sepgc", name) for name in ("greedy", "cost-benefit", "d-choices", "fifo")]
    pairs += [(f"dac:regions={random.integers(3, 7)}", "cost-benefit"), ("sepbit", "cost-benefit")]
    manager, name = pairs[random.integers(len(pairs))]
    return manager, victims[name]


def outside(random: np.random.Generator) -> tuple[str, str]:
    """Return a drive of families that no candidate is of."""
    pairs = [
        ("sfs", "cost-benefit"),
        ("midas", "greedy"),
        ("eti", "greedy"),
        ("fadac", "greedy"),
        ("wolf-interval", "greedy"),
        ("wolf:detector=bloom", "greedy"),
        ("sepgc", "cost-hotness"),
        ("single", "cost-hotness"),
        ("multilog:logs=6", "fifo"),
        ("warcip:clusters=3", "random"),
    ]
    return pairs[random.integers(len(pairs))]


def main() -> None:
    """Draw, measure, fit, score and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--drives", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workloads", type=int, default=len(UNSEEN))
    parser.add_argument("--phases", type=int, default=4)
    parser.add_argument("--chunks", action="store_true")
    parser.add_argument("--noise", type=float, default=0.0, help="noise added to each window")
    parser.add_argument("--times", type=int, default=1, help="size of the drives over the table's")
    parser.add_argument("--outside", action="store_true", help="families that are no candidates")
    parser.add_argument("--stranger", action="store_true", help="take its family from the table")
    parser.add_argument("--verbose", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(_scores(asked, f"{folder}/drive.toml"), indent=1))


def _scores(asked: argparse.Namespace, profile: str) -> dict:
    """Return how far all hidden drives are found and predicted."""
    random = np.random.default_rng(asked.seed)
    rows, errors, hits, widths = [], [], [], []
    for number in range(asked.drives):
        found = _one(asked, profile, random, number)
        if found is None:
            continue
        rows.append(found)
        errors += found.pop("errors")
        hits += found.pop("hits")
        widths += found.pop("widths")
        if asked.verbose:
            print(json.dumps(found), flush=True)
    summary = {"asked": vars(asked), "drives": len(rows)}
    for key in ("op_error", "unit_error"):
        summary[key] = _quantiles([row[key] for row in rows])
    for key in ("op_held", "family", "in_class", "separation"):
        summary[key] = float(np.mean([row[key] for row in rows]))
    summary["misfit"] = _quantiles([row["misfit"] for row in rows])
    summary["noise"] = _quantiles([row["noise"] for row in rows])
    summary["fit_s"] = _quantiles([row["fit_s"] for row in rows])
    if errors:
        summary["wa_error"] = _quantiles(errors)
        summary["held"] = float(np.mean(hits))
        summary["half_width"] = _quantiles(widths)
    return summary


def _quantiles(values: list[float]) -> dict[str, float]:
    middle, high = np.quantile(np.abs(values), [0.5, 0.9])
    return {"median": float(middle), "p90": float(high)}


def _one(
    asked: argparse.Namespace, profile: str, random: np.random.Generator, number: int
) -> dict | None:
    """Return what is found of one drive, beside what it is; None if there can be no such drive."""
    op = float(np.exp(random.uniform(math.log(0.05), math.log(0.4))))
    unit = round(2 ** random.uniform(5, 10))
    manager, victims = (outside if asked.outside else inside)(random)
    pages = 2**17 * asked.times
    blocks = math.ceil(pages * (1 + op) / unit)
    try:
        drive = wa.device(blocks=blocks, pages_per_block=unit, page_bytes=PAGE_BYTES, op=op)
        chain = chain_of(asked.phases, chunks=asked.chunks, capacity_bytes=drive.capacity_bytes)
        windows = measure(drive, Policy.of(manager, victims, None), chain, seed=1000 + number)
    except wa.WriteampError as error:
        print("left out:", manager, victims, unit, f"{op:.3f}", error)
        return None
    if asked.noise:
        windows = _noisy(windows, asked.noise, random)
    truth = (manager.partition(":")[0], victims.partition(":")[0])
    table = table_of(windows.chain)
    if asked.stranger:
        table = _without(table, truth)
    began = time.perf_counter()
    found = fit(windows, table=table)
    candidates = found.candidates
    fit_s = time.perf_counter() - began
    first = (found.families[0]["manager"], found.families[0]["victims"])
    row = {
        "truth": [manager, victims, round(op, 4), unit],
        "found": [*first, round(found.families[0]["weight"], 3)],
        "op_error": found.op[0] / op - 1,
        "op_held": found.op[1] <= op <= found.op[2],
        "unit_error": float(np.log2(found.erase_unit_pages[0] / unit)),
        "family": first == truth,
        "in_class": ", ".join(truth) in found.classes[0],
        "separation": (found.separation_probability > 0.5) == (truth[0] != "single"),
        "misfit": found.misfit,
        "noise": found.noise,
        "fit_s": fit_s,
        "candidates": len(candidates),
        "errors": [],
        "hits": [],
        "widths": [],
    }
    if asked.workloads:
        write_profile(profile, found.profile(), [])
    for workload in UNSEEN[: asked.workloads]:
        real = wa.simulate(
            drive, workload, manager=manager, victims=victims, seed=7, replicas=1, precision=0.005
        )
        guess = wa.simulate(profile, workload)
        row["errors"].append(guess.wa / real.wa - 1)
        row["hits"].append(guess.ci90[0] <= real.wa <= guess.ci90[1])
        row["widths"].append((guess.ci90[1] - guess.ci90[0]) / 2 / guess.wa)
    row["wa_errors"] = [round(error, 4) for error in row["errors"]]
    return row


def _without(table: Table, family: tuple[str, str]) -> Table:
    """Return the table without a family: what a drive of it is to the others."""
    kept = [at for at, one in enumerate(table.variants) if one.family != family]
    _, numbers = np.unique(np.array(table.family_of)[kept], return_inverse=True)
    return replace(
        table,
        variants=tuple(table.variants[at] for at in kept),
        family_of=tuple(int(number) for number in numbers),
        log_op=table.log_op[kept],
        wa=table.wa[kept],
    )


def _noisy(windows: Windows, noise: float, random: np.random.Generator) -> Windows:
    """Return windows without their parts, each of whose flash bytes is off by so much."""
    counts = windows.chain.windows + 1
    numbers = np.arange(-1, counts - 1)
    host = np.bincount(windows.window + 1, windows.host_bytes, minlength=counts)
    flash = np.bincount(windows.window + 1, windows.flash_bytes, minlength=counts)
    flash *= np.exp(random.normal(0, noise, counts))
    flash[0] = host[0]
    return Windows(windows.chain, np.zeros(counts, int), numbers, host, flash)


if __name__ == "__main__":
    main()
