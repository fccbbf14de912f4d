"""Black-box models that only paper 2 needs: kinds of workloads, and the baselines."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from blackbox_files import Members, field, rebuilt, schema, with_nodes
from blackbox_tables import GRID, latency_us, measured, related
from in_process import document
from writeamp.errors import WriteampError
from writeamp.learn.blackbox.explanation import explained
from writeamp.learn.blackbox.features import of_workload
from writeamp.learn.blackbox.model_file import load, save
from writeamp.learn.blackbox.models.documents import from_document, to_document
from writeamp.learn.blackbox.models.learners import make_model
from writeamp.learn.blackbox.models.linear_tree import LinearTreeRegressor
from writeamp.learn.blackbox.training import train
from writeamp_papers.learners.workload_classes import WORKLOAD_CLASSES, members
from writeamp_papers.learners.workload_specific import WorkloadSpecificRegressor

TABLE = measured(400)
X = np.random.default_rng(0).random((60, 3))
Y = X @ [1.0, 2.0, 4.0] + 1
BASELINES: dict[str, Any] = {
    "cart": DecisionTreeRegressor(min_samples_leaf=3).fit(X, Y),
    "boosted": HistGradientBoostingRegressor(max_iter=2, min_samples_leaf=5).fit(X, Y),
}


@parametrize_with_checks([WorkloadSpecificRegressor()])
def test_it_is_an_estimator_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_classes_are_the_eight_special_cases_of_table_4() -> None:
    found = [one.symbol for one in WORKLOAD_CLASSES]
    assert sorted(found) == sorted(
        [f"{kind}_only" for kind in ("rd", "wr", "rand", "seq")]
        + ["rand_rd", "rand_wr", "seq_read", "seq_wr"]
    )

    def of(workload: str) -> set[str]:
        frame = of_workload(workload).frame().select(*GRID)
        flags = members(frame.to_numpy(), tuple(frame.columns))[:, 0]
        return {one.name for one, holds in zip(WORKLOAD_CLASSES, flags, strict=True) if holds}

    assert of("random:bs=4k,write=0") == {"random-read", "read-only", "random-only"}
    assert of("sequential:bs=4k") == {"sequential-write", "write-only", "sequential-only"}
    assert of("sequential:bs=4k,stride=64k") == {"write-only"}
    assert of("random:bs=4k,write=0.5") == {"random-only"}
    assert of("io:write=0.5,write_random=0") == set()


def test_workloads_of_a_class_are_predicted_by_its_own_model() -> None:
    x, y = TABLE.select(*GRID).to_numpy(), TABLE["latency_us"].to_numpy()
    tree = LinearTreeRegressor(log_target=True, folds=0)
    model = WorkloadSpecificRegressor(tree, names=list(GRID), fewest_rows=30).fit(x, y)
    rows = x[:, 0] == 0
    narrower = members(x, tuple(GRID))[[0, 2]].any(axis=0)
    own = LinearTreeRegressor(log_target=True, folds=0).fit(x[rows], y[rows])
    only = rows & ~narrower
    assert {"general", "read-only", "write-only"} <= set(model.models_)
    assert np.array_equal(model.predict(x[only]), own.predict(x[only]))


def test_a_model_of_each_kind_of_workload_has_rules_of_its_own() -> None:
    found = explained(train(related(250), model="workload-specific", targets=["wa"]), "wa")
    assert next(one.name for one in found.rules) == "general"
    assert found.importances is not None
    assert sum(found.importances.values()) == pytest.approx(1)


def test_a_tree_of_scikit_learn_is_explained_by_its_importances(tmp_path: Path) -> None:
    save(train(TABLE, model="cart", targets=["latency"]), tmp_path / "cart")
    [found] = document("blackbox explain", f"{tmp_path}/cart")["targets"]
    assert found["importances"]["queue_depth"] > 0
    assert found["rules"] == []


@pytest.mark.parametrize("name", ["workload-specific", "cart"])
def test_a_saved_model_predicts_the_same_to_the_last_bit(name: str, tmp_path: Path) -> None:
    model = train(TABLE[:120], model=name, targets=["latency"])
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    workloads = measured(300, seed=2)
    ours, theirs = (one.predict(workloads)["latency"] for one in (model, again))
    for part in ("value", "low", "high", "outside"):
        assert np.array_equal(getattr(ours, part), getattr(theirs, part))
    assert again.cross_validate(TABLE[:100], 2) == model.cross_validate(TABLE[:100], 2)


def test_a_document_of_boosted_trees_predicts_the_same_to_the_last_bit() -> None:
    x, boosted = TABLE.select(*GRID).to_numpy(), HistGradientBoostingRegressor(max_iter=3)
    model = TransformedTargetRegressor(boosted, func=np.log, inverse_func=np.exp)
    model.fit(x, TABLE["latency_us"].to_numpy())
    again = from_document(json.loads(json.dumps(to_document(model))))
    assert np.array_equal(again.predict(x), model.predict(x))


def test_a_baseline_whose_nodes_lead_nowhere_is_refused() -> None:
    model = DecisionTreeRegressor().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 5.0])
    state = model.tree_.__getstate__()
    state["nodes"]["left_child"][0] = 1000
    model.tree_.__setstate__(state)
    with pytest.raises(WriteampError, match="are inconsistent"):
        from_document(to_document(model))
    x = TABLE.select(*GRID).to_numpy()
    boosted = HistGradientBoostingRegressor(max_iter=2).fit(x, TABLE["latency_us"].to_numpy())
    boosted._predictors[1][0].nodes["right"][0] = 10_000
    with pytest.raises(WriteampError, match="are inconsistent"):
        from_document(to_document(boosted))


def test_a_baseline_that_is_not_installed_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(WriteampError, match=r"pip install 'writeamp\[lightgbm\]'"):
        make_model("lightgbm", log_target=True, names=[])


def test_the_tree_is_more_accurate_than_a_tree_of_constants() -> None:
    held_out = measured(1000, seed=3, noise=0)
    held_out = held_out.with_columns(latency_us=pl.Series(latency_us(held_out)))
    mre = {
        name: train(TABLE, model=name, targets=["latency"]).evaluate(held_out)[0].mre
        for name in ("linear-tree", "cart")
    }
    assert mre["linear-tree"] < 0.7 * mre["cart"]


@pytest.mark.parametrize("name", BASELINES)
def test_a_baseline_is_rebuilt_exactly(name: str) -> None:
    again = rebuilt(BASELINES[name], lambda _: None)
    assert np.array_equal(again.predict(X), BASELINES[name].predict(X))
    assert repr(again) == repr(BASELINES[name])


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("cart", field("left_child", 0, 2**30)),
        ("cart", field("left_child", 0, 0)),
        ("cart", field("left_child", 0, 2)),  # another node is then never reached
        ("cart", field("right_child", 0, -2)),
        ("cart", field("right_child", -1, 1)),
        ("cart", field("feature", 0, 3)),
        ("cart", field("feature", 0, -1)),
        ("cart", field("threshold", 0, np.nan)),
        ("cart", field("impurity", 0, np.inf)),
        ("cart", field("n_node_samples", 0, 0)),
        ("cart", field("missing_go_to_left", 0, 7)),
        ("cart", with_nodes(lambda nodes: nodes[:-1])),
        ("cart", with_nodes(lambda nodes: nodes[:0])),
        ("cart", with_nodes(lambda nodes: nodes["threshold"])),
        ("cart", schema('"content": "3"', '"content": "2"')),
        ("cart", schema('"content": "3"', '"content": "1000000000"')),
        ("boosted", field("left", 0, 2**30)),
        ("boosted", field("right", 0, 0)),
        ("boosted", field("feature_idx", 0, 3)),
        ("boosted", field("num_threshold", 0, np.nan)),
        ("boosted", field("value", 0, np.nan)),
        ("boosted", field("is_categorical", 0, 1)),
        ("boosted", field("is_leaf", 0, 2)),
        ("boosted", field("depth", 1, 9)),
        ("boosted", field("count", 0, 0)),
        ("boosted", with_nodes(lambda nodes: nodes[:-1])),
    ],
)
def test_a_baseline_whose_numbers_do_not_fit_is_refused(
    name: str, change: Callable[[Members], None]
) -> None:
    with pytest.raises(WriteampError):
        rebuilt(BASELINES[name], change)
