"""Witnesses of the Coupon Collector model and of the d-choices mean field, and the truth."""

from __future__ import annotations

import math
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import bdtrc  # type: ignore[import-untyped]

import writeamp as wa
from forms import FULL
from writeamp.errors import WriteampError
from writeamp.models import coupon_collector, d_choices, expected_value, markov, required_op
from writeamp.models._binomial_maximum import expected_maximum

Case = tuple[float, int, int, int, float]


def exact_coupon_collector(case: Case, near: float) -> mpmath.mpf:
    """Sum eq. 3 as it stands, block by block and page by page, around the root next to `near`."""
    op, pages, window, reserve, logical_blocks = case
    ratio = mpmath.mpf(op)

    def hit_probabilities(inverse_wa: mpmath.mpf) -> list[mpmath.mpf]:
        if math.isinf(logical_blocks):
            return [1 - mpmath.exp(-(1 + ratio) * inverse_wa)] * window
        miss = 1 - mpmath.mpf(1) / (logical_blocks * pages)
        ages = [logical_blocks * (1 + ratio) - reserve - i for i in range(window)]
        return [1 - miss ** (age * pages * inverse_wa) for age in ages]

    def excess(inverse_wa: mpmath.mpf) -> mpmath.mpf:
        at_most = [mpmath.mpf(1)] * pages  # P(max ≤ k)
        for hit in hit_probabilities(inverse_wa):
            cdf = mpmath.mpf(0)
            for k in range(pages):
                cdf += mpmath.binomial(pages, k) * hit**k * (1 - hit) ** (pages - k)
                at_most[k] *= cdf
        return sum(1 - p for p in at_most) / pages - inverse_wa

    guess = 1 / mpmath.mpf(near)
    bounds = (guess * (1 - mpmath.mpf(10) ** -6), guess * (1 + mpmath.mpf(10) ** -6))
    return 1 / mpmath.findroot(excess, bounds, solver="anderson", tol=1e-60)


@pytest.mark.parametrize(
    "case",  # op, pages per block, window, reserve, logical blocks
    [
        (0.28, 16, 4, 0, math.inf),
        (1e-6, 16, 4, 0, math.inf),
        (1e-6, 16, 64, 0, math.inf),
        (3.0, 16, 8, 0, math.inf),
        (0.28, 1, 3, 0, math.inf),
        (0.28, 2, 3, 0, 10),
        (0.28, 16, 1, 3, 20),
        (0.28, 8, 5, 2, 30),
        (0.28, 8, 38, 0, 30),
        (0.1, 16, 40, 1, 50),
        (1e-3, 32, 20, 0, 2000),
        (0.28, 12, 100, 0, 100),
    ],
)
def test_the_tails_equal_the_direct_sum_in_40_digits(case: Case) -> None:
    ours = float(coupon_collector(*case))
    with mpmath.workdps(40):
        assert abs(mpmath.mpf(ours) / exact_coupon_collector(case, ours) - 1) < 1e-13


@given(st.floats(1e-6, 1e3), st.integers(1, 1 << 20))
def test_one_block_in_a_large_drive_is_exactly_expected_value(op: float, pages: int) -> None:
    assert coupon_collector(op, pages, 1, 0, math.inf) == expected_value(op)


def test_one_block_in_a_growing_drive_tends_to_expected_value() -> None:
    sizes = np.array([1e2, 1e4, 1e6])
    gaps = np.abs(np.asarray(coupon_collector(0.28, 64, 1, 0, sizes)) - expected_value(0.28))
    assert gaps[0] > 50 * gaps[1] > 2500 * gaps[2]
    # A reserve of r blocks takes r/U from the op; logarithms of 1 − 1/(UN) hardly matter.
    reserved = coupon_collector(0.28, 64, 1, 10_000, 1e6)
    assert reserved == pytest.approx(expected_value(0.27), rel=1e-6)


@settings(max_examples=40)
@given(
    op=st.floats(0.01, 2.0),
    pages=st.integers(2, 300),
    logical_blocks=st.sampled_from([500.0, 3000.0, math.inf]),
)
def test_it_falls_as_the_window_grows(op: float, pages: int, logical_blocks: float) -> None:
    windows = np.array([1, 2, 3, 8, 9, 20, 64, 200, 500])
    found = np.asarray(coupon_collector(op, pages, windows, 0, logical_blocks))
    assert all(found[1:] <= found[:-1] * (1 + 1e-12))
    assert found[3] < found[0]


