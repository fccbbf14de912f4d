"""Targets that are one by Little's law, intervals, and what lies outside of training data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression

from blackbox_tables import mean_size_bytes, measured, related
from in_process import document
from writeamp.errors import WriteampError
from writeamp.learn.blackbox import littles_law
from writeamp.learn.blackbox.measurement_file import read_measurements
from writeamp.learn.blackbox.model_file import save
from writeamp.learn.blackbox.models.conformal import ConformalRegressor
from writeamp.learn.blackbox.models.linear_forest import LinearForestRegressor
from writeamp.learn.blackbox.models.linear_tree import LinearTreeRegressor
from writeamp.learn.blackbox.ranges import beyond, ranges_of
from writeamp.learn.blackbox.training import BlackBox, train

TABLE = related(300)
UNSEEN = related(300, seed=1)


@pytest.fixture(scope="module")
def joint() -> BlackBox:
    return train(TABLE)


def test_joint_predictions_are_of_one_workload(joint: BlackBox) -> None:
    said = joint.predict(UNSEEN)
    throughput = said["throughput"].value
    depth = UNSEEN["queue_depth"].to_numpy()
    assert joint.is_joint
    assert said["latency"].value * throughput / 1e6 == pytest.approx(depth)
    size_bytes = mean_size_bytes(UNSEEN).to_numpy()
    assert said["bandwidth"].value * 1e6 / throughput == pytest.approx(size_bytes)


def test_joint_predictions_are_nearer_than_each_by_itself(joint: BlackBox) -> None:
    apart = replace(joint, is_joint=False)
    together, each = joint.evaluate(UNSEEN), apart.evaluate(UNSEEN)
    related_mre = [np.mean([one.mre for one in found[:3]]) for found in (together, each)]
    assert related_mre[0] < 0.9 * related_mre[1]
    assert together[3] == each[3]


def test_the_median_of_three_is_what_is_joined() -> None:
    workload = pl.DataFrame(
        {"queue_depth": [8.0], "write_ratio": [0.5]}
        | {f"{one}_size_bytes": [4000.0] for one in ("write", "read")}
    )
    # These say 1000, 2000 and 4000 requests a second.
    values = {"latency": [8000.0], "bandwidth": [8.0], "throughput": [4000.0]}
    found = littles_law.joined({name: np.array(one) for name, one in values.items()}, workload)
    assert found["throughput"] == pytest.approx([2000])
    assert found["latency"] == pytest.approx([4000])
    assert found["bandwidth"] == pytest.approx([8])


@pytest.mark.parametrize(
    "table",
    [
        TABLE.with_columns(pl.col("latency_us") * 1.2),
        TABLE.drop("bandwidth_mb_s"),
        TABLE.with_columns(latency_us=pl.when(pl.col("queue_depth") > 1).then("latency_us")),
    ],
)
def test_measurements_that_do_not_follow_the_law_are_predicted_apart(table: pl.DataFrame) -> None:
    assert littles_law.follow(TABLE)
    assert not littles_law.follow(table)
    assert not train(table, model="linear").is_joint


def test_reads_alone_have_no_write_amplification(joint: BlackBox) -> None:
    reads = UNSEEN["write_ratio"].to_numpy() == 0
    said = joint.predict(UNSEEN)["wa"]
    assert np.array_equal(np.isnan(said.value), reads)
    assert np.array_equal(np.isnan(said.low), reads)


def test_a_cross_validation_says_what_training_expects(joint: BlackBox) -> None:
    found = {one.target: one for one in joint.cross_validate(TABLE, 5)}
    assert {name: one.mre for name, one in found.items()} == joint.unseen_mre
    unseen = {one.target: one.mre for one in joint.evaluate(UNSEEN)}
    for target, mre in joint.unseen_mre.items():
        assert 0.6 < unseen[target] / mre < 1.6


def test_intervals_of_joint_predictions_hold_what_they_promise(joint: BlackBox) -> None:
    for one in joint.evaluate(related(2000, seed=2)):
        assert 0.86 <= one.coverage <= 0.95, one.target
    for one in joint.cross_validate(TABLE, 5):
        assert 0.85 <= one.coverage <= 0.96, one.target


def test_a_forest_needs_no_fit_but_its_own_for_its_intervals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fits = []
    fit = LinearForestRegressor.fit

    def counted(*arguments: object, **more: object) -> LinearForestRegressor:
        fits.append(arguments)
        return fit(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(LinearForestRegressor, "fit", counted)
    table, unseen = measured(600), measured(2000, seed=1)
    model = train(table, model="linear-forest", targets=["latency"])
    assert len(fits) == 1
    assert 0.86 <= model.evaluate(unseen)[0].coverage <= 0.95


def test_what_has_no_bag_has_no_predictions_out_of_it() -> None:
    x = np.arange(60.0)[:, None]
    with pytest.raises(WriteampError, match="LinearTreeRegressor has no out-of-bag predictions"):
        ConformalRegressor(LinearTreeRegressor(), folds=None).fit(x, x[:, 0])


def test_a_baseline_too_knows_what_it_was_trained_on() -> None:
    model = train(TABLE, model="linear", targets=["latency"])
    larger = UNSEEN[:1].with_columns(write_ratio=1.0, write_size_bytes=3e5, write_randomness=1.0)
    assert model.predict(larger)["latency"].outside.tolist() == [True]
    assert model.beyond(larger) == ["write_size_bytes"]


def test_no_size_is_no_size_outside_the_range() -> None:
    ranges = ranges_of(TABLE, ["write_ratio", "write_size_bytes"])
    assert (ranges["write_size_bytes"].low, ranges["write_size_bytes"].high) == (1024, 262144)
    reads = TABLE[:1].with_columns(write_ratio=0.0, write_size_bytes=0.0)
    assert not beyond(ranges, reads)


def test_points_that_failed_are_left_out_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    failed = pl.Series([None] * 299 + ["no room"])
    TABLE.with_columns(target=pl.lit("x25-m"), error=failed).write_parquet(path)
    found = read_measurements(path)
    assert found.height == 299
    assert train(found, model="linear").drive == "x25-m"


def test_one_of_several_drives_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    names = pl.Series(["a", "b"] * 150)
    TABLE.with_columns(target=names).write_parquet(path)
    assert read_measurements(path, "b").height == 150
    with pytest.raises(WriteampError, match=r"of 2 drives; choose one with --drive: a, b"):
        read_measurements(path)
    with pytest.raises(WriteampError, match="unknown drive 'c'"):
        read_measurements(path, "c")
    with pytest.raises(WriteampError, match="of 2 drives, a, b; a model needs"):
        train(TABLE.with_columns(target=names))


def test_a_table_with_commas_is_measurements_too(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    TABLE.write_csv(path)
    assert read_measurements(path)["latency_us"].to_list() == TABLE["latency_us"].to_list()


@pytest.fixture(scope="module")
def one_sided() -> BlackBox:
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


def test_each_row_is_judged_by_the_sizes_of_requests_that_there_were(one_sided: BlackBox) -> None:
    assert one_sided.ranges["write_size_bytes"].low == 1024
    assert one_sided.beyond(rows(1024.0, 512.0)) == ["write_size_bytes"]
    for said in one_sided.predict(rows(1024.0, 512.0, 2048.0, 0.25)).values():
        assert said.outside.tolist() == [False, True, False, True]


def test_the_command_says_what_the_library_says(one_sided: BlackBox, tmp_path: Path) -> None:
    save(one_sided, tmp_path / "model")
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
