"""Loads that go in cycles: a cycle is compared with cycles, never a phase with another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from writeamp.statistics.judging import Intervals, Schedule, judge

PAGES = 100_000
PHASES = np.repeat([2.0, 3.0], [10, 20])
CYCLE = Schedule(cycle=PHASES.size * PAGES)


def run_of(levels: npt.NDArray[np.float64], seed: int, noise: float = 0.01) -> Intervals:
    """A run with a cycle of each level, a factor of its phases, and noise in each interval."""
    rng = np.random.default_rng(seed)
    wa = np.concatenate([level * PHASES for level in levels])
    wa += noise * rng.standard_normal(wa.size)
    return np.full(wa.size, float(PAGES)), np.rint(wa * PAGES)


def team(levels: npt.NDArray[np.float64], seed: int) -> list[Intervals]:
    return [run_of(levels, 3 * seed + number) for number in range(3)]


@pytest.mark.parametrize("cycles", [3, 5, 12, 40])
def test_the_contrast_of_phases_widens_no_interval(cycles: int) -> None:
    found = judge(team(np.ones(cycles), 1), CYCLE)
    assert found.ci_low <= PHASES.mean() <= found.ci_high
    assert found.ci_high - found.ci_low < 0.05 * found.wa


@pytest.mark.parametrize("cycles", [3, 6, 12])
def test_cycles_that_are_alike_are_seldom_refused_and_their_interval_covers(cycles: int) -> None:
    found = [judge(team(np.ones(cycles), seed), CYCLE) for seed in range(60)]
    assert np.mean([one.steady for one in found]) > 0.8
    covered = [one.ci_low <= PHASES.mean() <= one.ci_high for one in found if one.steady]
    assert np.mean(covered) >= 0.9


def test_what_differs_from_cycle_to_cycle_is_in_the_interval() -> None:
    rng = np.random.default_rng(4)
    found = [judge([run_of(1 + 0.02 * rng.standard_normal(10), seed)], CYCLE) for seed in range(80)]
    covered = [one.ci_low <= PHASES.mean() <= one.ci_high for one in found if one.steady]
    assert len(covered) > 40
    assert np.mean(covered) >= 0.9


def test_cycles_that_go_on_rising_are_not_steady() -> None:
    found = judge(team(1 + 0.01 * np.arange(12), 5), CYCLE)
    assert not found.steady


def test_a_given_warm_up_has_the_interval_of_the_whole_cycles_after_it() -> None:
    found = judge(team(np.ones(12), 6), CYCLE, warmup=6 * PHASES.size * PAGES)
    assert found.steady
    assert found.ci_high - found.ci_low < 0.02 * found.wa
    part = judge(team(np.ones(12), 6), CYCLE, warmup=(6 * PHASES.size - 5) * PAGES)
    assert part.warmup_pages == (6 * PHASES.size - 5) * PAGES
    assert part.ci_low <= PHASES.mean() <= part.ci_high
