"""Drive formulas of the library's profiles, which `blackbox train --prior` begins with.

Run `python benches/blackbox_prior.py TABLE…`, with a table for each profile that is fitted anew,
while the others stay: `writeamp blackbox
collect --target NAME --design random --points 400 --design-seed 1 --out NAME.parquet`. It writes
`python/writeamp/learn/blackbox/formulas/profiles.json`, and prints how near each formula comes to
what was simulated.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from writeamp.devices.profile import profile
from writeamp.learn.blackbox.features.feature_sets import EXTENDED
from writeamp.learn.blackbox.formulas import of_profiles
from writeamp.learn.blackbox.formulas.drive_formula import COSTS
from writeamp.learn.blackbox.formulas.fit import formula_of_rows
from writeamp.learn.blackbox.measurement_file import read_measurements

# More digits than the measurements have.
_DIGITS = 5


def main() -> None:
    found = {}
    print("| profile | points | unit of pages | mean error of the formula |\n|---|---|---|---|")
    for path in sorted(sys.argv[1:]):
        rows = read_measurements(path)
        best = formula_of_rows(rows)
        time_us = np.exp(best.log_time(EXTENDED.of(rows).to_numpy(), EXTENDED.names))
        said = 1e6 / time_us / rows["throughput_iops"].to_numpy()
        name, error = str(rows["target"][0]), float(np.mean(np.abs(said - 1)))
        # Full drives tell nothing of it.
        costs = dict(zip(COSTS, best.logs, strict=True)) | {"op": np.log(profile(name).op)}
        found[name] = {
            "points": rows.height,
            "error": round(error, _DIGITS),
            "page_bytes": best.page_bytes,
            "merges": best.merges,
            "log_costs": {cost: round(float(log), _DIGITS) for cost, log in costs.items()},
        }
        print(f"| `{name}` | {rows.height} | {best.page_bytes >> 10} KiB | {error:.1%} |")
    file = Path(of_profiles.__file__).with_name(of_profiles.FILE)
    all_profiles = json.loads(file.read_text())["profiles"] | found
    file.write_text(json.dumps({"profiles": dict(sorted(all_profiles.items()))}, indent=1) + "\n")


if __name__ == "__main__":
    main()
