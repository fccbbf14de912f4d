"""Black-box models between the points of the grid, with and without a prior.

Run `python benches/blackbox_off_grid.py LEARNT ASKED [LEARNT ASKED…]`, two tables for each drive:
`writeamp blackbox collect --target NAME --design random --design-seed 1 --points 400 --out LEARNT`
and the same with another seed and 60 points for ASKED. It prints the mean relative error of
throughput on the second, and the share of it that the 90% intervals hold, by the number of points
of the first that were learnt. The formula was made on `x25-m`, `apex` and `samsung-slc` with
seeds 1, 977 and 4242.
"""

from __future__ import annotations

import sys

from writeamp.learn.blackbox.measurement_file import read_measurements
from writeamp.learn.blackbox.training import train

_COUNTS = (50, 100, 200, 400)
_PRIORS = ("none", "auto")
_MODEL = "gaussian-process"


def main() -> None:
    print(f"| MRE of throughput, {_MODEL} | points | none | holds | auto | holds | begun with |")
    print("|---" * 7 + "|")
    for learnt, asked in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        table, others = read_measurements(learnt), read_measurements(asked)
        for count in (one for one in _COUNTS if one <= table.height):
            cells, origins = [], ""
            for prior in _PRIORS:
                model = train(table[:count], model=_MODEL, prior=prior, targets=["throughput"])
                [found] = model.evaluate(others)
                cells += [f"{found.mre:.1%}", f"{found.coverage:.0%}"]
                begun = getattr(model.estimators["throughput"].estimator_, "origins_", ())
                origins = ", ".join(one or "ordinary costs" for one in dict.fromkeys(begun))
            name = table["target"][0]
            print(f"| `{name}` | {count} | {' | '.join(cells)} | {origins} |", flush=True)


if __name__ == "__main__":
    main()
