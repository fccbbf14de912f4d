"""Black-box models of drives in many states, with and without features of the state.

Run `python benches/blackbox_states.py LEARNT ASKED [LEARNT ASKED…]`, two tables for each drive:
`writeamp blackbox collect --target NAME --design random --design-seed 1 --points 200 --vary
fill,recent-writes --out LEARNT`, and the same with another seed and 60 points for ASKED. It prints
the mean relative error on the second, and the share of it that the 90% intervals hold, by what of
the state the model is told.
"""

from __future__ import annotations

import sys

import polars as pl

from writeamp.learn.blackbox.measurement_file import read_measurements
from writeamp.learn.blackbox.training import train

_COUNTS = (100, 200)
_TARGETS = ["throughput", "wa"]
_PRIORS = {"throughput": "auto", "wa": "none"}
_MODEL = "gaussian-process"
# What a model is told of the state; what it is not, is the same in every row.
_TOLD = {
    "nothing": ("extended", ("fill", "recent_write_bytes")),
    "recent writes": ("modern", ("fill",)),
    "fill": ("modern", ("recent_write_bytes",)),
    "both": ("modern", ()),
}


def main() -> None:
    print("| drive | points | told | " + " | ".join(f"{one} | holds" for one in _TARGETS) + " |")
    print("|---" * (3 + 2 * len(_TARGETS)) + "|")
    for learnt, asked in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        table, others = read_measurements(learnt), read_measurements(asked)
        for count in (one for one in _COUNTS if one <= table.height):
            for told, (features, hidden) in _TOLD.items():
                known, unknown = _without(table[:count], hidden), _without(others, hidden)
                cells = []
                for target in _TARGETS:
                    model = train(
                        known,
                        features=features,
                        model=_MODEL,
                        prior=_PRIORS[target],
                        targets=[target],
                    )
                    [found] = model.evaluate(unknown)
                    cells += [f"{found.mre:.1%}", f"{found.coverage:.0%}"]
                name = table["target"][0]
                print(f"| `{name}` | {count} | {told} | {' | '.join(cells)} |", flush=True)


def _without(table: pl.DataFrame, hidden: tuple[str, ...]) -> pl.DataFrame:
    """Return a table that says the same of a part of the state in every row."""
    same = {"fill": 1.0, "working_set_bytes": pl.col("space_bytes"), "recent_write_bytes": 0}
    names = {"fill": ("fill", "working_set_bytes"), "recent_write_bytes": ("recent_write_bytes",)}
    return table.with_columns(**{name: same[name] for one in hidden for name in names[one]})


if __name__ == "__main__":
    main()
