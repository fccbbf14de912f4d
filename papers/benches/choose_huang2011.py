"""Choice of the settings of paper 2's regression trees (`huang2011/tree_choice.toml`).

Run `.venv/bin/python papers/benches/choose_huang2011.py FOLDER > tree_choice.toml` to measure the
grid of three devices in the short form, in the default way, and to print the record. Measurements
are saved in FOLDER, as by `writeamp reproduce huang2011 --resume FOLDER`.

SSD_S, Array_I and the kinds of workload of Table IV do not take part. Reading 2-C, with other
folds, judges the choice on them too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

from writeamp_papers.bench import Bench
from writeamp_papers.huang2011.accuracy import vectors_of
from writeamp_papers.huang2011.campaign import runs_of
from writeamp_papers.huang2011.printed import SPECIFIC_DEVICES
from writeamp_papers.huang2011.runs import METRICS
from writeamp_papers.huang2011.tree_choice import FOLDS, SEED, TreeSettings, held_out_error

# The largest leaves have five rows for each of the nine coefficients of eight features.
_CANDIDATES = [TreeSettings(*settings) for settings in product((45, 20, 10, 5), (False, True))]


def record(folder: Path) -> Iterator[str]:
    """Yield the lines of the record."""
    folder.mkdir(parents=True, exist_ok=True)
    bench = Bench(resume=folder)
    grids = {device: runs_of(bench, device)["aged"].grid for device in SPECIFIC_DEVICES}
    vectors = {device: vectors_of(grid, "extended") for device, grid in grids.items()}
    rows = ", ".join(f"{device} = {grid.height}" for device, grid in grids.items())
    yield "# Held-out errors of the candidates for paper 2's trees: the mean absolute error of the"
    yield "# logarithm of each metric, on the grid's rows in reading 2-A. `tree_choice.py` uses the"
    yield "# candidate with the least mean. papers/benches/choose_huang2011.py wrote this file."
    yield f'date = "{datetime.now(UTC).date()}"'
    yield f"metrics = {list(METRICS)}\nrows = {{ {rows} }}\nfolds = {FOLDS}\nseed = {SEED}"
    for settings in _CANDIDATES:
        yield f"\n[[candidates]]\nmin_samples_leaf = {settings.min_samples_leaf}"
        yield f"log_terms = {str(settings.log_terms).lower()}\n[candidates.errors]"
        for device, grid in grids.items():
            errors = [
                round(held_out_error(settings, vectors[device], grid[metric].to_numpy()), 4)
                for metric in METRICS
            ]
            yield f"{device} = {errors}"


if __name__ == "__main__":
    for line in record(Path(sys.argv[1])):
        print(line, flush=True)
