"""Gaussian processes of several parts, and where they know least."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor as ByOthers
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from blackbox_tables import GRID, measured
from writeamp.errors import WriteampError
from writeamp.learn.blackbox.models.documents import from_document, to_document
from writeamp.learn.blackbox.models.gaussian_process import GaussianProcessRegressor
from writeamp.learn.blackbox.models.kernels import _kernel, _surprise, coordinates_of
from writeamp.learn.blackbox.models.learners import parts_of
from writeamp.learn.blackbox.models.linear_forest import LinearForestRegressor

F64 = npt.NDArray[np.float64]


def of_drive(rows: int, seed: int) -> tuple[F64, F64]:
    table = measured(rows, seed=seed)
    return table.select(*GRID).to_numpy(), table["latency_us"].to_numpy()


def process() -> GaussianProcessRegressor:
    return GaussianProcessRegressor(parts=parts_of(list(GRID)), log_target=True)


def test_predictions_and_deviations_are_those_of_another_library_under_the_same_kernel() -> None:
    rng = np.random.default_rng(0)
    x, asked = rng.uniform(size=(60, 3)), rng.uniform(size=(20, 3))
    x[0], x[1] = 0.0, 1.0
    y = np.sin(3 * x[:, 0]) + x[:, 1] + 0.1 * rng.standard_normal(60)
    ours = GaussianProcessRegressor().fit(x, y)
    (part,) = ours.kernel_.parts
    given = ConstantKernel(part.variance) * Matern(part.lengths, nu=2.5)
    others = ByOthers(given + WhiteKernel(ours.kernel_.noise), optimizer=None, normalize_y=True)
    value, deviation = others.fit(x, y).predict(asked, return_std=True)
    mean, spread = ours.predict(asked, return_std=True)
    np.testing.assert_allclose(mean, value, rtol=1e-6)
    with_noise = np.hypot(spread, ours.deviation_ * np.sqrt(ours.kernel_.noise))
    np.testing.assert_allclose(with_noise, deviation, rtol=1e-6)


def test_the_slopes_of_the_likelihood_are_those_of_small_steps() -> None:
    rng = np.random.default_rng(1)
    points, target = rng.uniform(size=(30, 3)), rng.standard_normal(30)
    columns = [np.array([0, 1]), np.array([0, 1, 2])]
    logs = np.log(rng.uniform(0.2, 1.2, 8))
    _, slopes = _surprise(_kernel(logs, columns), points, target)
    for place, slope in enumerate(slopes):
        step = np.zeros(8)
        step[place] = 1e-5
        above, below = (
            _surprise(_kernel(logs + sign * step, columns), points, target)[0] for sign in (1, -1)
        )
        assert slope == pytest.approx((above - below) / 2e-5, rel=1e-5)


def test_a_drive_is_learnt_from_few_rows_better_than_by_trees() -> None:
    (x, y), (asked, found) = of_drive(300, 0), of_drive(500, 1)

    def error(model: GaussianProcessRegressor | LinearForestRegressor) -> float:
        return float(np.mean(np.abs(model.fit(x, y).predict(asked) / found - 1)))

    by_process = error(process())
    assert by_process < 0.08
    assert by_process < 0.7 * error(LinearForestRegressor(log_target=True))


def test_parts_for_reads_and_writes_learn_faster_than_one_of_all() -> None:
    (x, y), (asked, found) = of_drive(200, 0), of_drive(500, 1)
    errors = [
        np.mean(np.abs(model.fit(x, y).predict(asked) / found - 1))
        for model in (process(), GaussianProcessRegressor(log_target=True))
    ]
    assert errors[0] < errors[1]


def test_the_next_rows_are_far_from_what_is_known_and_from_each_other() -> None:
    x = np.linspace(1, 2, 21)[:, None]
    known = x[[0, 1, 2, 18, 19, 20]]
    model = GaussianProcessRegressor().fit(known, np.sin(6 * known[:, 0]))
    _, deviation = model.predict(x, return_std=True)
    first, second = model.least_known(x, 2)
    assert first == np.argmax(deviation)
    assert 8 <= first <= 12
    assert 3 <= second <= 17
    assert abs(first - second) >= 3
    assert len(model.least_known(x, 99)) == 21


def test_ends_at_which_a_feature_is_a_kind_of_its_own_are_coordinates() -> None:
    x = np.array([[0.0, 4096], [0.5, 4096], [1.0, 65536], [0.25, 65536]] * 10)
    coordinates = coordinates_of(x)
    assert coordinates.ends == ((0, 0.0), (0, 1.0))
    expected = [[0, 0, 1, 0], [0.5, 0, 0, 0], [1, 1, 0, 1], [0.25, 1, 0, 0]]
    np.testing.assert_allclose(coordinates.of(x[:4]), expected)
    np.testing.assert_allclose(coordinates.of(np.array([[2.0, 16384]])), [[1, 0.5, 0, 0]])


def test_features_of_reads_and_of_writes_have_a_part_each() -> None:
    assert parts_of(["write_ratio", "queue_depth", "write_size_bytes", "read_size_bytes"]) == [
        [1, 0, 2],
        [1, 0, 3],
        [0, 1, 2, 3],
    ]
    assert parts_of(["write_ratio", "queue_depth", "request_size_bytes"]) == [[0, 1, 2]]


def test_few_of_many_rows_decide_how_smooth_it_is() -> None:
    x, y = of_drive(400, 0)
    model = process().set_params(most_tuned=100, most_rows=300).fit(x, y)
    assert len(model.points_) == 300
    assert np.mean(np.abs(model.predict(x) / y - 1)) < 0.2


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_rows_that_say_nothing_of_their_features_are_learnt_too(scale: float) -> None:
    x = np.random.default_rng(0).uniform(size=(40, 3))
    for y in (np.full(40, scale), scale * np.where(np.arange(40) == 7, 1.0, 1e-3)):
        model = GaussianProcessRegressor(log_target=True).fit(x, y)
        assert np.isfinite(model.predict(x)).all()


@pytest.mark.parametrize("parts", [[], [[]], [[0, 8]], [[-1]], [[0.5]], [["a"]], [5]])
def test_parts_of_features_that_are_not_there_are_refused(parts: Any) -> None:
    x, y = of_drive(20, 0)
    with pytest.raises(WriteampError, match=r"features 0 to 7|at least one part"):
        GaussianProcessRegressor(parts=parts).fit(x, y)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("noise", 0.0),
        ("noise", float("nan")),
        ("parts", []),
        ("parts", [{"columns": [99], "variance": 1.0, "lengths": [1.0]}]),
        ("parts", [{"columns": [0], "variance": 1.0, "lengths": [0.0]}]),
        ("weights", []),
        ("ends", [[9, 0.0]]),
        ("scale", [1.0]),
        ("scale", [1.0, -1.0]),
    ],
)
def test_a_document_that_does_not_hold_together_is_refused(key: str, value: object) -> None:
    x, y = of_drive(30, 0)
    document = json.loads(json.dumps(to_document(process().fit(x, y))))
    with pytest.raises(WriteampError):
        from_document({**document, key: value})
