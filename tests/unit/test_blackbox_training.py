"""Scores, training on measurements, what leaks and what does not, and saved models."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression

import writeamp.learn.blackbox.models
from blackbox_files import rewritten
from blackbox_tables import GRID, latency_us, measured
from writeamp.errors import WriteampError
from writeamp.learn.blackbox.features import of_workload
from writeamp.learn.blackbox.measurements import fingerprints, observed, workloads
from writeamp.learn.blackbox.model_file import load, save
from writeamp.learn.blackbox.model_kinds import model_kinds
from writeamp.learn.blackbox.models.documents import from_document, to_document
from writeamp.learn.blackbox.models.linear_forest import LinearForestRegressor
from writeamp.learn.blackbox.models.linear_tree import LinearTreeRegressor
from writeamp.learn.blackbox.predictions import score
from writeamp.learn.blackbox.training import BlackBox, train

TABLE = measured(400)
# The forest is tested below, of a size that is fast.
SAVED = ["linear-tree", "gaussian-process", "quantile-tree", "linear"]


@pytest.fixture(scope="module")
def trained() -> BlackBox:
    return train(TABLE)


def test_scores_are_those_of_the_paper() -> None:
    p, found = np.array([2.0, 4.0, 10.0]), np.array([1.0, 5.0, 11.0])
    result = score("latency", p, found, (found - 0.5, found + 1))
    sst = (p**2).sum() - p.sum() ** 2 / 3
    assert result.r2 == pytest.approx(1 - 3 / sst)
    assert result.mae == pytest.approx(1)
    assert result.mre == pytest.approx((1 / 2 + 1 / 4 + 1 / 10) / 3)
    assert (result.mean, result.n) == (p.mean(), 3)
    assert result.coverage == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("given", "found"), [([], []), ([1, 2], [1]), ([0, 1], [1, 1]), ([1, 2], [1, np.nan])]
)
def test_what_has_no_score_is_refused(given: list[float], found: list[float]) -> None:
    with pytest.raises(WriteampError, match="latency: "):
        score("latency", given, found)


def test_the_extended_features_explain_what_the_basic_ones_mix() -> None:
    """Read and write sizes and patterns weigh differently (paper 2, section III.B)."""
    held_out = measured(500, seed=1)
    mre = {
        name: train(TABLE, features=name, targets=["latency"]).evaluate(held_out)[0].mre
        for name in ("basic", "extended")
    }
    assert mre["basic"] > 2 * mre["extended"]


def test_each_target_in_the_table_is_trained_and_predicted_with_an_interval(
    trained: BlackBox,
) -> None:
    found = trained.predict(of_workload("random:bs=16k,write=0.5,qd=16").frame())
    assert list(found) == ["latency", "throughput"]
    for one in found.values():
        assert 0 < one.low[0] < one.value[0] < one.high[0]
        assert not one.outside[0]
    beyond = trained.predict(of_workload("random:bs=4M,write=0.5,qd=16").frame())
    assert beyond["latency"].outside[0]


def test_training_rows_are_refused_as_a_test(trained: BlackBox) -> None:
    held_out = measured(100, seed=1)
    assert [one.target for one in trained.evaluate(held_out)] == ["latency", "throughput"]
    with pytest.raises(WriteampError, match="3 of the 103 rows were used in training"):
        trained.evaluate(pl.concat([held_out, TABLE[:3]]))
    with pytest.raises(WriteampError, match="need the column write_ratio"):
        trained.evaluate(held_out.drop("write_ratio"))


def test_repeats_of_a_workload_do_not_leak_into_its_fold() -> None:
    # Latencies that depend on nothing: only a repeat can tell them.
    once = measured(60)
    latency = np.exp(np.random.default_rng(1).standard_normal(60))
    table = pl.concat([once.with_columns(latency_us=pl.Series(latency))] * 5)
    model = train(table, targets=["latency"])
    (by_workload,) = model.cross_validate(table)
    named = table.with_columns(workload=pl.Series(range(table.height)))
    (by_row,) = model.cross_validate(named)
    assert by_workload.r2 < 0.2
    assert by_row.r2 > by_workload.r2 + 0.3


def test_rows_are_of_one_workload_by_name_or_by_characteristics() -> None:
    reads = measured(2).with_columns(write_ratio=0.0, read_size_bytes=4096.0)
    alike = reads[:1].select(pl.all().exclude("write_size_bytes"), write_size_bytes=1.0)
    table = pl.concat([reads[:1], alike.select(reads.columns)])
    assert len(set(workloads(table))) == 1
    assert len(set(workloads(table.with_columns(workload=pl.Series(["a", "b"]))))) == 2
    assert fingerprints(table, "latency")[0] == fingerprints(table, "latency")[1]


def test_a_target_counts_where_it_was_measured_only() -> None:
    table = TABLE.with_columns(wa=pl.when(pl.col("write_ratio") > 0).then(1.5))
    assert observed(table, "wa").height == (TABLE["write_ratio"] > 0).sum()
    with pytest.raises(WriteampError, match="row 2 has a latency_us of -1"):
        observed(pl.DataFrame({"latency_us": [1.0, 2.0, -1.0]}), "latency")


@pytest.mark.parametrize(
    ("table", "given", "says"),
    [
        (TABLE.drop("latency_us", "throughput_iops"), {}, "have no values of a target"),
        (TABLE, {"targets": ["latincy"]}, "did you mean 'latency'"),
        (TABLE, {"targets": ["wa"]}, "lack the column wa"),
        (TABLE, {"model": "linear-bush"}, "unknown model"),
        (TABLE, {"features": "modern"}, "need the column working_set_bytes"),
        (TABLE[:10], {}, "have 10 rows"),
        (TABLE, {"level": 1}, "level is 1"),
    ],
)
def test_what_cannot_be_trained_on_is_refused(
    table: pl.DataFrame, given: dict[str, Any], says: str
) -> None:
    with pytest.raises(WriteampError, match=says):
        train(table, **given)


@pytest.mark.parametrize("name", SAVED)
def test_a_saved_model_predicts_the_same_to_the_last_bit(name: str, tmp_path: Path) -> None:
    model = train(TABLE[:120], model=name, targets=["latency"])
    path = tmp_path / "model"
    save(model, path)
    again = load(path)
    workloads = measured(300, seed=2)
    ours, theirs = (one.predict(workloads)["latency"] for one in (model, again))
    for part in ("value", "low", "high", "outside"):
        assert np.array_equal(getattr(ours, part), getattr(theirs, part))
    with pytest.raises(WriteampError, match="were used in training"):
        again.evaluate(TABLE)
    assert again.cross_validate(TABLE[:100], 2) == model.cross_validate(TABLE[:100], 2)


def test_the_shipped_quantile_tree_predicts_the_median() -> None:
    table = measured(200, noise=0.3)
    predicted = train(table, model="quantile-tree", targets=["latency"]).predict(table)["latency"]
    ratio = table["latency_us"].to_numpy() / predicted.value
    # A leaf's model meets some rows exactly; half of them count as below it.
    below, above = (np.mean(ratio < 1 + side) for side in (-1e-9, 1e-9))
    assert (below + above) / 2 == pytest.approx(0.5, abs=0.02)


def test_a_document_of_a_forest_predicts_the_same_to_the_last_bit() -> None:
    x = TABLE.select(*GRID).to_numpy()
    model = LinearForestRegressor(n_estimators=3).fit(x, TABLE["latency_us"].to_numpy())
    again = from_document(json.loads(json.dumps(to_document(model))))
    assert np.array_equal(again.predict(x), model.predict(x))


def test_names_of_features_are_saved_too() -> None:
    frame = TABLE.select(*GRID)
    tree = LinearTreeRegressor().fit(frame, TABLE["latency_us"])
    again = from_document(json.loads(json.dumps(to_document(tree))))
    assert again.export_text() == tree.export_text()
    assert "write_size_bytes" in tree.export_text()


def tree_of(content: dict[str, Any]) -> dict[str, Any]:
    return content["estimators"]["latency"]["model"]["tree"]  # type: ignore[no-any-return]


def in_a_circle(content: dict[str, Any]) -> None:
    tree_of(content)["left"][0] = 0


def without_a_leaf(content: dict[str, Any]) -> None:
    tree_of(content)["low"].pop()


def of_no_feature(content: dict[str, Any]) -> None:
    tree_of(content)["feature"][0] = 99


def of_another_kind(content: dict[str, Any]) -> None:
    content["estimators"]["latency"]["model"]["kind"] = "os.system"


def without_widths(content: dict[str, Any]) -> None:
    del content["estimators"]["latency"]["widths"]


def of_other_features(content: dict[str, Any]) -> None:
    content["features"] = "basic"


def with_an_unknown_parameter(content: dict[str, Any]) -> None:
    content["estimators"]["latency"]["parameters"]["depth"] = 3


def refitted_otherwise(content: dict[str, Any]) -> None:
    inner = content["estimators"]["latency"]["parameters"]["estimator"]["unfitted"]
    inner["parameters"]["folds"] = 999


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (refitted_otherwise, "the saved unfitted and fitted models have different parameters"),
        (in_a_circle, "is damaged"),
        (without_a_leaf, "is damaged"),
        (of_no_feature, "is damaged"),
        (of_another_kind, "unknown kind of saved model"),
        (without_widths, "the key 'widths' is missing"),
        (of_other_features, "does not fit the features 'basic'"),
        (with_an_unknown_parameter, "unexpected keyword argument 'depth'"),
    ],
)
def test_a_file_that_was_tampered_with_is_refused(
    change: Any, says: str, trained: BlackBox, tmp_path: Path
) -> None:
    path = tmp_path / "model"
    save(trained, path)
    rewritten(path, change)
    with pytest.raises(WriteampError, match=says):
        load(path)


def test_an_interval_that_overflows_leaves_no_prediction(
    trained: BlackBox, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    def widened(content: dict[str, Any]) -> None:
        widths = content["estimators"]["latency"]["widths"]
        widths[:] = [1e300] * len(widths)

    path = tmp_path / "model"
    save(trained, path)
    rewritten(path, widened)
    said = load(path).predict(TABLE)["latency"]
    assert np.isnan([said.value, said.low, said.high]).all()
    assert said.outside.all()
    assert not recwarn.list


def test_a_file_that_is_damaged_or_foreign_is_refused(trained: BlackBox, tmp_path: Path) -> None:
    path = tmp_path / "model"
    save(trained, path)
    whole = path.read_bytes()
    middle = len(whole) // 2
    digit = next(at for at in range(middle, len(whole)) if whole[at : at + 1].isdigit())
    other = b"7" if whole[digit : digit + 1] != b"7" else b"8"
    for content, says in (
        (b"", "it is not JSON"),
        (whole[:middle], "it is not JSON"),
        (b"[]", "the file's format is not"),
        (whole.replace(b'"version":1', b'"version":2'), "the file's version is 2"),
        (whole[:digit] + other + whole[digit + 1 :], "the file is damaged"),
        (b"[" * 100_000, "it is not JSON"),
    ):
        path.write_bytes(content)
        with pytest.raises(WriteampError, match=says):
            load(path)
    with pytest.raises(WriteampError, match="cannot read model"):
        load(tmp_path / "nothing")


def test_types_that_no_baseline_has_are_neither_saved_nor_loaded() -> None:
    foreign = to_document(LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0]))
    assert from_document(foreign).predict([[1.0]]) == pytest.approx([1.0])
    with pytest.raises(WriteampError, match="cannot be saved"):
        to_document(object())
    with pytest.raises(WriteampError, match="archive in the saved model cannot be read"):
        from_document({"kind": "scikit-learn", "skops": "bm90aGluZw=="})


def test_the_tree_is_more_accurate_than_one_linear_model() -> None:
    held_out = measured(1000, seed=3, noise=0)
    held_out = held_out.with_columns(latency_us=pl.Series(latency_us(held_out)))
    mre = {
        name: train(TABLE, model=name, targets=["latency"]).evaluate(held_out)[0].mre
        for name in ("linear-tree", "linear")
    }
    assert mre["linear-tree"] < 0.2 * mre["linear"]


def test_without_the_papers_their_models_name_the_package(
    monkeypatch: pytest.MonkeyPatch, trained: BlackBox, tmp_path: Path
) -> None:
    path = tmp_path / "model"
    save(trained, path)
    rewritten(path, lambda content: content.update(model="cart"))
    monkeypatch.setattr("writeamp.learn.blackbox.model_kinds.extensions", lambda _: {})
    monkeypatch.setattr("writeamp.learn.blackbox.models.documents._KINDS", {})
    model_kinds.cache_clear()
    for use, name in (
        (lambda: train(TABLE, model="boosted"), "boosted"),
        (lambda: load(path), "cart"),
        (lambda: from_document({"kind": "workload-specific", "features": 1}), "workload-specific"),
    ):
        with pytest.raises(WriteampError, match=f"model {name} is missing: .* writeamp-papers"):
            use()
    assert list(model_kinds()) == [*SAVED[:1], "linear-forest", *SAVED[1:]]
    model_kinds.cache_clear()


def test_without_its_packages_it_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("writeamp.learn.blackbox.model_kinds.find_spec", lambda _: None)
    with pytest.raises(WriteampError, match=r"pip install 'writeamp\[blackbox\]'"):
        importlib.reload(writeamp.learn.blackbox.models)
