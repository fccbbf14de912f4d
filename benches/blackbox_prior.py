"""Drive formulas of the library's profiles, which `blackbox train --prior` begins with.

Run `python benches/blackbox_prior.py NAME…`, with the name of each profile whose formula is fitted
anew, while the others stay. It simulates them at random points, which it keeps in `--folder`, so
that the same call goes on after an interruption. It writes the formulas, and digests of what they
were fitted from, to `python/writeamp/learn/blackbox/formulas/profiles.json`, and prints how near
each formula comes to what was simulated.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from writeamp.devices.profile import profile
from writeamp.learn.blackbox.collection import collect
from writeamp.learn.blackbox.designs import Design
from writeamp.learn.blackbox.features.feature_sets import EXTENDED
from writeamp.learn.blackbox.formulas import of_profiles
from writeamp.learn.blackbox.formulas.drive_formula import COSTS
from writeamp.learn.blackbox.formulas.fit import formula_of_rows
from writeamp.learn.blackbox.measurement_file import TargetRows, read_measurements
from writeamp.learn.blackbox.targets.simulated import SimulatedTarget

# More digits than the measurements have.
_DIGITS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--points", type=int, default=200, help="random points of each profile")
    parser.add_argument("--folder", type=Path, default=Path("build/blackbox_prior"))
    parser.add_argument(
        "--out", type=Path, default=Path(of_profiles.__file__).with_name(of_profiles.FILE)
    )
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    formulas = json.loads(asked.out.read_text())["profiles"] if asked.out.exists() else {}
    print("| profile | points | unit of pages | mean error of the formula |\n|---|---|---|---|")
    for name in asked.names:
        formulas[name] = formula = _formula(name, _rows(name, asked.points, asked.folder))
        unit, error = formula["page_bytes"] >> 10, formula["error"]
        print(f"| `{name}` | {formula['points']} | {unit} KiB | {error:.1%} |", flush=True)
        text = json.dumps({"profiles": dict(sorted(formulas.items()))}, indent=1)
        asked.out.write_text(text + "\n")


def _rows(name: str, points: int, folder: Path) -> pl.DataFrame:
    """Return the measurements of a profile as it is today."""
    target, file = SimulatedTarget(name), folder / f"{name}.parquet"

    def report(done: int, total: int) -> None:
        print(f"\r{name}: {done} of {total} points", end="", file=sys.stderr)

    collect(target, out=file, design=Design("random", points, seed=1), progress=report)
    print(file=sys.stderr)
    rows = read_measurements(file)
    return rows.filter(pl.col("target_hash") == TargetRows(target).target_hash).head(points)


def _formula(name: str, rows: pl.DataFrame) -> dict[str, Any]:
    best = formula_of_rows(rows)
    time_us = np.exp(best.log_time(EXTENDED.of(rows).to_numpy(), EXTENDED.names))
    predicted = 1e6 / time_us / rows["throughput_iops"].to_numpy()
    # Measurements of full drives do not depend on it.
    costs = dict(zip(COSTS, best.logs, strict=True)) | {"op": np.log(profile(name).op)}
    return {
        "points": rows.height,
        "error": round(float(np.mean(np.abs(predicted - 1))), _DIGITS),
        "fitted_from": of_profiles.fitted_from(name),
        "page_bytes": best.page_bytes,
        "merges": best.merges,
        "log_costs": {cost: round(float(log), _DIGITS) for cost, log in costs.items()},
    }


if __name__ == "__main__":
    main()
