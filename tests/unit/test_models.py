"""Witnesses of paper 1's closed forms: its values, 40-digit arithmetic, and their algebra."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from writeamp.errors import WriteampError
from writeamp.models import (
    block_lifetime,
    effective_op,
    expected_value,
    fifo,
    markov,
    uniform_distribution,
    valid_pages,
)

OPS = st.floats(1e-6, 1e3)
PAGES = st.integers(1, 1 << 20)


def exact_expected_value(op: float) -> mpmath.mpf:
    """Park et al. 2017, eq. 5 as printed, in 40 digits."""
    with mpmath.workdps(40):
        z = 1 + mpmath.mpf(op)
        return z / (z + mpmath.lambertw(-z * mpmath.exp(-z)).real)


def exact_markov(op: float, pages_per_block: int) -> mpmath.mpf:
    """Park et al. 2017, eqs. 6 and 7 as printed, in 40 digits."""
    with mpmath.workdps(40):
        n, z = mpmath.mpf(pages_per_block), 1 + mpmath.mpf(op)
        kz = (1 + 1 / (2 * n)) * z
        x = mpmath.mpf(1) / 2 - n / z * mpmath.lambertw(-kz * mpmath.exp(-kz)).real
        return n / (n - (x - 1))


def relative_error(ours: object, exact: mpmath.mpf) -> float:
    with mpmath.workdps(40):
        return float(abs(mpmath.mpf(float(ours)) / exact - 1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ours", "published"),
    [
        (expected_value(0.28), 2.481361),
        (expected_value(0.147), 4.083750),
        (markov(0.28, 32768), 2.481200),
        (markov(0.147, 32768), 4.083284),
        (markov(0.147, 64), 3.8591),
        (markov(0.28, 64), 2.4020),
        (uniform_distribution(0.28), 2.285714),
        (uniform_distribution(0.147), 3.901361),
    ],
)
def test_the_values_of_paper_1_are_met_to_the_last_printed_digit(
    ours: float, published: float
) -> None:
    digits = len(str(published).split(".")[1])
    assert abs(ours - published) <= 0.5000001 * 10.0**-digits or round(ours, digits) == published


def test_the_means_over_table_4_are_those_of_the_paper() -> None:
    op = np.linspace(0.01, 1, 100)
    reference = expected_value(op)
    assert np.mean(uniform_distribution(op) / reference) == pytest.approx(0.88104, abs=5e-6)
    assert np.mean(markov(op, 64) / reference) == pytest.approx(0.96122, abs=5e-6)
    assert np.mean(markov(op, 128) / reference) == pytest.approx(0.97919, abs=5e-6)


def test_expected_value_agrees_with_40_digit_arithmetic_over_the_whole_domain() -> None:
    ops = np.geomspace(1e-6, 1e3, 901)
    ours = np.asarray(expected_value(ops))
    worst = max(
        relative_error(wa, exact_expected_value(op)) for op, wa in zip(ops, ours, strict=True)
    )
    assert worst < 1e-14


@given(OPS, PAGES)
def test_markov_agrees_with_40_digit_arithmetic(op: float, pages_per_block: int) -> None:
    assert relative_error(markov(op, pages_per_block), exact_markov(op, pages_per_block)) < 1e-13


@given(OPS, PAGES)
def test_markov_is_expected_value_at_a_stretched_op(op: float, pages_per_block: int) -> None:
    k = 1 + 1 / (2 * pages_per_block)
    stretched = op + (1 + op) / (2 * pages_per_block)
    identity = expected_value(stretched) / k
    assert markov(op, pages_per_block) == pytest.approx(identity, rel=1e-12)


@given(st.floats(1e-300, 1e-7))
def test_expected_value_tends_to_one_over_twice_the_op(op: float) -> None:
    # δ = 1 − 2ρ + 8ρ²/3 − …, so A = 1/(2ρ) + 2/3 + O(ρ).
    assert expected_value(op) == pytest.approx(0.5 / op + 2 / 3, rel=1e-14)


@given(OPS, st.integers(1, 1 << 19))
def test_markov_rises_with_pages_per_block_towards_expected_value(op: float, pages: int) -> None:
    small, large, limit = markov(op, pages), markov(op, 2 * pages), expected_value(op)
    assert small < large
    assert large < limit


def test_the_models_broadcast_and_keep_the_shape() -> None:
    op = np.array([[0.1], [0.28], [1.0]])
    pages = np.array([32, 64, 128, 256])
    table = np.asarray(markov(op, pages))
    assert table.shape == (3, 4)
    assert table[1, 1] == markov(0.28, 64)
    assert expected_value(np.full((2, 3, 4), 0.28)).shape == (2, 3, 4)
    assert expected_value([]).shape == (0,)
    assert np.array_equal(markov(op, pages).T, markov(op.T, pages[:, np.newaxis]))
    in_column_order = np.asfortranarray(np.full((2, 3), 0.28))
    assert np.array_equal(expected_value(in_column_order), np.full((2, 3), expected_value(0.28)))
    assert expected_value(op[:, 0]).tolist() == [float(expected_value(v)) for v in op[:, 0]]


@pytest.mark.parametrize("wa", [expected_value(1), markov(np.float32(0.25), np.int32(64))])
def test_a_scalar_gives_a_scalar_that_is_a_python_float(wa: object) -> None:
    assert isinstance(wa, float)


def test_an_array_longer_than_one_slice_equals_its_elements() -> None:
    op = np.geomspace(1e-6, 1e3, 20_001)
    whole = np.asarray(expected_value(op))
    assert [whole[i] for i in (0, 8191, 8192, 16384, 20_000)] == [
        expected_value(op[i]) for i in (0, 8191, 8192, 16384, 20_000)
    ]


@pytest.mark.parametrize(
    "function",
    [
        uniform_distribution,
        expected_value,
        fifo,
        lambda op: markov(op, 64),
        lambda op: effective_op(op, 1, 1),
    ],
)
@pytest.mark.parametrize(
    "op", [0, -0.1, math.nan, math.inf, -math.inf, "0.1", None, True, 1j, [1, [2]], [0.1, 0.0]]
)
def test_an_op_outside_its_domain_is_named_with_the_domain(
    function: Callable[[object], object], op: object
) -> None:
    with pytest.raises(
        WriteampError, match=r"^op(\[1\])? must be finite and greater than 0, .+, not .+"
    ):
        function(op)


@pytest.mark.parametrize("pages", [0, -1, 0.5, 64.5, math.nan, math.inf, "64", None, True])
def test_a_pages_per_block_outside_its_domain_is_named_with_the_domain(pages: object) -> None:
    with pytest.raises(WriteampError, match=r"^pages_per_block must be an integer of at least 1"):
        markov(0.28, pages)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: expected_value([[0.1, 0.2], [math.nan, 0.0]]), r"^op\[1, 0\] must be .* not nan$"),
        (lambda: markov([0.1, 0.2], [64, 128, 256]), r"op \(2,\) and pages_per_block \(3,\)$"),
        (
            lambda: effective_op(0.147, 0.5, [0.5, 0.6]),
            r"^written_fraction\[1\] must be at most the utilization",
        ),
        (lambda: valid_pages([0, 1.5], 900, 16), r"^writes\[1\] must be an integer of at least 0"),
        (
            lambda: block_lifetime([16, 17], 900, 16),
            r"^valid_pages\[1\] must be at most the pages per block, not 17.0",
        ),
    ],
    ids=[
        "first bad element",
        "shapes that do not broadcast",
        "more hot data than data",
        "part of a write",
        "more valid pages than pages",
    ],
)
def test_what_is_wrong_in_arrays_is_named(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(WriteampError, match=sentence):
        call()


def test_the_markov_value_sinks_below_one_where_its_registry_entry_says() -> None:
    for pages in (16, 64, 1024, 32768):
        edge = math.log(2 * pages) - 1
        below, above = (markov(edge * factor, pages) for factor in (0.95, 1.05))
        assert above < 1 < below


def test_the_three_models_are_ordered_as_in_figure_1() -> None:
    values = [uniform_distribution(0.28), markov(0.28, 64), expected_value(0.28)]
    assert all(low < high for low, high in pairwise(values))


def test_blocks_lose_their_pages_as_in_eqs_1_and_2_of_paper_3() -> None:
    pages = 10**6
    # The sum that eq. 1 approximates: writes until the next page becomes invalid, and so on.
    exact = pages * sum(1 / valid for valid in range(65, 129))
    writes = float(block_lifetime(64, pages, 128))
    assert writes == pytest.approx(exact, rel=0.01)
    assert float(valid_pages(round(writes), pages, 128)) == pytest.approx(64, rel=1e-6)
    # At equilibrium, PBA·(1 − δ) writes leave the valid share δ of a victim (eq. 3).
    share = 1 - 1 / float(expected_value(0.28))
    between = round(1.28 * pages * (1 - share))
    assert float(valid_pages(between, pages, 128)) == pytest.approx(128 * share, rel=1e-5)


# Table 6: utilization, hot ratio, ρ̄, and the WA that the paper prints for Expected Value.
TABLE_6 = [
    (0.8, 0.3, 1.15667, 1.19),
    (0.9, 0.2, 1.235, 1.17),
    (0.9, 0.3, 0.82333, 1.35),
    (0.9, 0.4, 0.6175, 1.53),
]


@pytest.mark.parametrize(("utilization", "written_fraction", "effective", "printed"), TABLE_6)
def test_the_effective_op_is_that_of_table_6(
    utilization: float, written_fraction: float, effective: float, printed: float
) -> None:
    found = effective_op(0.147, utilization, written_fraction)
    assert found == pytest.approx(effective, abs=5e-6)
    assert expected_value(found) == pytest.approx(printed, abs=0.01)


def test_a_full_drive_that_is_all_hot_keeps_its_op() -> None:
    assert effective_op(0.147, 1, 1) == 0.147


def test_the_effective_op_broadcasts() -> None:
    used, hot = np.array([[0.8], [0.9]]), np.array([0.2, 0.3, 0.4])
    table = np.asarray(effective_op(0.147, used, hot))
    assert table.shape == (2, 3)
    assert table[1, 1] == effective_op(0.147, 0.9, 0.3)


@pytest.mark.parametrize("share", [0, -0.1, 1.1, math.nan, math.inf, "0.5"])
@pytest.mark.parametrize("name", ["utilization", "written_fraction"])
def test_a_share_outside_its_domain_is_named_with_the_domain(name: str, share: object) -> None:
    shares = {"utilization": 1.0, "written_fraction": 0.5, name: share}
    with pytest.raises(WriteampError, match=rf"^{name} must be greater than 0 and at most 1, not"):
        effective_op(0.147, **shares)  # type: ignore[arg-type]
