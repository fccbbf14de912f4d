"""Several runs judged together: effects of seeds, slow trends, changes of the workload."""

from __future__ import annotations

import math
import re
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest

import writeamp as wa
from writeamp.runs import runner
from writeamp.statistics.drift import common_trend, trend
from writeamp.statistics.judging import Intervals, Schedule, judge

PAGES = 1_000_000
MEAN, NOISE = 2.5, 0.02
CALM = Schedule()


def run_of(shape: npt.NDArray[np.float64], rng: np.random.Generator) -> Intervals:
    """A run whose WA follows a shape, with independent noise."""
    host = np.full(shape.size, float(PAGES))
    return host, np.rint((shape + NOISE * rng.standard_normal(shape.size)) * PAGES)


def runs(shape: npt.NDArray[np.float64], seed: int, count: int = 3) -> list[Intervals]:
    rng = np.random.default_rng(seed)
    return [run_of(shape, rng) for _ in range(count)]


def test_a_trend_per_doubling_is_found_with_its_error() -> None:
    middles = np.arange(400) + 0.5
    shape = MEAN - 0.05 * np.log2(middles / 400)
    found = [trend(*one, 0) for seed in range(50) for one in runs(shape, seed, 1)]
    slopes = np.array([each.per_doubling for each in found])
    assert slopes.mean() == pytest.approx(-0.05, rel=0.03)
    errors = np.array([each.error for each in found])
    assert errors.mean() == pytest.approx(slopes.std(), rel=0.3)


def test_runs_that_disagree_on_their_trend_have_none_that_is_certain() -> None:
    rng = np.random.default_rng(1)
    middles = np.arange(400) + 0.5
    shapes = [MEAN + slope * np.log2(middles) for slope in (-0.05, 0.05, 0.0)]
    found = common_trend([trend(*run_of(shape, rng), 0) for shape in shapes])
    assert abs(found.per_doubling) < 2 * found.error


def test_what_a_seed_decides_for_good_is_in_the_interval() -> None:
    rng = np.random.default_rng(2)
    team = [run_of(np.full(200, level), rng) for level in (2.40, 2.45, 2.37)]
    found = judge(team, CALM)
    assert found.ci_low < 2.37
    assert found.ci_high > 2.45
    assert found.own_half_width < 0.01
    assert found.wa == judge(team[:1], CALM).wa
    assert found.wa_of_replicas == pytest.approx([2.45, 2.37], abs=0.01)


def test_a_slow_trend_that_hides_in_the_noise_of_each_run_is_found_in_all_together() -> None:
    shape = MEAN - 0.006 * np.log2(np.arange(200) + 0.5)
    alone = [judge(runs(shape, seed, 1), CALM).steady for seed in range(40)]
    together = [judge(runs(shape, seed, 9), CALM) for seed in range(40)]
    assert np.mean(alone) > 0.5
    assert np.mean([each.steady for each in together]) < 0.2
    reasons = [each.reason for each in together if not each.steady]
    assert any("falls by" in reason and "ten times longer" in reason for reason in reasons)


def test_stationary_runs_are_seldom_refused_and_their_interval_covers_the_mean() -> None:
    found = [judge(runs(np.full(200, MEAN), seed), CALM) for seed in range(200)]
    assert np.mean([each.steady for each in found]) > 0.9
    assert np.mean([each.ci_low <= MEAN <= each.ci_high for each in found]) > 0.95


def test_the_interval_of_several_runs_has_its_nominal_width() -> None:
    found = [
        judge(
            runs(np.full(200, MEAN), seed),
            CALM,
            longer=runs(np.full(600, MEAN), 10_000 + seed, 1)[0],
        )
        for seed in range(500)
    ]
    deviations = [2 * abs(each.wa - MEAN) / (each.ci_high - each.ci_low) for each in found]
    assert 0.28 <= np.median(deviations) <= 0.36
    assert np.mean([each.ci_low <= MEAN <= each.ci_high for each in found]) >= 0.94


def test_intervals_of_small_drives_have_their_nominal_width_and_cover() -> None:
    drives = [small_uniform(seed) for seed in range(80)]
    mean = np.mean([wa for each in drives for wa in (each.wa, *each.steady_state.wa_of_replicas)])
    deviations = [2 * abs(each.wa - mean) / (each.ci[1] - each.ci[0]) for each in drives]
    assert 0.28 <= np.median(deviations) <= 0.36
    assert np.mean([each.ci[0] <= mean <= each.ci[1] for each in drives]) >= 0.93


