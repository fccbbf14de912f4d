"""Black-box models: their speed, and their accuracy beside others.

Run `python benches/blackbox.py [TABLE…]`.

Prints two tables of speed, on made-up data of the size that paper 2 collects, and for each table of
measurements (Parquet, as docs/blackbox.md says) the mean relative error of each
model by five-fold cross-validation over workloads. `pip install lightgbm cubist` adds these two. Of
tables of more than 1,500 workloads it prints the error by the number of points that were learnt,
too: the first of the table, or those that active learning chooses of the table.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.compose import TransformedTargetRegressor

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.active import ProcessLearner, next_points
from writeamp.learn.blackbox.features import FEATURE_SETS, of_trace
from writeamp.learn.blackbox.features.feature_sets import EXTENDED
from writeamp.learn.blackbox.measurement_file import point_of
from writeamp.learn.blackbox.measurements import TARGETS, observed, workloads
from writeamp.learn.blackbox.models.checks import fitted, folds_of, predicted_unseen
from writeamp.learn.blackbox.models.learners import MODELS, make_model
from writeamp.learn.blackbox.models.linear_forest import LinearForestRegressor
from writeamp.learn.blackbox.models.linear_tree import LinearTreeRegressor
from writeamp.learn.blackbox.predictions import score
from writeamp.traces.trace import SCHEMA, Trace

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from blackbox_tables import GRID, measured

_REQUESTS = 2_000_000
# Rows that learning curves are judged on.
_ASKED = 1000


def main() -> None:
    models()
    features()
    for path in sys.argv[1:]:
        table = pl.read_parquet(path)
        accuracy(table, Path(path).stem)
        if table.height > _ASKED + 500 and "error" in table.columns:
            learning(table.filter(pl.col("error").is_null()), Path(path).stem)


def models() -> None:
    table = measured(10_000)
    x, y = table.select(*GRID).to_numpy(), table["latency_us"].to_numpy()
    many = x[np.random.default_rng(0).integers(0, len(x), 1_000_000)]
    print("| model | fit 10,000 rows, s | leaves | predict 1,000,000 rows, s |\n|---|---|---|---|")
    for name, model in (
        ("linear-tree", LinearTreeRegressor(log_target=True)),
        ("linear-tree, quantile 0.5", LinearTreeRegressor(log_target=True, quantile=0.5)),
        ("linear-forest of 5", LinearForestRegressor(n_estimators=5, log_target=True)),
    ):
        fit_s = best_s(lambda m=model: m.fit(x, y))
        leaves = getattr(model, "n_leaves_", "")
        print(
            f"| {name} | {fit_s:.2f} | {leaves} | {best_s(lambda m=model: m.predict(many)):.2f} |"
        )


def features() -> None:
    rng = np.random.default_rng(0)
    columns = {
        "timestamp_ns": np.cumsum(rng.integers(0, 100_000, _REQUESTS)),
        "device": np.zeros(_REQUESTS, dtype=int),
        "op": rng.choice(["read", "write"], _REQUESTS),
        "offset": rng.integers(0, 1 << 20, _REQUESTS) * 4096,
        "length": rng.choice([4096, 16384], _REQUESTS),
    }
    frame = pl.DataFrame({name: columns[name] for name in SCHEMA}).cast(SCHEMA)
    trace = Trace(frame, "bench", "bench", ["bench"])
    print("\n| features of windows of 1 s | million requests a second |\n|---|---|")
    for name in FEATURE_SETS:
        seconds = best_s(lambda n=name: of_trace(trace, 1.0, features=n, capacity_bytes=1 << 33))
        print(f"| {name} | {_REQUESTS / seconds / 1e6:.1f} |")


def accuracy(table: pl.DataFrame, name: str) -> None:
    targets = [one for one in ("latency", "bandwidth", "throughput") if TARGETS[one] in table]
    print(f"\n| MRE, {name}, {table.height} rows | {' | '.join(targets)} |")
    print("|---" * (1 + len(targets)) + "|")
    for model_name, model in candidates():
        cells = [f"{mre(table, target, model):.2%}" for target in targets]
        print(f"| {model_name} | {' | '.join(cells)} |", flush=True)


def learning(table: pl.DataFrame, name: str) -> None:
    """Print the MRE of throughput on the last rows of a table, by how many others were learnt."""
    learnt, asked = table[:-_ASKED], table[-_ASKED:]
    models = ("linear-tree", "linear-forest", "gaussian-process")
    print(f"\n| MRE of throughput, {name} | {' | '.join(models)} | gaussian-process, active |")
    print("|---" * (2 + len(models)) + "|")
    counts = [one for one in (100, 200, 400, 800, 1600, 3200) if one <= learnt.height]
    active = dict(chosen(learnt, most=400))
    for count in counts:
        cells = [f"{unseen_mre(learnt[:count], asked, model):.1%}" for model in models]
        rows = active.get(count)
        cells.append("" if rows is None else f"{unseen_mre(rows, asked, models[-1]):.1%}")
        print(f"| {count} | {' | '.join(cells)} |", flush=True)


def chosen(table: pl.DataFrame, most: int) -> Iterator[tuple[int, pl.DataFrame]]:
    """Give what active learning would measure, had it to choose among the rows of a table."""
    rows = {point_of(row): row for row in table.iter_rows(named=True)}
    known = list(rows)[: most // 5]
    while True:
        if len(known) in (100, 200, 400):
            yield len(known), pl.DataFrame([rows[one] for one in known], table.schema)
        if len(known) >= most:
            return
        stop = next(one for one in (100, 200, 400) if one > len(known))
        target = np.array([rows[one]["latency_us"] for one in known])
        measured_now = set(known)
        pool = [one for one in rows if one not in measured_now]
        known += next_points(known, target, pool, most=stop - len(known), learner=ProcessLearner(0))


def unseen_mre(table: pl.DataFrame, asked: pl.DataFrame, name: str) -> float:
    model = make_model(name, log_target=True, names=EXTENDED.names)
    x, y = EXTENDED.of(table).to_numpy(), table["throughput_iops"].to_numpy()
    found = fitted(model, x, y, workloads(table)).predict(EXTENDED.of(asked).to_numpy())
    return score("throughput", asked["throughput_iops"].to_numpy(), found).mre


def candidates() -> Iterator[tuple[str, Any]]:
    for name in MODELS:
        try:
            yield name, make_model(name, log_target=True, names=EXTENDED.names)
        except WriteampError as error:
            print(error, file=sys.stderr)
    try:
        from cubist import Cubist  # noqa: PLC0415 (only for this comparison: its licence is the GPL)
    except ModuleNotFoundError:
        return
    for committees in (1, 20):
        model = Cubist(n_committees=committees)
        log = TransformedTargetRegressor(model, func=np.log, inverse_func=np.exp)
        yield f"Cubist, {committees} committees", log


def mre(table: pl.DataFrame, target: str, model: Any) -> float:
    rows = observed(table, target)
    x, y = EXTENDED.of(rows).to_numpy(), rows[TARGETS[target]].to_numpy()
    groups = workloads(rows)
    folds = folds_of(rows.height, groups, 5, seed=0)
    predicted = predicted_unseen(model, x, y, groups, folds)
    return score(target, y, predicted).mre


def best_s(call: Callable[[], object]) -> float:
    seconds = []
    for _ in range(3):
        begun = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


if __name__ == "__main__":
    main()
