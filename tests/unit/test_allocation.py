"""Over-provisioning between groups: paper 3's methods against algebra, mpmath, brute force."""

from __future__ import annotations

from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import writeamp as wa
from writeamp.allocation import (
    METHODS,
    Allocation,
    ColdestGroup,
    by_frequency,
    by_size,
    closed_form,
    optimal,
)
from writeamp.errors import WriteampError

Array = npt.NDArray[np.float64]

SIZES = [0.4, 0.3, 0.2, 0.1]
FREQUENCIES = [0.05, 0.1, 0.25, 0.6]
FILL_70 = 3 / 7  # op of a drive that is 70% full


def random_groups(count: int, groups: int, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    # From nearly even to very skewed.
    return tuple(
        rng.dirichlet(np.full(groups, concentration), count) for concentration in (1.5, 0.7)
    )  # type: ignore[return-value]


def exact_optimum(sizes: Array, frequencies: Array, op: float) -> tuple[list[Any], Any]:
    """Return the op of each group and the WA at the optimum, in 40 digits.

    The dual: at a price of space each group chooses δ by itself, −1/δ = W₋₁(−e^(−1−μp/s)) on the
    lower branch of Lambert's function, and μ is bisected until the space is used up.
    """
    with mpmath.workdps(40):
        s, p = ([mpmath.mpf(float(x)) for x in row] for row in (sizes, frequencies))
        s, p = ([x / sum(row) for x in row] for row in (s, p))

        def valid_shares(log_price: Any) -> list[Any]:
            values = [mpmath.exp(log_price) * x / y for x, y in zip(p, s, strict=True)]
            return [-1 / mpmath.lambertw(-mpmath.exp(-1 - value), -1).real for value in values]

        def ops(shares: list[Any]) -> list[Any]:
            return [mpmath.log(d) / (d - 1) - 1 for d in shares]

        low, high = mpmath.mpf(-40), mpmath.mpf(40)
        for _ in range(100):
            middle = (low + high) / 2
            taken = sum(x * y for x, y in zip(s, ops(valid_shares(middle)), strict=True))
            low, high = (middle, high) if taken < op else (low, middle)
        found = valid_shares((low + high) / 2)
        return ops(found), sum(x / (1 - d) for x, d in zip(p, found, strict=True))


# The model of one group.


def test_the_model_has_the_papers_value_at_a_fill_of_70_percent() -> None:
    found = by_size([1.0], [1.0], FILL_70)
    assert found.wa == pytest.approx(1.876160014, abs=5e-10)
    assert 1 - 1 / found.wa == pytest.approx(0.466996422, abs=5e-10)


def test_a_group_is_a_drive_of_its_size_and_space() -> None:
    found = by_frequency(SIZES, FREQUENCIES, 0.3)
    own = np.array(FREQUENCIES) * 0.3 / np.array(SIZES)
    assert found.op_of_group == pytest.approx(own, rel=1e-14)
    assert found.wa_of_group == pytest.approx(np.asarray(wa.models.expected_value(own)), rel=1e-13)
    assert found.wa == pytest.approx(float(np.dot(FREQUENCIES, found.wa_of_group)), rel=1e-14)


# The methods.


def test_by_size_every_group_has_the_wa_of_the_undivided_drive() -> None:
    found = by_size(SIZES, FREQUENCIES, 0.3)
    assert found.op_shares == pytest.approx(SIZES)
    assert found.wa_of_group == pytest.approx(float(wa.models.expected_value(0.3)), rel=1e-13)


def test_the_closed_form_is_the_mean_of_size_and_frequency() -> None:
    found = closed_form(SIZES, FREQUENCIES, 0.3)
    assert found.op_shares == pytest.approx((np.array(SIZES) + FREQUENCIES) / 2, rel=1e-15)


@pytest.mark.parametrize("method", METHODS.values())
def test_all_methods_agree_where_writes_are_uniform(method: Any) -> None:
    found = method(SIZES, SIZES, 0.2)
    assert found.op_shares == pytest.approx(SIZES, rel=1e-12)
    assert found.over_optimal_percent < 1e-10


@pytest.mark.parametrize("method", METHODS.values())
def test_rows_are_as_if_each_stood_alone(method: Any) -> None:
    sizes, frequencies = random_groups(12, 5, seed=4)
    ops = np.geomspace(0.02, 3, 12)
    together = method(sizes.reshape(3, 4, 5), frequencies.reshape(3, 4, 5), ops.reshape(3, 4))
    assert together.op_shares.shape == (3, 4, 5)
    assert together.over_optimal_percent.shape == together.wa.shape == (3, 4)
    for row in range(12):
        alone = method(sizes[row], frequencies[row], ops[row])
        assert alone.op_shares == pytest.approx(together.op_shares.reshape(12, 5)[row], rel=1e-11)
        assert alone.wa == pytest.approx(together.wa.reshape(12)[row], rel=1e-12)
        assert isinstance(alone.wa, np.float64)


def test_one_workload_is_broadcast_over_many_drives() -> None:
    ops = np.array([0.05, 0.3, 2.0])
    found = optimal(SIZES, FREQUENCIES, ops)
    assert found.wa.shape == (3,)
    assert (np.diff(found.wa) < 0).all()
    assert found.wa[1] == pytest.approx(optimal(SIZES, FREQUENCIES, 0.3).wa, rel=1e-14)


# The optimum.


def test_the_optimum_agrees_with_40_digit_arithmetic() -> None:
    for groups, op, seed in ((2, 0.05, 1), (3, FILL_70, 2), (4, 1 / 9, 3), (7, 1.5, 4), (2, 20, 5)):
        sizes, frequencies = random_groups(2, groups, seed)
        for s, p in zip(sizes, frequencies, strict=True):
            own_op, least = exact_optimum(s, p, op)
            found = optimal(s, p, op)
            assert found.wa == pytest.approx(float(least), rel=1e-12)
            assert found.op_of_group == pytest.approx([float(x) for x in own_op], rel=1e-9)


def test_at_the_optimum_a_page_of_space_gains_the_same_in_every_group() -> None:
    """Check Karush-Kuhn-Tucker on 1,000 workloads.

    The slopes are taken from the model itself in 30 digits.

    The problem is convex, so that equal slopes in a division that uses the space are the optimum.
    """
    rng = np.random.default_rng(7)
    for _ in range(1000):
        groups = int(rng.integers(2, 10))
        (sizes,), (frequencies,) = random_groups(1, groups, int(rng.integers(1 << 30)))
        op = float(np.exp(rng.uniform(np.log(0.02), np.log(4))))
        found = optimal(sizes, frequencies, op)
        assert found.op_shares.sum() == pytest.approx(1, rel=1e-14)
        assert (found.op_shares > 0).all()
        gains = [
            float(p / s * model_slope(o))
            for p, s, o in zip(frequencies, sizes, found.op_of_group, strict=True)
        ]
        assert gains == pytest.approx([gains[0]] * groups, rel=1e-9)


def model_slope(op: float, digits: int = 30) -> Any:
    """Return −dWA/dop by the implicit derivative of eq. 3 at its root, found by mpmath."""
    with mpmath.workdps(digits):
        ratio = 1 + mpmath.mpf(float(op))
        # Eq. 9, on the principal branch.
        share = -mpmath.lambertw(-ratio * mpmath.exp(-ratio)).real / ratio
        of_ratio = (mpmath.log(share) - (share - 1) / share) / (share - 1) ** 2
        return 1 / of_ratio / (1 - share) ** 2


@given(st.integers(2, 9), st.floats(1e-4, 100), st.integers(0, 1 << 30))
def test_the_optimum_is_never_above_another_method(groups: int, op: float, seed: int) -> None:
    sizes, frequencies = random_groups(5, groups, seed)
    least = optimal(sizes, frequencies, op).wa
    for method in METHODS.values():
        found = method(sizes, frequencies, op)
        assert np.isfinite(found.op_shares).all()
        assert found.op_shares.sum(-1) == pytest.approx(1, rel=1e-12)
        assert (found.wa >= least * (1 - 1e-13)).all()


@pytest.mark.parametrize("op", [1e-9, 0.05, 1.0, 100.0])
@pytest.mark.parametrize("cold", [0.0, 1e-200, 1e-20, 1e-6])
def test_hardly_written_groups_leave_the_space_to_the_others_as_far_as_it_is_of_use(
    op: float, cold: float
) -> None:
    sizes = [0.001, 0.998, 0.001]
    found = optimal(sizes, [0.5, cold, 0.5 - cold], op)
    assert found.op_shares.sum() == pytest.approx(1, rel=1e-14)
    assert found.op_shares[[0, 2]] == pytest.approx(found.op_shares[[2, 0]], rel=1e-5)
    assert 1 <= found.wa < 1 + 1 / op
    if cold:
        slopes = [model_log_slope(o) for o in found.op_of_group]
        rates = np.log(np.array([0.5, cold]) / sizes[:2])
        assert slopes[0] - slopes[1] == pytest.approx(-(rates[0] - rates[1]), rel=1e-9, abs=1e-9)
    else:
        assert found.op_shares[1] == 0


def model_log_slope(op: float) -> float:
    """Return ln(−dWA/dop), also where WA − 1 is far below what double precision can tell."""
    with mpmath.workdps(600):
        return float(mpmath.log(model_slope(op, 600)))


def test_a_group_that_is_never_written_gets_no_space_and_counts_for_nothing() -> None:
    found = optimal([0.5, 0.3, 0.2], [0.0, 0.3, 0.7], 0.2)
    assert found.op_shares[0] == 0
    assert found.wa_of_group[0] == np.inf
    alone = optimal([0.6, 0.4], [0.3, 0.7], 0.2 / 0.5)
    assert found.op_shares[1:] == pytest.approx(alone.op_shares, rel=1e-12)
    assert found.wa == pytest.approx(alone.wa, rel=1e-13)


# The coldest group.


def test_the_papers_rule_fixes_the_coldest_group_where_it_is_very_cold() -> None:
    rule = ColdestGroup(op=0.05, below=0.05)
    sizes, frequencies = [0.5, 0.3, 0.2], [0.01, 0.33, 0.66]
    found = closed_form(sizes, frequencies, 0.3, rule)
    assert found.op_of_group[0] == pytest.approx(0.05)
    rest = closed_form([0.6, 0.4], [1 / 3, 2 / 3], (0.3 - 0.05 * 0.5) / 0.5)
    assert found.op_of_group[1:] == pytest.approx(rest.op_of_group, rel=1e-13)
    assert found.op_shares.sum() == pytest.approx(1, rel=1e-14)
    # It takes space from a group to which the closed form gives too much.
    assert found.wa < closed_form(sizes, frequencies, 0.3).wa


def test_the_papers_rule_does_nothing_where_the_coldest_is_not_that_cold() -> None:
    rule = ColdestGroup(op=0.05, below=0.05)
    for method in METHODS.values():
        plain = method(SIZES, FREQUENCIES, 0.3)
        assert (method(SIZES, FREQUENCIES, 0.3, rule).op_shares == plain.op_shares).all()


def test_the_papers_rule_measures_the_coldest_group_by_the_next_coldest() -> None:
    sizes, frequencies = [0.5, 0.3, 0.2], [0.015, 0.03, 0.955]  # written 0.03 and 0.1 times a page
    ruled = closed_form(sizes, frequencies, 0.3, ColdestGroup(op=0.05, below=0.05))
    assert (ruled.op_shares == closed_form(sizes, frequencies, 0.3).op_shares).all()


def test_a_floor_keeps_the_optimum_from_starving_the_coldest_group() -> None:
    sizes, frequencies = [0.3, 0.5, 0.2], [0.299, 0.001, 0.7]
    assert optimal(sizes, frequencies, 0.3).op_of_group[1] < 0.02
    found = optimal(sizes, frequencies, 0.3, ColdestGroup(op=0.05))
    assert found.op_of_group[1] == pytest.approx(0.05)
    assert found.over_optimal_percent > 0
    # The others are at their own optimum.
    rest = optimal([0.6, 0.4], [0.299 / 0.999, 0.7 / 0.999], (0.3 - 0.05 * 0.5) / 0.5)
    assert found.wa_of_group[[0, 2]] == pytest.approx(rest.wa_of_group, rel=1e-10)


def test_a_floor_takes_nothing_from_a_group_that_has_more() -> None:
    plain = by_size(SIZES, FREQUENCIES, 0.3)
    assert by_size(SIZES, FREQUENCIES, 0.3, ColdestGroup(0.2)).op_shares == pytest.approx(
        plain.op_shares, rel=1e-15
    )


def test_the_rule_acts_on_each_row_by_itself() -> None:
    sizes = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    frequencies = np.array([[0.01, 0.33, 0.66], [0.4, 0.3, 0.3]])
    rule = ColdestGroup(0.05, 0.05)
    found = optimal(sizes, frequencies, 0.3, rule)
    for row in range(2):
        alone = optimal(sizes[row], frequencies[row], 0.3, rule)
        assert found.op_shares[row] == pytest.approx(alone.op_shares, rel=1e-11)
    assert found.op_of_group[0, 0] == pytest.approx(0.05)


# What is refused.


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0.5, 0.4], [0.5, 0.5], 0.3), "sum of sizes must be 1, not 0.9"),
        (([0.5, 0.5], [0.5, 0.6], 0.3), "sum of frequencies must be 1, not 1.1"),
        (([[0.5, 0.5], [0.5, 0.4]], [0.5, 0.5], 0.3), r"sum of sizes\[1\] must be 1"),
        (([0.0, 1.0], [0.5, 0.5], 0.3), r"sizes\[0\] must be greater than 0"),
        (([0.5, 0.5], [-0.5, 1.5], 0.3), r"frequencies\[0\] must be from 0 to 1"),
        (([0.5, 0.5], [0.2, 0.3, 0.5], 0.3), "sizes has 2 values and frequencies 3"),
        (([0.5, 0.5], [0.5, 0.5], 0.0), "op must be finite and greater than 0"),
        (([0.5, 0.5], [0.5, 0.5], 101), "op must be from 1e-09 to 100"),
        (([0.5, 0.5], [0.5, np.nan], 0.3), r"frequencies\[1\]"),
        ((1.0, 1.0, 0.3), "one share for each group"),
        (([[0.5, 0.5]] * 2, [[0.5, 0.5]] * 3, 0.3), "broadcast"),
    ],
)
def test_what_describes_no_groups_is_refused(arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(WriteampError, match=words):
        optimal(*arguments)


def test_shares_may_be_rounded_in_the_tenth_digit() -> None:
    third = 0.3333333333
    found = optimal([third, third, third], [0.2, 0.3, 0.5], 0.3)
    assert isinstance(found, Allocation)
    assert found.groups.sizes.sum() == pytest.approx(1, rel=1e-15)


def test_a_coldest_group_that_takes_all_space_is_refused() -> None:
    with pytest.raises(WriteampError, match="below 1"):
        optimal([0.9, 0.1], [0.1, 0.9], 0.1, ColdestGroup(0.2))
    with pytest.raises(WriteampError, match="op is -1"):
        ColdestGroup(-1)
    with pytest.raises(WriteampError, match="below is 2"):
        ColdestGroup(0.05, 2)


@pytest.mark.filterwarnings("error")
def test_a_coldest_op_that_no_double_holds_is_refused_and_nothing_else_is_said() -> None:
    with pytest.raises(WriteampError, match="below 1"):
        optimal([0.5, 0.5], [0.9, 0.1], 0.1, ColdestGroup(1e308))


def test_the_rule_of_the_paper_mends_the_closed_form_on_its_tpc_c_pages() -> None:
    """Fig. 9 in four groups: never updated, two clusters, and the few hottest pages (docs)."""
    sizes = [0.538, 0.23, 0.23, 0.002]
    updates = np.array([0, 0.23 * 25, 0.23 * 200, 0.002 * 13_000 / np.log(13_300 / 300)])
    frequencies = updates / updates.sum()
    rule = ColdestGroup(0.05, 0.05)
    plain = closed_form(sizes, frequencies, FILL_70).wa / optimal(sizes, frequencies, FILL_70).wa
    ruled, best = (m(sizes, frequencies, FILL_70, rule).wa for m in (closed_form, optimal))
    assert plain - 1 == pytest.approx(0.134, abs=5e-4)
    assert ruled / best - 1 == pytest.approx(0.0148, abs=5e-5)