@settings(max_examples=40)
@given(op=st.floats(0.05, 1.0), pages=st.integers(2, 300), window=st.integers(1, 50))
def test_it_rises_with_the_reserve(op: float, pages: int, window: int) -> None:
    found = np.asarray(coupon_collector(op, pages, window, np.arange(0, 40, 10), 1000))
    assert all(found[1:] > found[:-1]) or found[-1] < 1 + 1e-6


@settings(max_examples=40)
@given(
    op=st.floats(0.01, 1.0),
    window=st.integers(2, 50),
    logical_blocks=st.sampled_from([500.0, math.inf]),
)
def test_it_rises_with_pages_per_block_towards_one_block(
    op: float, window: int, logical_blocks: float
) -> None:
    pages = np.array([16, 64, 256, 1024, 4096])
    found = np.asarray(coupon_collector(op, pages, window, 0, logical_blocks))
    assert all(found[1:] > found[:-1])
    assert all(found < coupon_collector(op, pages, 1, 0, logical_blocks))


@pytest.mark.parametrize(("trials", "variables"), [(64, 2560), (512, 2560), (2048, 1000)])
def test_the_summation_rule_of_many_ages_equals_their_sum(trials: int, variables: int) -> None:
    # P(X > k) of every variable, from a library, without leaving any out.
    oldest, spacing = 0.5, 0.5 / variables
    hit = -np.expm1(-(oldest - np.arange(variables) * spacing))
    tails = bdtrc(np.arange(trials)[:, None], trials, hit)
    with np.errstate(divide="ignore"):
        direct = -np.expm1(np.log1p(-tails).sum(axis=1)).sum()
    assert expected_maximum(trials, variables, oldest, spacing) == pytest.approx(direct, rel=1e-12)


def test_the_maximum_of_certain_and_of_rare_hits() -> None:
    assert expected_maximum(10, 5, 800.0, 0.0) == 10
    # At most one of 3·20 pages is ever hit: the mean number of hits is the maximum.
    assert expected_maximum(20, 3, 1e-9, 0.0) == pytest.approx(60e-9, rel=1e-7)


# Windowed greedy at 2000 logical blocks of 64 pages, op 0.28; PAPERS values, by simulation.
TRUTH = {1: 2.4813, 4: 2.4791, 16: 2.4724, 64: 2.4543, 256: 2.4225, 2560: 2.4036}


@pytest.mark.parametrize(("window", "published"), TRUTH.items())
def test_true_windowed_greedy_lies_between_one_block_and_greedy_where_the_model_does_not(
    window: int, published: float
) -> None:
    # 0.15%: the published values come from one run each, ours is known to ±0.03%.
    true = wa.simulate(
        logical_blocks=2000,
        pages_per_block=64,
        op=0.28,
        victims=f"windowed-greedy:window={window}",
        precision=0.0003,
    ).wa
    assert true == pytest.approx(published, rel=0.0015)
    model = float(coupon_collector(0.28, 64, window, 0, 2000))
    greedy = float(d_choices(0.28 / 1.28, 64, math.inf))
    assert greedy * 0.9985 < true < expected_value(0.28) * 1.0015
    if window == 1:
        assert true == pytest.approx(model, rel=0.001)
    else:
        # docs/models.md: two thirds of the truth at s = 4, half of it at s = 2560.
        assert model / true == pytest.approx({4: 0.67, 2560: 0.53}.get(window, 0.56), abs=0.04)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((0.28, 64, 64, 0, 10), r"^window must be at most the 12\.8 blocks outside the reserve"),
        ((0.28, 64, 2, 3, 10), r"^reserve must be less than the 2\.8 spare blocks .* not 3$"),
        ((0.28, 64, 0), r"^window must be an integer of at least 1, not 0\.0$"),
        ((0.28, 64, 1.5), r"^window must be an integer"),
        ((0.28, 64, math.inf), r"^window must be an integer"),
        ((0.28, 64, 1, -1), r"^reserve must be an integer of at least 0"),
        ((0.28, 64, 1, math.nan), r"^reserve must be an integer of at least 0"),
        ((0.28, 64, 1, 0, 1), r"^logical_blocks must be at least 2, or infinite"),
        ((0.28, 64, 1, 0, math.nan), r"^logical_blocks must be at least 2, or infinite"),
        ((0.28, 0), r"^pages_per_block must be an integer of at least 1 and at most 1048576"),
        (([0.1, 0.2], [1, 2, 3]), r"^shapes do not broadcast .* op \(2,\), pages_per_block \(3,\)"),
    ],
)
def test_an_argument_outside_its_domain_is_named_with_the_domain(
    arguments: tuple[float, ...], sentence: str
) -> None:
    with pytest.raises(WriteampError, match=sentence):
        coupon_collector(*arguments)


