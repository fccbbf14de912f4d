"""An allocation that follows measurements: it ends at the least write amplification."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize

from writeamp.allocation import Marginal, by_size, closed_form, marginal, optimal
from writeamp.errors import WriteampError
from writeamp.models import d_choices, expected_value

Array = npt.NDArray[np.float64]
Measure = Callable[[Array], Array]

SIZES = np.array([0.4, 0.3, 0.2, 0.1])
FREQUENCIES = np.array([0.05, 0.1, 0.25, 0.6])
OP = 0.3


def model(op_of_group: Array) -> Array:
    return np.asarray(expected_value(op_of_group))


def partly_written(op_of_group: Array) -> Array:
    """Groups of which a part alone is written: all their space serves that part."""
    return np.asarray(expected_value(op_of_group / np.array([1, 0.5, 0.8, 0.3])))


def four_choices(op_of_group: Array) -> Array:
    """Collection by the emptiest of four random blocks of 16 pages."""
    return np.asarray(d_choices(op_of_group / (1 + op_of_group), 16, 4))


def least(measure: Measure) -> Any:
    """Return what SLSQP finds, which knows nothing of groups or exponents."""
    return minimize(
        lambda shares: float(FREQUENCIES @ measure(shares * OP / SIZES)),
        closed_form(SIZES, FREQUENCIES, OP).op_shares,
        method="SLSQP",
        bounds=[(1e-3, 1)] * 4,
        constraints={"type": "eq", "fun": lambda shares: shares.sum() - 1},
        options={"ftol": 1e-14, "maxiter": 500},
    )


@pytest.mark.parametrize(("groups", "op"), [(2, 0.05), (4, 3 / 7), (7, 0.43), (5, 2.0), (9, 0.1)])
def test_it_reaches_the_optimum_where_the_measured_wa_is_the_model_s(
    groups: int, op: float
) -> None:
    rng = np.random.default_rng(3)
    sizes, frequencies = rng.dirichlet(np.ones(groups), (2, 500))
    best = optimal(sizes, frequencies, op)
    start = by_size(sizes, frequencies, op).op_shares
    found = marginal(sizes, frequencies, op, model, start=start)
    assert found.settled
    assert len(found.history) <= 15
    assert found.wa == pytest.approx(best.wa, rel=1e-9)
    assert found.op_shares == pytest.approx(best.op_shares, abs=1e-5)
    assert (found.history[0] >= found.wa).all()


@pytest.mark.parametrize("measure", [partly_written, four_choices])
def test_it_reaches_the_optimum_of_what_is_measured_and_not_the_model_s(measure: Measure) -> None:
    found = marginal(SIZES, FREQUENCIES, OP, measure)
    direct = least(measure)
    assert found.settled
    assert float(found.wa) == pytest.approx(direct.fun, rel=1e-9)
    assert found.op_shares == pytest.approx(direct.x, abs=1e-5)
    of_model = measure(optimal(SIZES, FREQUENCIES, OP).op_of_group)
    assert found.wa < FREQUENCIES @ of_model * 0.9995


def test_noise_of_a_percent_leaves_it_near_the_optimum() -> None:
    rng = np.random.default_rng(11)
    walk = Marginal(SIZES, FREQUENCIES, OP, start=SIZES, least_move=0.1)
    reached = []
    for _ in range(60):
        wa = model(walk.op_of_group)
        reached.append(float(FREQUENCIES @ wa))
        walk.update(np.maximum(1, wa * (1 + 0.01 * rng.standard_normal(4))))
    best = float(optimal(SIZES, FREQUENCIES, OP).wa)
    assert reached[0] > 1.3 * best
    assert np.mean(reached[10:]) < 1.002 * best


def test_where_wa_has_kinks_the_best_round_is_returned() -> None:
    def greedy(op_of_group: Array) -> Array:
        return np.asarray(d_choices(op_of_group / (1 + op_of_group), 4, np.inf))

    found = marginal(SIZES, FREQUENCIES, OP, greedy, rounds=20)
    assert not found.settled
    assert len(found.history) == 20
    assert found.wa == found.history.min()
    assert found.wa < found.history[0]
    assert greedy(found.op_shares * OP / SIZES) == pytest.approx(found.wa_of_group)


def test_a_group_without_any_migration_is_no_obstacle() -> None:
    found = marginal([0.9, 0.1], [0.5, 0.5], 2.0, lambda op: np.where(op > 3, 1.0, model(op)))
    assert np.isfinite(found.op_shares).all()
    assert found.wa < 1.2


@pytest.mark.parametrize(
    ("frequencies", "more", "words"),
    [
        ([0.0, 0.1, 0.3, 0.6], {}, "frequencies must be above 0"),
        (FREQUENCIES, {"start": [0.5, 0.5]}, "start has the shape"),
        (FREQUENCIES, {"start": [0.5, 0.5, 0.0, 0.0]}, r"start\[2\] must be"),
        (FREQUENCIES, {"least_move": 0.0}, "least_move is 0.0"),
        (FREQUENCIES, {"least_move": 1j}, "least_move is 1j"),
        (FREQUENCIES, {"rounds": 0}, "rounds is 0"),
        (FREQUENCIES, {"rounds": [2]}, r"rounds is \[2\]"),
        (FREQUENCIES, {"tolerance": 10**400}, "tolerance is 1000"),
    ],
)
def test_what_cannot_be_followed_is_refused(
    frequencies: Any, more: dict[str, Any], words: str
) -> None:
    with pytest.raises(WriteampError, match=words):
        marginal(SIZES, frequencies, OP, model, **more)


@pytest.mark.parametrize(
    ("measured", "words"),
    [([2.0, 2.0], "shape"), ([2, 2, 2, 0.9], "at least 1"), ([2, 2, 2, np.inf], "finite")],
)
def test_a_measurement_that_is_none_is_refused(measured: list[float], words: str) -> None:
    with pytest.raises(WriteampError, match=words):
        Marginal(SIZES, FREQUENCIES, OP).update(measured)
