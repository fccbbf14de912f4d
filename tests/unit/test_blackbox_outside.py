"""A model outside its training data: it says so of each row, and keeps intervals in order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression

from blackbox_tables import related
from in_process import document
from writeamp.learn.blackbox.model_file import save
from writeamp.learn.blackbox.models.conformal import ConformalRegressor
from writeamp.learn.blackbox.training import BlackBox, train


@pytest.fixture(scope="module")
def model() -> BlackBox:
    """Train on rows of which those that only read or write have 0 as the other size."""
    table = related(300)
    return train(
        table.with_columns(
            write_size_bytes=pl.when(pl.col("write_ratio") > 0)
            .then("write_size_bytes")
            .otherwise(0),
            read_size_bytes=pl.when(pl.col("write_ratio") < 1).then("read_size_bytes").otherwise(0),
        )
    )


def rows(*sizes: float) -> pl.DataFrame:
    writes = related(300, seed=1).filter(pl.col("write_ratio") == 1)[: len(sizes)]
    return writes.with_columns(
        write_size_bytes=pl.Series(sizes, dtype=pl.Float64), read_size_bytes=0.0
    )


def test_each_row_is_judged_by_the_sizes_of_requests_that_there_were(model: BlackBox) -> None:
    assert model.ranges["write_size_bytes"].low == 1024
    assert model.beyond(rows(1024.0, 512.0)) == ["write_size_bytes"]
    for said in model.predict(rows(1024.0, 512.0, 2048.0, 0.25)).values():
        assert said.outside.tolist() == [False, True, False, True]


def test_the_command_says_what_the_library_says(model: BlackBox, tmp_path: Path) -> None:
    save(model, tmp_path / "model")
    for size, outside in (("512", True), ("4k", False)):
        load = f"random:bs={size},write=1.0,qd=16"
        found = document("blackbox predict", f"{tmp_path}/model --workload {load}")
        assert found["outside"] is outside


def test_no_interval_leaves_out_its_own_value() -> None:
    drawn = np.random.default_rng(1)
    x = drawn.uniform(0, 1, (400, 1))
    y = np.exp(x[:, 0]) * drawn.uniform(0.98, 1.02, 400) - 0.6
    model = ConformalRegressor(LinearRegression(), relative=True).fit(x, y)
    beyond = np.linspace(-2, 3, 101)[:, None]
    value = model.predict(beyond)
    low, high = model.predict_interval(beyond)
    assert (value < model.floor_).any()
    assert ((low <= value) & (value <= high)).all()
    inside = value >= model.floor_
    assert (low[inside] < value[inside]).all()