def test_a_window_of_a_million_blocks_is_no_less_exact_than_one_of_all_that_matter() -> None:
    wide, wider = (coupon_collector(0.28, 32768, window, 0, 10**6) for window in (10**5, 10**6))
    assert math.isfinite(wide)
    assert 1 <= wider <= wide


def exact_d_choices(spare_factor: float, pages: int, d: int) -> mpmath.mpf:
    """Solve the levels one by one from the top, and λ around them, in 30 digits."""
    fill = 1 - mpmath.mpf(spare_factor)

    def excess(log_rate: mpmath.mpf) -> mpmath.mpf:
        rate, above, total = mpmath.exp(log_rate), mpmath.mpf(0), mpmath.mpf(0)
        for i in range(pages, 0, -1):
            # λ·i·S_i + S_i^d = 1 + λ·i·S_{i+1} for S = 1 − e; convex, so Newton falls onto it.
            inflow = 1 + rate * i * above
            share = min(mpmath.mpf(1), inflow / (rate * i))
            for _ in range(200):
                slope = rate * i + d * share ** (d - 1)
                step = (rate * i * share + share**d - inflow) / slope
                share -= step
                if abs(step) < mpmath.mpf(10) ** -28:
                    break
            above = share
            total += share
        return total - pages * fill

    low, high = mpmath.log(1 / fill - 1), -mpmath.log(fill)
    rate = mpmath.exp(mpmath.findroot(excess, (low, high), solver="anderson", tol=1e-24))
    return 1 / (rate * fill)


@pytest.mark.parametrize(
    ("spare_factor", "pages", "d"),
    [
        (0.1, 32, 10),
        (0.21875, 64, 10),
        (0.01, 16, 2),
        (1e-6, 16, 10),
        (0.999, 16, 2),
        (0.999, 32, 3),
        (0.3, 8, 1000),
        (0.64, 16, 10**6),
        (0.5, 1, 7),
        # All but empty drives, on which the levels round to 1.
        (1 - 1e-4, 16, 2),
        (1 - 1e-9, 16, 10),
        (1 - 1e-9, 4096, 2),
    ],
)
def test_the_levels_all_at_once_equal_30_digit_arithmetic_level_by_level(
    spare_factor: float, pages: int, d: int
) -> None:
    with mpmath.workdps(30):
        exact = exact_d_choices(spare_factor, pages, d)
        ours = mpmath.mpf(float(d_choices(spare_factor, pages, d)))
        assert abs(ours / exact - 1) < 1e-12


@given(st.floats(1e-6, 1 - 1e-6), st.integers(1, 1 << 20))
def test_one_choice_gives_exactly_one_over_the_spare_factor(
    spare_factor: float, pages: int
) -> None:
    assert d_choices(spare_factor, pages, 1) == 1 / spare_factor


_CHOICES = st.integers(2, 2**32 - 1) | st.integers(2, 20)


@settings(max_examples=200)
@given(st.floats(1e-300, 1, exclude_max=True), st.integers(1, 300), _CHOICES)
def test_every_drive_of_the_domain_has_an_amplification(
    spare_factor: float, pages: int, d: int
) -> None:
    assert 1 <= d_choices(spare_factor, pages, d) <= 1 / spare_factor * (1 + 1e-9)


@settings(max_examples=200)
@given(st.floats(1, 1e300, exclude_min=True), st.integers(1, 300), _CHOICES)
@example(1.000000001, 1, 2**31)
def test_every_amplification_of_the_domain_has_an_op(
    amplification: float, pages: int, d: int
) -> None:
    assert required_op(amplification, "d-choices", pages_per_block=pages, d=d) > 0


