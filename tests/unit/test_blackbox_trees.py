"""Linear-model trees and forests: their fits, refusals, and scikit-learn's contract."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from blackbox_tables import GRID, latency_us, measured
from writeamp.errors import WriteampError
from writeamp.learn.blackbox.models.conformal import ConformalRegressor
from writeamp.learn.blackbox.models.fitting import penalties_of_collapse
from writeamp.learn.blackbox.models.growing import LinearFit, TreeNode, forward
from writeamp.learn.blackbox.models.learners import MODELS
from writeamp.learn.blackbox.models.linear_forest import LinearForestRegressor
from writeamp.learn.blackbox.models.linear_tree import LinearTreeRegressor
from writeamp.learn.blackbox.models.splits import best_threshold, ranked

F64 = npt.NDArray[np.float64]

# What is exact stays so: no smoothing toward the nodes above, no noise.
EXACT: dict[str, Any] = {"smoothing": 0, "log_terms": False}


def drawn(rows: int, features: int, seed: int = 0) -> F64:
    return np.random.default_rng(seed).uniform(-1, 1, (rows, features))


# Those of our learners that are quick only with other parameters; the others are as they are made.
QUICK: list[Any] = [
    LinearTreeRegressor(quantile=0.5, folds=0),
    LinearForestRegressor(n_estimators=5),
    ConformalRegressor(LinearTreeRegressor(folds=0)),
]
LEARNERS = [
    MODELS[name].saved.estimator  # type: ignore[union-attr]
    for name in ("linear-tree", "gaussian-process")
]


@parametrize_with_checks([*QUICK, *(estimator() for estimator in LEARNERS)])
def test_it_is_an_estimator_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_a_piecewise_linear_function_is_found_exactly() -> None:
    x = drawn(2000, 4)
    y = np.where(x[:, 1] <= 0, 3 + 2 * x[:, 0], np.where(x[:, 2] <= 0, -5.0, x[:, 3] - x[:, 0]))
    tree = LinearTreeRegressor(**EXACT, min_samples_leaf=5).fit(x, y)
    assert np.abs(tree.predict(x) - y).mean() < 0.01
    assert tree.n_leaves_ < 12


def test_a_linear_function_with_noise_needs_one_leaf_and_its_own_terms() -> None:
    x = drawn(2000, 6)
    y = 4 * x[:, 2] - x[:, 5] + 0.5 * np.random.default_rng(1).standard_normal(2000)
    tree = LinearTreeRegressor(**EXACT, standard_errors=1, f_to_enter=20).fit(x, y)
    assert tree.n_leaves_ == 1
    assert set(np.flatnonzero(tree.tree_.coefficients[0])) == {2, 5}


def test_pruning_leaves_more_where_there_is_more_to_find() -> None:
    x = drawn(1500, 3)
    noise = 0.3 * np.random.default_rng(1).standard_normal(1500)
    unpruned = LinearTreeRegressor(folds=0).fit(x, noise)
    pruned = LinearTreeRegressor().fit(x, noise)
    steps = LinearTreeRegressor().fit(x, np.floor(4 * x[:, 0]) + 0.1 * noise)
    assert pruned.n_leaves_ < unpruned.n_leaves_ / 3
    assert steps.n_leaves_ >= 8


def test_an_interaction_without_any_main_effect_is_found() -> None:
    x = drawn(1000, 5)
    y = np.sign(x[:, 1]) * np.sign(x[:, 3])
    first, second = ranked(x, y - y.mean())[:2]
    assert {first, second} == {1, 3}
    tree = LinearTreeRegressor(**EXACT).fit(x, y)
    assert np.abs(tree.predict(x) - y).mean() < 0.15


def test_variables_of_many_values_are_chosen_no_more_often_than_others() -> None:
    rng, trials = np.random.default_rng(0), 600
    first = [
        ranked(
            np.column_stack([rng.integers(0, values, 200) for values in (2, 3, 5, 1000)]).astype(
                float
            ),
            rng.standard_normal(200),
        )[0]
        for _ in range(trials)
    ]
    share = np.bincount(first, minlength=4) / trials
    assert share.min() > 0.15
    assert share.max() < 0.35


def test_forward_selection_of_all_columns_is_least_squares() -> None:
    x, rng = drawn(200, 5), np.random.default_rng(1)
    y = x @ [1, -2, 3, 0.5, 4] + 7 + 0.1 * rng.standard_normal(200)
    fit = forward(np.column_stack([x, y]), 0.0, 99)
    expected, residual, _, _ = np.linalg.lstsq(np.column_stack([np.ones(200), x]), y, rcond=None)
    assert fit.intercept == pytest.approx(expected[0])
    assert fit.coefficients == pytest.approx(expected[1:][fit.chosen])
    assert fit.sse == pytest.approx(residual[0])
    assert fit.explained.sum() + fit.sse == pytest.approx(fit.sst)


def test_collinear_and_constant_columns_do_not_enter() -> None:
    x = drawn(100, 2)
    columns = [x[:, 0], x[:, 0] * 3, np.ones(100), x[:, 1], x[:, 0] + x[:, 1]]
    y = x[:, 0] - 2 * x[:, 1] + 0.1 * drawn(100, 1, seed=2)[:, 0]
    fit = forward(np.column_stack([*columns, y]), 0.0, 99)
    assert len(fit.chosen) == 2
    assert np.isfinite(fit.coefficients).all()


def test_the_threshold_leaves_the_least_squares_of_all_that_there_are() -> None:
    x = drawn(60, 2)
    y = np.where(x[:, 0] > 0.2, 3 * x[:, 1], -x[:, 1]) + 0.1 * drawn(60, 1, seed=3)[:, 0]
    y -= y.mean()
    joined = np.column_stack([np.ones(60), x, y])

    def residual(rows: npt.NDArray[np.bool_]) -> float:
        return float(np.linalg.lstsq(joined[rows, :3], y[rows], rcond=None)[1][0])

    # Rounded to 30 values, so that each of them is tried.
    values = np.round(x[:, 0] * 15) / 15
    found = best_threshold(values, joined, np.arange(4), 5)
    assert found is not None
    cuts = [cut for cut in np.unique(values) if 5 <= (values <= cut).sum() <= 55]
    sums = [residual(values <= cut) + residual(values > cut) for cut in cuts]
    assert found[1] == pytest.approx(min(sums), rel=1e-6)
    assert (values <= found[0]).sum() == (values <= cuts[int(np.argmin(sums))]).sum()


def test_the_threshold_is_found_among_many_values_that_lie_together() -> None:
    # Nearly all rows lie in a thousandth of the range.
    values = np.r_[np.zeros(20), 0.5 + np.linspace(0, 1e-3, 2000), np.ones(20)]
    y = (values > 0.5007).astype(float)
    joined = np.column_stack([np.ones(len(values)), y - y.mean()])
    found = best_threshold(values, joined, np.arange(2), 5)
    assert found is not None
    assert found[0] == pytest.approx(0.5007, abs=1e-6)


@given(st.lists(st.floats(0, 1), min_size=15, max_size=15))
def test_nodes_collapse_at_the_penalty_at_which_that_costs_least(gains: list[float]) -> None:
    """The pruned tree of each penalty is the cheapest of all subtrees (Breiman et al., 3.3)."""
    costs = np.cumsum(gains[::-1])[::-1]
    nodes = [
        TreeNode(np.arange(1), 0, LinearFit(*[np.zeros(0)] * 2, 0.0, np.zeros(0), float(cost), 0.0))  # type: ignore[arg-type]
        for cost in costs
    ]
    for place in range(7):
        node = nodes[place]
        node.feature, node.left, node.right = 0, 2 * place + 1, 2 * place + 2

    def least(place: int, penalty: float) -> float:
        own = nodes[place].fit.sse + penalty
        if nodes[place].feature < 0:
            return own
        return min(
            own, sum(least(side, penalty) for side in (nodes[place].left, nodes[place].right))
        )

    collapse = penalties_of_collapse(nodes)

    def kept(place: int, penalty: float) -> float:
        if collapse[place] <= penalty:
            return nodes[place].fit.sse + penalty
        return sum(kept(side, penalty) for side in (nodes[place].left, nodes[place].right))

    for penalty in (0.0, 0.01, 0.1, 0.5, 1.0, 5.0, *collapse):
        assert kept(0, penalty) == pytest.approx(least(0, penalty))


def test_what_is_predicted_stays_within_what_the_leaf_has_seen() -> None:
    x = drawn(500, 2)
    y = 10 * x[:, 0]
    tree = LinearTreeRegressor().fit(x, y)
    far = np.array([[50.0, 0.0], [-50.0, 0.0], [0.5, 0.0]])
    assert tree.predict(far)[:2] == pytest.approx([y.max(), y.min()])
    assert tree.outside(far).tolist() == [True, True, False]
    wider = LinearTreeRegressor(margin=0.5, folds=0, max_depth=0).fit(x, y)
    assert wider.predict(far)[0] == pytest.approx(y.max() + 0.5 * (y.max() - y.min()))


def test_a_log_target_never_predicts_below_zero_where_a_plain_one_does() -> None:
    table = measured(600)
    x, y = table.select(*GRID).to_numpy(), table["latency_us"].to_numpy()
    plain = LinearTreeRegressor(margin=1.0, max_depth=0).fit(x, y).predict(x)
    assert plain.min() < 0  # paper 2's Fig. 8 calls such a leaf invalid
    assert LinearTreeRegressor(log_target=True, max_depth=0).fit(x, y).predict(x).min() > 0


def test_device_like_measurements_are_predicted_better_than_by_a_tree_of_constants() -> None:
    table, other = measured(3000), measured(1000, seed=1, noise=0)
    x, y = table.select(*GRID).to_numpy(), table["latency_us"].to_numpy()
    held_out, truth = other.select(*GRID).to_numpy(), latency_us(other)

    def mre(**given: Any) -> float:
        tree = LinearTreeRegressor(log_target=True, **given).fit(x, y)
        return float(np.mean(np.abs(tree.predict(held_out) / truth - 1)))

    assert mre() < 0.04
    assert mre() < 0.5 * mre(max_terms=0, smoothing=0)


def test_quantile_leaves_have_their_share_of_the_rows_below_them() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, (3000, 2))
    y = 1 + x[:, 0] + x[:, 0] * rng.exponential(1, 3000)
    for quantile in (0.1, 0.5, 0.9):
        tree = LinearTreeRegressor(quantile=quantile, min_samples_leaf=100).fit(x, y)
        assert np.mean(y <= tree.predict(x)) == pytest.approx(quantile, abs=0.02)


def test_importances_say_what_a_target_depends_on() -> None:
    x = drawn(1000, 4)
    tree = LinearTreeRegressor().fit(x, 3 * x[:, 0] + np.sign(x[:, 2]))
    assert tree.feature_importances_.sum() == pytest.approx(1)
    assert tree.feature_importances_[[0, 2]].sum() > 0.98
    assert tree.feature_importances_[0] > tree.feature_importances_[2] > 0.1


def test_rules_have_names_thresholds_and_equations() -> None:
    x = drawn(400, 2)
    y = np.where(x[:, 0] <= 0, 2 + 3 * x[:, 1], -1.0)
    text = LinearTreeRegressor(**EXACT, max_depth=1).fit(x, y).export_text(["depth", "size"])
    first, equation, *_ = text.splitlines()
    assert first.startswith("depth <= ")
    assert equation.startswith("|   y = 2 + 3 * size, within ")
    with pytest.raises(WriteampError, match="feature_names has 1 names"):
        LinearTreeRegressor().fit(x, y).export_text(["depth"])


def test_a_fit_is_the_same_every_time() -> None:
    x = drawn(300, 3)
    y = np.sin(3 * x[:, 0]) + x[:, 1]
    for model in (LinearTreeRegressor(), LinearForestRegressor(n_estimators=4)):
        assert np.array_equal(model.fit(x, y).predict(x), model.fit(x, y).predict(x))


def test_repeats_of_one_group_do_not_keep_a_tree_from_being_pruned() -> None:
    x, rng = np.repeat(drawn(60, 3), 12, axis=0), np.random.default_rng(1)
    groups = np.repeat(np.arange(60), 12)
    y = np.repeat(rng.standard_normal(60), 12)  # noise, but the same in all repeats
    alone = LinearTreeRegressor().fit(x, y)
    grouped = LinearTreeRegressor().fit(x, y, groups=groups)
    assert grouped.n_leaves_ < alone.n_leaves_ / 2


def test_a_forest_is_unsure_where_it_is_wrong() -> None:
    table = measured(800, noise=0.0)
    x, y = table.select(*GRID).to_numpy(), table["latency_us"].to_numpy()
    forest = LinearForestRegressor(n_estimators=15, log_target=True).fit(x[:600], y[:600])
    value, deviation = forest.predict(x[600:], return_std=True)
    error = np.abs(value - y[600:]) / value
    unsure = deviation / value > np.median(deviation / value)
    assert error[unsure].mean() > 2 * error[~unsure].mean()
    seen = np.isfinite(forest.oob_prediction_)
    out_of_bag = np.abs(forest.oob_prediction_ / y[:600] - 1)[seen].mean()
    assert out_of_bag == pytest.approx(error.mean(), rel=0.5)


def test_a_group_is_in_the_bag_of_a_tree_as_a_whole() -> None:
    x = np.repeat(drawn(40, 2), 5, axis=0)
    groups = np.repeat(np.arange(40), 5)
    forest = LinearForestRegressor(n_estimators=2, sample_share=0.5)
    forest.fit(x, x[:, 0], groups=groups)
    unseen = np.isfinite(forest.oob_prediction_).reshape(40, 5)
    assert (unseen.all(axis=1) | ~unseen.any(axis=1)).all()
    assert 0 < unseen.sum() < 200


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"min_samples_leaf": 0}, "min_samples_leaf is 0"),
        ({"folds": 1}, "folds is 1"),
        ({"quantile": 1.5}, "quantile is 1"),
        ({"smoothing": -1}, "smoothing is -1"),
        ({"log_target": "yes"}, "log_target is 'yes'"),
        ({"max_terms": -1}, "max_terms is -1"),
    ],
)
def test_a_parameter_outside_its_domain_is_refused(parameters: dict[str, Any], says: str) -> None:
    with pytest.raises(WriteampError, match=says):
        LinearTreeRegressor(**parameters).fit(drawn(50, 2), np.ones(50))


def test_what_cannot_be_learnt_from_is_refused() -> None:
    x, y = drawn(50, 2), np.arange(50.0)
    x[7, 1] = np.nan
    with pytest.raises(WriteampError, match="row 7, column 1 is NaN"):
        LinearTreeRegressor().fit(x, y)
    with pytest.raises(WriteampError, match="the target of row 0 is 0; a log target"):
        LinearTreeRegressor(log_target=True).fit(drawn(50, 2), y)
    with pytest.raises(WriteampError, match="a value for each of 50 rows"):
        LinearTreeRegressor().fit(drawn(50, 2), y, groups=[1, 2])
    with pytest.raises(WriteampError, match="all rows are in one group"):
        LinearTreeRegressor().fit(drawn(50, 2), y, groups=[1] * 50)


def test_intervals_hold_what_they_promise_at_every_magnitude() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 3, (6000, 2))
    # Errors of a hundredth at one end, of a third at the other.
    y = np.exp(
        2 * x[:, 0] + np.where(x[:, 1] > 1, 0.5, 0) + (0.01 + 0.1 * x[:, 0]) * rng.normal(size=6000)
    )
    model = ConformalRegressor(LinearTreeRegressor(log_target=True), relative=True)
    model.fit(x[:2500], y[:2500])
    low, high = model.predict_interval(x[2500:])
    holds = (low <= y[2500:]) & (y[2500:] <= high)
    assert 0.87 <= holds.mean() <= 0.93
    small = x[2500:, 0] < 1
    assert 0.84 <= holds[small].mean() <= 0.96
    assert 0.84 <= holds[~small].mean() <= 0.96
    assert np.median((high / low)[~small]) > 1.3 * np.median((high / low)[small])


def test_intervals_by_differences_hold_for_targets_of_any_sign() -> None:
    x, rng = drawn(5000, 3), np.random.default_rng(1)
    y = x[:, 0] - x[:, 1] + rng.standard_t(3, 5000)
    model = ConformalRegressor(level=0.8).fit(x[:2000], y[:2000])
    low, high = model.predict_interval(x[2000:])
    assert np.mean((low <= y[2000:]) & (y[2000:] <= high)) == pytest.approx(0.8, abs=0.03)


def test_an_interval_is_as_wide_as_the_error_of_its_level_s_rank() -> None:
    model = ConformalRegressor(level=0.9).fit(drawn(20, 1), drawn(20, 1)[:, 0])
    model.calibrate(np.zeros(199), np.arange(1.0, 200))
    # The 180th of 199 errors: a further one exceeds it in 20 of 200 cases.
    assert model.widths_.tolist() == [180]


def test_no_fold_divides_a_group() -> None:
    x, groups = drawn(40, 2), np.repeat(np.arange(10), 4)
    model = ConformalRegressor(folds=5).fit(x, x[:, 0], groups=groups)
    assert all(np.unique(model.unseen_fold_[groups == group]).size == 1 for group in range(10))
