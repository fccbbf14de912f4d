"""HCWF and HCWF(swap): against the mean field, and as a user of `simulate` meets them."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest

import writeamp as wa
from forms import FULL
from places import TRACE
from writeamp import meanfield
from writeamp.registry import engine_entries

# Replicas judge a run; here runs are judged by what is known of them.
simulate = partial(wa.simulate, replicas=1)

SETS = 50 if FULL else 15
LOGICAL_BLOCKS = 10_000
MEASURED_DRIVE_WRITES = 60

# Slower settings, of which there are few, would take most of the time.
SLOWEST = 8

# Of 50 intervals at 95%, 43 or fewer hold their value with probability 1%; of 15, 11 or fewer.
LEAST_HELD = 43 if FULL else 11
# A drive of so many blocks is a little off the limit of many (0.02% were seen).
FINITE = 0.0005


def _random_sets() -> list[dict[str, Any]]:
    """Draw settings where the mean field is well conditioned."""
    random = np.random.default_rng(4)
    sets: list[dict[str, Any]] = []
    while len(sets) < SETS:
        setting = {
            "pages_per_block": int(random.choice([8, 16, 32])),
            "spare_factor": round(float(random.uniform(0.06, 0.3)), 3),
            "d": int(random.integers(1, 21)),
            "d_swap": int(random.integers(1, 65)),
            "hot_fraction": round(float(random.uniform(0.03, 0.4)), 3),
            "hot_write_fraction": round(float(random.uniform(0.5, 0.95)), 3),
        }
        point = meanfield.hot_cold_swap(**setting)
        if not point.ill_conditioned and point.relaxation_drive_writes < SLOWEST:
            sets.append(setting)
    return sets


def _simulated(setting: dict[str, Any]) -> wa.Result:
    # Blocks change their kind slowly: a run that stops as soon as it looks steady can be 1% off.
    relaxation = meanfield.hot_cold_swap(**setting).relaxation_drive_writes
    pages = LOGICAL_BLOCKS * setting["pages_per_block"]
    warmup = round((5 + 10 * relaxation) * pages)
    return simulate(
        workload=f"hot-cold:f={setting['hot_fraction']},r={setting['hot_write_fraction']}",
        manager=f"hcwf-swap:d={setting['d']},d_swap={setting['d_swap']}",
        logical_blocks=LOGICAL_BLOCKS,
        pages_per_block=setting["pages_per_block"],
        spare_factor=setting["spare_factor"],
        warmup=warmup,
        writes=warmup + MEASURED_DRIVE_WRITES * pages,
    )


def test_simulated_swaps_hold_the_mean_field_within_their_confidence_intervals() -> None:
    sets = _random_sets()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(_simulated, sets))
    held = 0
    for setting, result in zip(sets, results, strict=True):
        # The whole blocks of the drive have a spare factor of their own.
        exact = {**setting, "spare_factor": result.device.spare_factor}
        predicted = meanfield.hot_cold_swap(**exact).wa
        low, high = result.ci
        held += low - FINITE * predicted <= predicted <= high + FINITE * predicted
        half_width = (high - low) / 2
        assert abs(result.wa - predicted) < 2.5 * half_width + FINITE * predicted, setting
    assert held >= LEAST_HELD


def test_simulated_frontiers_without_swaps_agree_with_their_mean_field() -> None:
    for b, spare_factor, d, f, r in [(32, 0.1, 5, 0.1, 0.9), (16, 0.15, 10, 0.05, 0.8)]:
        result = simulate(
            workload=f"hot-cold:f={f},r={r}",
            manager=f"hcwf:d={d}",
            logical_blocks=LOGICAL_BLOCKS,
            pages_per_block=b,
            spare_factor=spare_factor,
        )
        predicted = meanfield.hot_cold(
            pages_per_block=b,
            spare_factor=result.device.spare_factor,
            d=d,
            hot_fraction=f,
            hot_write_fraction=r,
        ).wa
        assert abs(result.wa / predicted - 1) < 0.0015


DRIVE = {"logical_blocks": 500, "pages_per_block": 16, "spare_factor": 0.12}
HOT_COLD = "hot-cold:f=0.1,r=0.9"


def test_random_victims_amplify_by_one_over_the_spare_factor_whatever_the_workload() -> None:
    result = simulate(
        **{**DRIVE, "logical_blocks": 4000}, workload=HOT_COLD, manager="hcwf:d=1", precision=0.002
    )
    assert result.wa == pytest.approx(1 / result.device.spare_factor, rel=0.005)


def test_the_victim_policy_is_that_of_the_spec_or_of_the_option_but_not_of_both() -> None:
    run = {**DRIVE, "workload": HOT_COLD, "writes": 20_000}
    by_spec = simulate(**run, manager="hcwf:d=7")
    by_option = simulate(**run, manager="hcwf", victims="d-choices:d=7")
    assert by_spec.causes == by_option.causes
    assert by_spec.to_dict()["victims"] == by_option.to_dict()["victims"] == "d-choices:d=7"
    assert simulate(**run, manager="hcwf", victims="greedy").causes != by_spec.causes
    with pytest.raises(wa.WriteampError, match="another victim policy, not both"):
        simulate(**run, manager="hcwf:d=7", victims="greedy")


@pytest.mark.parametrize("manager", ["hcwf", "hcwf-swap:d_swap=100"])
def test_separating_hot_and_cold_data_writes_less_than_one_frontier(manager: str) -> None:
    run = {**DRIVE, "workload": HOT_COLD, "victims": "d-choices:d=10"}
    assert simulate(**run, manager=manager).wa < 0.85 * simulate(**run).wa


@pytest.mark.parametrize("detector", [e.example for e in engine_entries("detectors")])
def test_a_detector_gains_most_of_what_the_oracle_gains(detector: str) -> None:
    nested = detector.replace(":", "(") + ")"
    run = {**DRIVE, "workload": HOT_COLD}
    blind = simulate(**run, victims="d-choices:d=10").wa
    oracle = simulate(**run, manager="hcwf").wa
    found = simulate(**run, manager=f"hcwf:detector={nested}").wa
    assert oracle < found < blind - 0.75 * (blind - oracle)


def test_a_recording_that_was_filled_before_is_refused_for_its_missing_groups() -> None:
    with pytest.raises(wa.WriteampError, match="hcwf needs hints on the group of each page"):
        simulate(trace=TRACE.with_name("sqlite-upserts.parquet"), op=0.15, manager="hcwf")


def test_a_trace_needs_a_detector_and_runs_with_one() -> None:
    with pytest.raises(wa.WriteampError, match="hcwf needs hints on the group of each page"):
        simulate(trace=TRACE, op=0.2, manager="hcwf", repeat=1)
    result = simulate(trace=TRACE, op=0.2, manager="hcwf:detector=bloom", repeat=1)
    assert result.wa > 1


@pytest.mark.parametrize("workload", [e.example for e in engine_entries("workloads")])
def test_every_synthetic_workload_tells_its_hot_pages(workload: str) -> None:
    result = simulate(**DRIVE, workload=workload, manager="hcwf-swap", writes=20_000)
    assert result.wa >= 1


@pytest.mark.parametrize("leveler", ["static:threshold=4", "dual-pool:threshold=4"])
@pytest.mark.parametrize("manager", ["single", "hcwf"])
def test_moving_data_evens_out_the_wear_and_is_counted_as_such(leveler: str, manager: str) -> None:
    run = {**DRIVE, "workload": "hot-cold:f=0.02,r=0.98", "manager": manager, "writes": 800_000}
    plain = simulate(**run, victims="greedy")
    leveled = simulate(**run, victims="greedy", wear_leveling=leveler)
    spread = [np.ptp(result.erases_of_block) for result in (plain, leveled)]
    assert spread[1] < spread[0] / 3
    assert plain.causes["wear_leveling"] == 0 < leveled.causes["wear_leveling"]
    assert leveled.flash_pages == sum(leveled.causes.values())


def test_opening_the_youngest_free_block_moves_nothing_and_evens_out_some_wear() -> None:
    run = {**DRIVE, "workload": HOT_COLD, "manager": "hcwf", "writes": 800_000}
    plain = simulate(**run)
    leveled = simulate(**run, wear_leveling="youngest-free:reserve=8")
    assert leveled.causes["wear_leveling"] == 0
    assert leveled.erases_of_block.std() < plain.erases_of_block.std()
    assert leveled.wa > plain.wa  # the reserve is taken from the spare space