@settings(max_examples=50)
@given(st.floats(1e-6, 0.999), st.integers(1, 300))
def test_more_choices_amplify_less_down_to_greedy(spare_factor: float, pages: int) -> None:
    found = np.asarray(d_choices(spare_factor, pages, [1, 2, 5, 20, 1000, 10**6, math.inf]))
    assert all(found[1:] <= found[:-1] * (1 + 1e-12))
    assert found[-1] >= 1


@pytest.mark.parametrize("spare_factor", [0.01, 0.21875, 0.6])
def test_many_choices_tend_to_the_closed_form_of_greedy(spare_factor: float) -> None:
    greedy = d_choices(spare_factor, 64, math.inf)
    gaps = [float(d_choices(spare_factor, 64, 10**k) / greedy - 1) for k in (5, 7, 9)]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-7


def test_greedy_of_one_page_blocks_and_of_much_spare_space_does_not_amplify() -> None:
    # Below a fill of 1/(1 + 1/2 + … + 1/N) some blocks are empty before they are collected.
    harmonic = sum(1 / i for i in range(1, 65))
    assert d_choices(0.3, 1, math.inf) == pytest.approx(1, abs=1e-15)
    assert d_choices(1 - 0.999 / harmonic, 64, math.inf) == pytest.approx(1, abs=1e-15)
    assert d_choices(1 - 1.01 / harmonic, 64, math.inf) > 1 + 1e-5


def test_greedy_of_long_blocks_is_the_markov_model_and_then_expected_value() -> None:
    op = np.array([0.1, 0.28, 1.0])
    assert d_choices(op / (1 + op), 512, math.inf) == pytest.approx(markov(op, 512), rel=1e-4)
    long = d_choices(op / (1 + op), 1 << 18, math.inf)
    assert long == pytest.approx(expected_value(op), rel=1e-4)


@pytest.mark.parametrize(
    ("victims", "d", "op", "pages"),
    [
        ("d-choices:d=10", 10, 1 / 9, 32),
        ("d-choices:d=10", 10, 0.28, 64),
        ("d-choices:d=3", 3, 0.05, 32),
        ("d-choices:d=2", 2, 1.0, 16),
        # Where op·N is small Markov misses greedy by 5%, 4% and 5%, and the mean field does not.
        ("greedy", math.inf, 0.28, 4),
        ("greedy", math.inf, 0.05, 16),
        ("greedy", math.inf, 0.025, 32),
    ],
)
def test_simulation_agrees_with_the_mean_field(
    victims: str, d: float, op: float, pages: int
) -> None:
    # 4000 blocks leave 0.1% of the mean field, and so much noise is asked for.
    precision = 0.0003 if FULL else 0.0005
    result = wa.simulate(
        logical_blocks=4000, pages_per_block=pages, op=op, victims=victims, precision=precision
    )
    predicted = d_choices(result.device.spare_factor, pages, d)
    assert result.wa == pytest.approx(predicted, rel=0.002)


def test_spare_factor_pages_and_d_broadcast() -> None:
    spare_factor = np.array([[[0.1]], [[0.3]]])
    table = np.asarray(d_choices(spare_factor, np.array([[16], [64]]), np.array([1, 10, math.inf])))
    assert table.shape == (2, 2, 3)
    assert table[1, 1, 1] == d_choices(0.3, 64)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        *(
            ((0.1, 64, d), r"^d must be an integer of at least 1 .*, or infinite")
            for d in (0, -1, 1.5, 2**32, math.nan, -math.inf, "10", None)
        ),
        *(
            ((spare_factor, 64), r"^spare_factor must be greater than 0 and less than")
            for spare_factor in (0, 1, 1.5, -0.1, math.nan, math.inf)
        ),
        *(
            ((0.1, pages), r"^pages_per_block must be .* at most 1048576")
            for pages in (0, 1.5, (1 << 20) + 1, math.inf)
        ),
        (([0.1, 0.2], [16, 32, 64]), r"spare_factor \(2,\), pages_per_block \(3,\) and d"),
    ],
)
def test_an_argument_of_d_choices_outside_its_domain_is_named_with_the_domain(
    arguments: tuple[Any, ...], sentence: str
) -> None:
    with pytest.raises(WriteampError, match=sentence):
        d_choices(*arguments)