def small_uniform(seed: int) -> wa.Result:
    return wa.simulate(blocks=128, pages_per_block=32, op=0.28, writes=40_000, seed=seed)


def test_a_state_that_a_longer_run_leaves_is_not_steady() -> None:
    rng = np.random.default_rng(3)
    longer = np.concatenate([np.full(200, MEAN), np.linspace(MEAN, MEAN - 0.4, 400)])
    team = runs(np.full(200, MEAN), 4)
    assert judge(team, CALM).steady
    found = judge(team, CALM, longer=run_of(longer, rng))
    assert not found.steady
    assert found.ci_low < MEAN - 0.2


@pytest.mark.parametrize(
    ("schedule", "reason"),
    [
        (Schedule(last_change=300 * PAGES), "changes after 300,000,000 writes, after the end"),
        (Schedule(cycle=80 * PAGES), r"too short: 2\.\d cycles of 80,000,000 writes"),
    ],
)
def test_a_change_that_the_run_does_not_cover_is_not_steady(
    schedule: Schedule, reason: str
) -> None:
    found = judge(runs(np.full(200, MEAN), 5), schedule)
    assert not found.steady
    assert re.search(reason, found.reason)


def test_what_comes_before_the_last_change_is_warm_up() -> None:
    shape = np.concatenate([np.full(50, 4.0), np.full(150, MEAN)])
    found = judge(runs(shape, 8), Schedule(last_change=50 * PAGES))
    assert found.steady
    assert found.warmup_pages >= 50 * PAGES
    assert found.wa == pytest.approx(MEAN, abs=0.01)
    given = judge(runs(shape, 8), Schedule(last_change=50 * PAGES), warmup=0)
    assert not given.steady


def test_cycles_are_measured_whole() -> None:
    phase = np.repeat([2.0, 3.0], [10, 20])
    shape = np.tile(phase, 20)[:570]  # the last cycle is cut
    found = judge(runs(shape, 7), Schedule(cycle=30 * PAGES))
    assert (570 * PAGES - found.warmup_pages) % (30 * PAGES) == 0
    assert found.wa == pytest.approx(float(phase.mean()), abs=0.01)


def test_exactly_three_cycles_are_enough_where_intervals_do_not_divide_them() -> None:
    rng = np.random.default_rng(8)
    host = np.full(145, 7.0)
    team = [(host, np.rint(host * 100 * (MEAN + NOISE * rng.standard_normal(145)))) for _ in "ab"]
    assert "cycles" not in judge(team, Schedule(cycle=300)).reason


def test_a_given_warmup_is_cut_from_every_run_however_long() -> None:
    shape = np.concatenate([np.full(150, 4.0), np.full(50, MEAN)])
    found = judge(runs(shape, 9), CALM, warmup=150 * PAGES)
    assert found.wa_of_replicas == pytest.approx([MEAN, MEAN], abs=0.02)
    assert found.ci_high < 2.6


def test_a_shorter_replica_is_judged_by_its_second_half_at_least() -> None:
    first, second = runs(np.full(400, MEAN), 10, 2)
    short = tuple(column[:100] for column in second)
    found = judge([first, short], CALM, warmup=200 * PAGES)  # type: ignore[list-item]
    assert found.wa_of_replicas == pytest.approx([MEAN], abs=0.02)


def test_replicas_are_as_long_as_the_changes_of_the_workload_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runner, "_MOST_OF_REPLICAS", 1)
    monkeypatch.setattr(runner, "_MOST_PAGES_OF_REPLICAS", 1)
    swapping = "groups:sizes=1/9,freq=9/1,swap_at=60000"
    found = small(workload=swapping, writes=240_000, warmup=70_000)
    assert found.steady_state.wa_of_replicas == pytest.approx([found.wa] * 2, rel=0.05)


def small(**settings: object) -> wa.Result:
    return wa.simulate(blocks=256, pages_per_block=32, op=0.15, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "settings",
    [
        {"workload": "zipf:s=0.99", "manager": "sfs", "writes": 71_230, "seed": 42},
        {"workload": "hot-cold:f=0.01,r=0.99", "manager": "sepgc", "victims": "cost-benefit",
         "writes": 35_615, "seed": 50},
        {"workload": "phases:writes=1e5/2e5,of=uniform/zipf", "writes": 71_230},
        {"workload": "groups:sizes=1/1,freq=1/9,swap_at=100000", "writes": 71_230},
    ],
)  # fmt: skip
def test_a_run_that_has_not_seen_what_comes_is_not_called_steady(settings: dict) -> None:
    assert not small(**settings).steady


