"""Black-box models in files of strangers: refused in one sentence, or safe to predict with."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier

from blackbox_files import Members, rebuilt, rewritten, schema
from blackbox_tables import measured
from writeamp.errors import WriteampError
from writeamp.learn.blackbox.model_file import load, save
from writeamp.learn.blackbox.models.archives import read_archive
from writeamp.learn.blackbox.models.documents import from_document, to_document
from writeamp.learn.blackbox.models.learners import MODELS
from writeamp.learn.blackbox.models.linear_forest import LinearForestRegressor
from writeamp.learn.blackbox.models.linear_tree import LinearTreeRegressor
from writeamp.learn.blackbox.training import BlackBox, train

X = np.random.default_rng(0).random((60, 3))
Y = X @ [1.0, 2.0, 4.0] + 1
BASELINES: dict[str, BaseEstimator] = {
    "linear": make_pipeline(StandardScaler(), LinearRegression()).fit(X, Y),
    "of logarithms": TransformedTargetRegressor(
        LinearRegression(), func=np.log, inverse_func=np.exp
    ).fit(X, Y),
}


@pytest.mark.parametrize("name", BASELINES)
def test_a_baseline_is_rebuilt_exactly(name: str) -> None:
    again = rebuilt(BASELINES[name], lambda _: None)
    assert np.array_equal(again.predict(X), BASELINES[name].predict(X))
    assert repr(again) == repr(BASELINES[name])


def test_every_class_of_a_baseline_is_restored() -> None:
    for name, learner in MODELS.items():
        if not learner.restores or name == "lightgbm":
            continue
        waiting = [learner.make(True, ["a"])]
        while waiting:
            estimator = waiting.pop()
            assert type(estimator) in learner.restores, name
            values = estimator.get_params(deep=True).values()
            waiting += [one for one in values if isinstance(one, BaseEstimator)]


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingRegressor(n_estimators=2),
        DecisionTreeClassifier(),
        RandomForestClassifier(n_estimators=2),
        KNeighborsRegressor(algorithm="kd_tree"),
        SVR(),
        make_pipeline(StandardScaler(), SVR()),
        TransformedTargetRegressor(SVR()),
        TransformedTargetRegressor(LinearRegression(), func=np.exp, inverse_func=np.log),
    ],
    ids=lambda model: type(model).__name__,
)
def test_an_estimator_that_no_learner_has_is_neither_saved_nor_loaded(model: Any) -> None:
    model.fit(X, (Y > 3).astype(int))
    with pytest.raises(WriteampError):
        to_document(model)
    with pytest.raises(WriteampError):
        rebuilt(model, lambda _: None)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("linear", schema('"content": "null"', '"content": "\\"/tmp\\""')),
        ("linear", schema('"content": "3"', '"content": "4"')),
    ],
)
def test_a_baseline_whose_numbers_do_not_fit_is_refused(
    name: str, change: Callable[[Members], None]
) -> None:
    with pytest.raises(WriteampError):
        rebuilt(BASELINES[name], change)


def header(shape: str, descr: str) -> bytes:
    """Return an array in NumPy's format whose header declares what its content is not."""
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + b"\0" * 24


@pytest.mark.parametrize(
    "content",
    [
        header("(1000000000000,)", "<f8"),
        header("(-3,)", "<f8"),
        header("(3,)", "|O"),
        header("(3,)", "|V0"),
        header("(2,)", "<f8"),
        b"\x80\x04K\x01.",
        b"",
    ],
)
def test_arrays_that_are_not_what_they_declare_are_refused(content: bytes) -> None:
    def change(members: Members) -> None:
        members.update({name: content for name in members if name.endswith(".npy")})

    with pytest.raises(WriteampError):
        rebuilt(BASELINES["linear"], change)


def test_a_compressed_archive_is_refused_before_it_is_unpacked() -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", b" " * 10_000_000)
    with pytest.raises(WriteampError, match="compressed"):
        read_archive(content.getvalue())


@pytest.fixture(scope="module")
def model() -> BlackBox:
    return train(measured(120), targets=["latency"])


