"""Loops over traces: when the loop makes WA, and when the workload does."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import writeamp as wa
from page_traces import TRIM, WRITE, page_trace
from places import TRACE
from writeamp.traces.looping import analyse_loop


def permutation(pages: int, seed: int = 1) -> npt.NDArray[np.int64]:
    return np.random.default_rng(seed).permutation(pages)


def looped(pages: npt.ArrayLike, **settings: object) -> wa.Result:
    return wa.simulate(
        trace=page_trace(pages), op=0.15, pages_per_block=32, spread=False, **settings
    )  # type: ignore[arg-type]


def test_pages_written_once_a_pass_are_overwritten_in_order() -> None:
    assert analyse_loop(page_trace(permutation(4000)), 32).in_order == 1


def test_pages_written_twice_in_one_moment_count_as_written_once() -> None:
    twice = np.repeat(permutation(4000), 2)
    found = analyse_loop(page_trace(twice), 32)
    # A moment that ends between the two writes of a page counts it twice.
    assert found.in_order == pytest.approx(1, abs=0.01)


def test_two_different_orders_in_a_pass_leave_no_order() -> None:
    found = analyse_loop(page_trace([*permutation(4000, 1), *permutation(4000, 2)]), 32)
    assert found.in_order < 0.02
    assert found.by_next_pass == pytest.approx(0.5, abs=0.01)


def test_what_the_trace_trims_itself_is_not_the_loops_doing() -> None:
    pages = permutation(4000)
    op = np.repeat([WRITE, TRIM], 4000)
    found = analyse_loop(page_trace([*pages, *pages], op), 32)
    assert (found.in_order, found.by_next_pass) == (0, 0)


def test_shares_do_not_depend_on_how_a_trace_is_cut_into_requests() -> None:
    whole, cut = page_trace([0], counts=[3000]), page_trace(np.arange(3000))
    assert analyse_loop(whole, 32) == analyse_loop(cut, 32)


@pytest.mark.parametrize("repeat", [2, 20])
def test_a_looped_permutation_is_not_steady_and_names_the_loop(repeat: int) -> None:
    found = looped(permutation(14_000), repeat=repeat)
    assert found.wa == 1 or repeat == 2
    assert not found.steady
    assert "the loop determines this WA" in found.steady_state.reason
    assert any("--precondition random" in sentence for sentence in found.warnings)


def test_one_pass_is_no_loop() -> None:
    assert "loop" not in looped(permutation(14_000), repeat=1).steady_state.reason


def test_advice_on_a_trace_that_must_not_loop_does_not_lead_in_a_circle() -> None:
    advice = looped(permutation(14_000), repeat=1, precondition="random:1").advice
    assert advice == [
        "the trace is too short for a steady WA; use a longer trace, or a smaller drive"
    ]
    assert "--precondition random" in looped(permutation(14_000), repeat=1).advice[0]


def test_passes_that_are_asked_for_and_not_run_are_no_loop() -> None:
    found = looped(permutation(14_000), repeat=10, writes=7_000)
    assert "loop" not in found.steady_state.reason
    assert not any("looped" in note for note in found.notes)
    assert any("increase --writes" in sentence for sentence in found.warnings)


def test_a_pass_that_fits_the_spare_space_is_not_steady() -> None:
    pages = np.random.default_rng(1).integers(0, 250, 1000)
    found = wa.simulate(
        trace=page_trace(pages), repeat=20, blocks=512, pages_per_block=32, op=0.15,
        spread=False,
    )  # fmt: skip
    assert not found.steady
    assert "spare ones" in found.steady_state.reason


def test_a_loop_over_a_long_trace_keeps_its_wa_and_is_not_accused() -> None:
    draw = np.random.default_rng(2)
    found = looped(draw.integers(0, 4000, 32_000), repeat=6)
    endless = wa.simulate(
        workload="uniform", logical_pages=4000, op=0.15, pages_per_block=32, precision=0.005
    )
    assert found.steady
    assert found.wa == pytest.approx(endless.wa, rel=0.02)


def test_a_loop_over_a_short_trace_changes_its_wa_and_is_accused() -> None:
    """The reason for the limit: uniform writes of one drive write, over and over."""
    draw = np.random.default_rng(3)
    _, pages = np.unique(draw.integers(0, 4000, 4000), return_inverse=True)
    found = looped(pages, repeat=30)
    endless = wa.simulate(
        workload="uniform", logical_pages=int(pages.max()) + 1, op=0.15, pages_per_block=32,
        precision=0.005,
    )  # fmt: skip
    assert found.wa - 1 < 0.92 * (endless.wa - 1)
    assert not found.steady


def test_the_postgres_trace_is_not_accused() -> None:
    found = wa.simulate(trace=TRACE, repeat=5, op=0.1, spread=False)
    assert found.steady