def test_replicas_change_neither_the_counters_nor_the_series() -> None:
    alone, together = (small(writes=50_000, replicas=replicas) for replicas in (1, 3))
    assert alone.wa == together.wa
    assert alone.causes == together.causes
    assert alone.series.equals(together.series)
    assert len(together.steady_state.wa_of_replicas) == 2
    assert together.ci[1] - together.ci[0] >= alone.ci[1] - alone.ci[0]


def test_replicas_have_seeds_of_their_own() -> None:
    found = small(writes=50_000, replicas=4)
    assert len({found.wa, *found.steady_state.wa_of_replicas}) == 4


def test_the_same_seed_is_judged_the_same() -> None:
    first, second = (small(writes=50_000, seed=3) for _ in range(2))
    assert first.ci == second.ci
    assert not math.isnan(first.ci[0])


def test_replicas_that_do_not_fit_the_memory_are_left_out_with_a_note(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needed = wa.device(blocks=256, pages_per_block=32, op=0.15)
    room = 2.5 * needed.geometry.bytes_needed(needed.logical_pages)
    memory = SimpleNamespace(available=room)
    monkeypatch.setattr(runner.psutil, "virtual_memory", lambda: memory)
    found = small(writes=50_000)
    assert len(found.steady_state.wa_of_replicas) == 1
    assert any("judged by 2 of 3 runs" in note for note in found.notes)


PHASE_PAGES = 100_000
PHASES = np.repeat([2.0, 3.0], [10, 20])
CYCLE = Schedule(cycle=PHASES.size * PHASE_PAGES)


def cycles_of(levels: npt.NDArray[np.float64], seed: int, noise: float = 0.01) -> Intervals:
    """A run with a cycle of each level, a factor of its phases, and noise in each interval."""
    rng = np.random.default_rng(seed)
    wa = np.concatenate([level * PHASES for level in levels])
    wa += noise * rng.standard_normal(wa.size)
    return np.full(wa.size, float(PHASE_PAGES)), np.rint(wa * PHASE_PAGES)


def teams_of_cycles(levels: npt.NDArray[np.float64], seed: int) -> list[Intervals]:
    return [cycles_of(levels, 3 * seed + number) for number in range(3)]


@pytest.mark.parametrize("cycles", [3, 5, 12, 40])
def test_the_contrast_of_phases_widens_no_interval(cycles: int) -> None:
    found = judge(teams_of_cycles(np.ones(cycles), 1), CYCLE)
    assert found.ci_low <= PHASES.mean() <= found.ci_high
    assert found.ci_high - found.ci_low < 0.05 * found.wa


@pytest.mark.parametrize("cycles", [3, 6, 12])
def test_cycles_that_are_alike_are_seldom_refused_and_their_interval_covers(cycles: int) -> None:
    found = [judge(teams_of_cycles(np.ones(cycles), seed), CYCLE) for seed in range(60)]
    assert np.mean([one.steady for one in found]) > 0.8
    covered = [one.ci_low <= PHASES.mean() <= one.ci_high for one in found if one.steady]
    assert np.mean(covered) >= 0.9


def test_what_differs_from_cycle_to_cycle_is_in_the_interval() -> None:
    rng = np.random.default_rng(4)
    found = [
        judge([cycles_of(1 + 0.02 * rng.standard_normal(10), seed)], CYCLE) for seed in range(300)
    ]
    covered = [one.ci_low <= PHASES.mean() <= one.ci_high for one in found if one.steady]
    assert len(covered) > 40
    assert np.mean(covered) >= 0.9


def test_cycles_that_go_on_rising_are_not_steady() -> None:
    found = judge(teams_of_cycles(1 + 0.01 * np.arange(12), 5), CYCLE)
    assert not found.steady


def test_a_given_warm_up_has_the_interval_of_the_whole_cycles_after_it() -> None:
    found = judge(teams_of_cycles(np.ones(12), 6), CYCLE, warmup=6 * PHASES.size * PHASE_PAGES)
    assert found.steady
    assert found.ci_high - found.ci_low < 0.02 * found.wa
    part = judge(teams_of_cycles(np.ones(12), 6), CYCLE, warmup=(6 * PHASES.size - 5) * PHASE_PAGES)
    assert part.warmup_pages == (6 * PHASES.size - 5) * PHASE_PAGES
    assert part.ci_low <= PHASES.mean() <= part.ci_high