Content = dict[str, Any]


def inner(content: Content) -> Content:
    return content["estimators"]["latency"]["model"]  # type: ignore[no-any-return]


def parameter(name: str, value: Any, of: Callable[[Content], Content] = inner) -> Any:
    return lambda content: of(content)["parameters"].update({name: value})


def conformal(content: Content) -> Content:
    return content["estimators"]["latency"]  # type: ignore[no-any-return]


def with_a_node_below_another_twice(content: Content) -> None:
    tree = inner(content)["tree"]
    assert tree["feature"][0] >= 0
    tree["left"][0] = tree["right"][0]


def chained(tree: Content, splits: int) -> None:
    """Make a tree one of so many splits below each other."""
    leaf = tree["feature"].index(-1)
    for name, values in tree.items():
        if name != "terms":
            tree[name] = [values[0], values[leaf]] * splits + [values[leaf]]
    tree["feature"] = [0, -1] * splits + [-1]
    tree["left"] = [value for at in range(splits) for value in (2 * at + 1, -1)] + [-1]
    tree["right"] = [value for at in range(splits) for value in (2 * at + 2, -1)] + [-1]


@pytest.mark.parametrize(
    "change",
    [
        with_a_node_below_another_twice,
        lambda content: chained(inner(content)["tree"], 2000),
        parameter("max_depth", 10**9),
        parameter("folds", -1),
        parameter("level", 7, conformal),
        parameter("relative", "yes", conformal),
        lambda content: content.update(level=float("inf")),
        lambda content: content.update(level=10**400),
        lambda content: content["unseen_mre"].update(latency=float("nan")),
        lambda content: inner(content).update(features=3),
        lambda content: inner(content).update(names=["a"]),
        lambda content: conformal(content).update(floor=-1.0),
        lambda content: conformal(content)["widths"].__setitem__(0, -1.0),
        lambda content: conformal(content)["box"].reverse(),
        lambda content: conformal(content).update(model=to_document(BASELINES["linear"])),
    ],
)
def test_a_model_whose_parts_do_not_fit_is_refused(
    model: BlackBox, tmp_path: Path, change: Callable[[Content], Any]
) -> None:
    path = tmp_path / "model"
    save(model, path)
    rewritten(path, change)
    with pytest.raises(WriteampError, match="cannot be used as a model"):
        load(path)


def test_a_model_file_with_half_a_character_is_refused(model: BlackBox, tmp_path: Path) -> None:
    path = tmp_path / "model"
    save(model, path)
    frame = json.loads(path.read_text()) | {"content": "\ud800"}
    path.write_text(json.dumps(frame))
    with pytest.raises(WriteampError, match="cannot be used as a model"):
        load(path)


def test_a_forest_has_the_trees_it_declares_and_the_processes_of_this_machine() -> None:
    document = to_document(LinearForestRegressor(n_estimators=3, n_jobs=2).fit(X, Y))
    assert from_document(document).n_jobs is None
    document["trees"].pop()
    with pytest.raises(WriteampError, match="2 of its 3 trees"):
        from_document(document)


def test_rules_of_the_deepest_tree_are_printed() -> None:
    document = to_document(LinearTreeRegressor(folds=0, min_samples_leaf=2).fit(X, Y))
    splits = 1000
    chained(document["tree"], splits)
    # On the way to its last leaf, a split is named twice, and each leaf has a line.
    lines = from_document(document).export_text().splitlines()
    assert len(lines) == 2 * splits + splits + 1


@pytest.mark.filterwarnings("ignore:overflow")
def test_a_prediction_that_overflows_is_unknown_and_outside(model: BlackBox) -> None:
    tree = model.estimators["latency"].estimator_.tree_
    tree.intercept[:], tree.high[:] = 1e5, 1e5  # of a logarithm
    tree.coefficients[:] = 0
    found = model.predict(measured(3, seed=2))["latency"]
    assert np.isnan(found.value).all()
    assert found.outside.all()
    assert isinstance(found.to_frame(), pl.DataFrame)
