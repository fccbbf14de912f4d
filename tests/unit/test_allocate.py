"""`writeamp allocate`, and an allocation that follows measurements to the least WA."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize

import in_process
from writeamp.allocation import ColdestGroup, EqualGain, by_size, closed_form, equal_gain, optimal
from writeamp.errors import WriteampError
from writeamp.models import d_choices, expected_value

SIZES = np.array([0.4, 0.3, 0.2, 0.1])
FREQUENCIES = np.array([0.05, 0.1, 0.25, 0.6])
GROUPS = "--sizes 0.4,0.3,0.2,0.1 --frequencies 0.05,0.1,0.25,0.6"


def run(arguments: str) -> in_process.Done:
    return in_process.run("allocate", arguments)


def document(arguments: str) -> dict[str, Any]:
    return in_process.document("allocate", arguments)


def methods(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["method"]: row for row in found["methods"]}


def test_every_method_answers_with_its_division_and_what_follows() -> None:
    found = document(f"{GROUPS} --fill 0.7")
    assert found["sizes"] == SIZES.tolist()
    assert found["frequencies"] == FREQUENCIES.tolist()
    assert (found["fill"], found["op"]) == pytest.approx((0.7, 3 / 7))
    rows = methods(found)
    assert list(rows) == ["size", "frequency", "closed-form", "optimal"]
    assert rows["size"]["op_shares"] == pytest.approx(SIZES)
    assert rows["size"]["wa"] == pytest.approx(1.876160014, abs=5e-10)
    assert rows["frequency"]["op_shares"] == pytest.approx(FREQUENCIES)
    assert rows["optimal"]["over_optimal_percent"] == 0
    best = optimal(SIZES, FREQUENCIES, 3 / 7)
    assert rows["optimal"]["op_shares"] == pytest.approx(best.op_shares.tolist(), rel=1e-12)
    for row in rows.values():
        assert row["wa"] == pytest.approx(
            sum(p * wa for p, wa in zip(FREQUENCIES, row["wa_of_group"], strict=True))
        )
        assert row["over_optimal_percent"] == pytest.approx(
            100 * (row["wa"] / best.wa - 1), abs=1e-9
        )


@pytest.mark.parametrize("ratio", ["--op 0.25", "--fill 0.8", "--spare-factor 0.2"])
def test_the_three_ratios_mean_the_same_drive(ratio: str) -> None:
    found = document(f"{GROUPS} {ratio}")
    assert found["op"] == pytest.approx(0.25)
    wa = float(closed_form(SIZES, FREQUENCIES, 0.25).wa)
    assert methods(found)["closed-form"]["wa"] == pytest.approx(wa)


def test_slashes_separate_as_commas_do() -> None:
    slashes = document(f"{GROUPS.replace(',', '/')} --fill 0.7")
    assert slashes == document(f"{GROUPS} --fill 0.7")


def test_the_rule_of_the_coldest_group_reaches_every_method() -> None:
    groups = "--sizes 0.5,0.3,0.2 --frequencies 0.01,0.33,0.66 --op 0.3"
    found = document(f"{groups} --coldest-op 0.05 --coldest-below 0.05")
    assert found["coldest"] == {"op": 0.05, "below": 0.05}
    for row in found["methods"]:
        assert row["op_of_group"][0] == pytest.approx(0.05)
    floor = methods(document(f"{groups} --coldest-op 0.05"))["size"]["op_of_group"]
    assert floor == pytest.approx([0.3] * 3)
    ruled = closed_form([0.5, 0.3, 0.2], [0.01, 0.33, 0.66], 0.3, ColdestGroup(0.05, 0.05))
    assert methods(found)["closed-form"]["wa"] == pytest.approx(float(ruled.wa))


def test_a_group_without_space_has_no_finite_wa() -> None:
    rows = methods(document("--sizes 0.5,0.5 --frequencies 0,1 --op 0.2"))
    assert rows["optimal"]["op_shares"] == [0, 1]
    assert rows["optimal"]["wa_of_group"][0] is None
    assert rows["optimal"]["wa"] == rows["optimal"]["wa_of_group"][1]


def test_the_tables_name_the_ratio_and_every_method() -> None:
    status, out, err = run(f"{GROUPS} --fill 0.7")
    assert (status, err) == (0, "")
    for words in ("op 0.4286 = (T-U)/U", "closed-form", "1.4929", "1.820", "optimal", "3.165"):
        assert words in out


def test_an_exploration_is_a_row_for_each_number_of_groups() -> None:
    found = document("--explore 10 --fill 0.7")
    assert found["chunks"] == 10
    assert found["configurations"] == 1023
    assert found["max_over_optimal_percent"] == pytest.approx(2.01, abs=0.005)
    rows = found["by_groups"]
    assert [row["groups"] for row in rows] == list(range(2, 10))
    assert sum(row["configurations"] for row in rows) == 1023
    mean = sum(row["configurations"] * row["mean_over_optimal_percent"] for row in rows) / 1023
    assert found["mean_over_optimal_percent"] == pytest.approx(mean)
    status, out, _ = run("--explore 10 --fill 0.7")
    assert status == 0
    assert "1,023" in out
    assert "2.013" in out


@pytest.mark.parametrize("arguments", [f"{GROUPS} --fill 0.7", "--explore 6 --fill 0.7"])
def test_a_picture_holds_the_words_of_its_table(arguments: str, tmp_path: Path) -> None:
    target = tmp_path / "division.svg"
    status, _, err = run(f"{arguments} --plot {target}")
    assert status == 0, err
    picture = target.read_text("utf-8")
    words = ("maximum", "mean", "groups") if "explore" in arguments else ("closed-form", "group 4")
    for word in (*words, "op 0.4286"):
        assert word in picture


Array = npt.NDArray[np.float64]
Measure = Callable[[Array], Array]

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
    found = equal_gain(sizes, frequencies, op, model, start=start)
    assert found.settled
    assert len(found.history) <= 15
    assert found.wa == pytest.approx(best.wa, rel=1e-9)
    assert found.op_shares == pytest.approx(best.op_shares, abs=1e-5)
    assert (found.history[0] >= found.wa).all()


@pytest.mark.parametrize("measure", [partly_written, four_choices])
def test_it_reaches_the_optimum_of_what_is_measured_and_not_the_model_s(measure: Measure) -> None:
    found = equal_gain(SIZES, FREQUENCIES, OP, measure)
    direct = least(measure)
    assert found.settled
    assert float(found.wa) == pytest.approx(direct.fun, rel=1e-9)
    assert found.op_shares == pytest.approx(direct.x, abs=1e-5)
    of_model = measure(optimal(SIZES, FREQUENCIES, OP).op_of_group)
    assert found.wa < FREQUENCIES @ of_model * 0.9995


def test_noise_of_a_percent_leaves_it_near_the_optimum() -> None:
    rng = np.random.default_rng(11)
    walk = EqualGain(SIZES, FREQUENCIES, OP, start=SIZES, least_move=0.1)
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

    found = equal_gain(SIZES, FREQUENCIES, OP, greedy, rounds=20)
    assert not found.settled
    assert len(found.history) == 20
    assert found.wa == found.history.min()
    assert found.wa < found.history[0]
    assert greedy(found.op_shares * OP / SIZES) == pytest.approx(found.wa_of_group)


def test_a_group_without_any_migration_is_no_obstacle() -> None:
    found = equal_gain([0.9, 0.1], [0.5, 0.5], 2.0, lambda op: np.where(op > 3, 1.0, model(op)))
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
        equal_gain(SIZES, frequencies, OP, model, **more)


@pytest.mark.parametrize(
    ("measured", "words"),
    [([2.0, 2.0], "shape"), ([2, 2, 2, 0.9], "at least 1"), ([2, 2, 2, np.inf], "finite")],
)
def test_a_measurement_that_is_none_is_refused(measured: list[float], words: str) -> None:
    with pytest.raises(WriteampError, match=words):
        EqualGain(SIZES, FREQUENCIES, OP).update(measured)
