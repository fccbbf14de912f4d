"""HCWF and HCWF(swap): simulation against the mean field.

That knows no drive of finite size.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

import writeamp as wa
from forms import FULL
from writeamp import meanfield

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
