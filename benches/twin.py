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
from writeamp.learn.twin.chain import chain_of
from writeamp.learn.twin.fitting import fit
from writeamp.learn.twin.measuring import measure
from writeamp.learn.twin.profile import write_profile
from writeamp.learn.twin.table import CandidateTable, table_of
from writeamp.learn.twin.windows import Windows

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


def added(random: np.random.Generator) -> tuple[str, str]:
    """Return a drive of the other families that are candidates, with any parameters of theirs."""

    def whole(low: int, high: int) -> int:
        return int(random.integers(low, high + 1))

    victims = ("greedy", "cost-benefit")[whole(0, 1)]
    pairs = [
        (f"wolf:smallest={whole(1, 3)},weight={random.choice([0.005, 0.03])}", "greedy"),
        (f"wolf:detector=bloom,hold={whole(20, 89)}", "greedy"),
        (f"wolf-interval:max_groups={whole(6, 12)}", "greedy"),
        ("single", "cost-hotness"),
        ("sepgc", "cost-hotness"),
        (f"dac:regions={whole(3, 6)}", "cost-hotness"),
        (f"sfs:groups={whole(3, 7)}", "cost-hotness"),
        (f"sfs:groups={whole(3, 7)}", victims),
        (f"midas:groups={whole(4, 8)}", victims),
        (f"eti:extents={2 ** whole(6, 11)}", victims),
        (f"fadac:classes={whole(3, 6)}", victims),
        (f"multilog:logs={whole(3, 7)}", victims),
        (f"warcip:clusters={whole(3, 7)}", victims),
        ("sepbit", victims),
        ("hcwf", f"d-choices:d={whole(5, 19)}"),
        ("hcwf-swap", f"d-choices:d={whole(5, 19)}"),
        ("fdp-frequency", "fifo"),
    ]
    return pairs[random.integers(len(pairs))]


def outside(random: np.random.Generator) -> tuple[str, str]:
    """Return a drive of managers, parameters and pairs that no candidate is of."""

    def whole(low: int, high: int) -> int:
        return int(random.integers(low, high + 1))

    victims = (f"d-choices:d={whole(2, 7)}", f"windowed-greedy:window={whole(16, 199)}")
    one = victims[whole(0, 1)]
    pairs = [
        (f"dac:regions={whole(3, 6)}", one),
        ("sepbit", one),
        (f"midas:groups={whole(4, 8)}", one),
        (f"fadac:classes={whole(3, 6)}", one),
        (f"sfs:groups={whole(3, 7)}", one),
        (f"warcip:clusters={whole(3, 7)}", one),
        (f"eti:extents={2 ** whole(6, 11)}", one),
        (f"wolf:detector=interval,groups={whole(3, 5)}", "greedy"),
        (f"wolf:detector=bloom,groups={whole(3, 5)},ratio={whole(2, 4)}", "fifo"),
        ("wolf-interval:allocation=closed-form,ratio=4", "fifo"),
        (f"warcip:clusters={whole(3, 7)}", "cost-hotness"),
        (f"fadac:classes={whole(3, 6)}", "cost-hotness"),
        ("hcwf:detector=bloom", "d-choices:d=10"),
        ("hcwf-swap:detector=distance", "d-choices:d=5"),
        ("fdp-frequency:detector=bloom", "greedy"),
        ("fdp-frequency:detector=interval", "fifo"),
    ]
    return pairs[random.integers(len(pairs))]


DRAWS = {"inside": inside, "added": added, "outside": outside}


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
    parser.add_argument("--of", choices=DRAWS, default="inside", help="which drives are drawn")
    parser.add_argument("--stranger", action="store_true", help="take its manager from the table")
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
    manager, victims = DRAWS[asked.of](random)
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
        low, high = guess.interval_at(0.9)
        row["hits"].append(low <= real.wa <= high)
        row["widths"].append((high - low) / 2 / guess.wa)
    row["wa_errors"] = [round(error, 4) for error in row["errors"]]
    return row


def _without(table: CandidateTable, family: tuple[str, str]) -> CandidateTable:
    """Return the table without a manager: what a drive of it is to the others.

    Of one or two streams there are drives under any victim policy, so those lose that one alone.
    """
    whole = family[0] not in ("single", "sepgc")
    kept = [
        at
        for at, one in enumerate(table.variants)
        if (one.family[0] != family[0] if whole else one.family != family)
    ]
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
