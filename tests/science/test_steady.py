"""Witnesses of the steady-state rule: series whose mean, warm-up and drift are known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.signal import lfilter  # type: ignore[import-untyped]

from writeamp.errors import WriteampError
from writeamp.statistics.steady import SteadyState, analyse

PAGES = 1_000_000  # a host page count per interval that makes rounding to whole pages harmless
MEAN, NOISE = 2.5, 0.02
# Reasons of a run that changes all the time.
AT_ANY_TIME = ("steps from", "warm-up in the second half", "too long")


def ar1(rng: np.random.Generator, count: int, phi: float) -> npt.NDArray[np.float64]:
    """A stationary AR(1) series of unit variance."""
    shocks = rng.standard_normal(count + 200) * math.sqrt(1 - phi * phi)
    return np.asarray(lfilter([1.0], [1.0, -phi], shocks)[200:])


def analyse_wa(wa: npt.NDArray[np.float64], **options: Any) -> SteadyState:
    return analyse(np.full(wa.size, PAGES), np.rint(wa * PAGES), **options)


def replicate(
    count: int, phi: float, shape: npt.NDArray[np.float64], replications: int, seed: int
) -> list[SteadyState]:
    rng = np.random.default_rng(seed)
    return [analyse_wa(MEAN + NOISE * ar1(rng, count, phi) + shape) for _ in range(replications)]


def warm_up(count: int, amplitude: float, tau: float) -> npt.NDArray[np.float64]:
    """An exponential approach from `amplitude` standard deviations of the noise below the mean."""
    return -NOISE * amplitude * np.exp(-np.arange(count) / tau)


@pytest.mark.parametrize("amplitude", [0, 10])
@pytest.mark.parametrize(
    ("count", "phi"), [(200, 0.0), (200, 0.5), (200, 0.8), (400, 0.8), (1000, 0.8)]
)
def test_the_interval_covers_the_truth_in_92_to_97_5_percent_of_runs(
    count: int, phi: float, amplitude: float
) -> None:
    runs = replicate(count, phi, warm_up(count, amplitude, 10), 1000, seed=1)
    covered = np.mean([run.ci_low <= MEAN <= run.ci_high for run in runs])
    assert 0.92 <= covered <= 0.975


def cancelling(rng: np.random.Generator, count: int, theta: float) -> npt.NDArray[np.float64]:
    """Noise of which an interval has the share theta more, and the next one less."""
    shocks = rng.standard_normal(count + 1)
    return shocks[1:] - theta * shocks[:-1]


@pytest.mark.parametrize("theta", [0.0, 0.5, 0.8])
@pytest.mark.parametrize("count", [200, 1000])
def test_noise_that_cancels_in_the_mean_does_not_widen_the_interval(
    count: int, theta: float
) -> None:
    rng = np.random.default_rng(12)
    runs = [analyse_wa(MEAN + NOISE * cancelling(rng, count, theta)) for _ in range(600)]
    deviations = [abs(run.wa - MEAN) / run.own_half_width for run in runs]
    assert 0.25 <= np.median(deviations) <= 0.37
    assert 0.93 <= np.mean(np.array(deviations) <= 1) <= 0.985


@pytest.mark.parametrize(("phi", "worst"), [(0.0, 0.05), (0.5, 0.06), (0.8, 0.08)])
@pytest.mark.parametrize("count", [200, 400])
def test_stationary_noise_is_seldom_called_unsteady(count: int, phi: float, worst: float) -> None:
    runs = replicate(count, phi, np.zeros(count), 500, seed=2)
    assert np.mean([not run.steady for run in runs]) <= worst


def test_the_interval_narrows_with_the_square_root_of_the_length() -> None:
    widths = [
        np.median([run.ci_high - run.ci_low for run in replicate(n, 0.5, np.zeros(n), 200, seed=3)])
        for n in (400, 1600)
    ]
    assert widths[0] / widths[1] == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("phi", [0.0, 0.8])
def test_a_known_warm_up_is_cut_where_it_ends(phi: float) -> None:
    # 10σ·e^(−t/10) is below one σ after 23 intervals and below a tenth after 46.
    runs = replicate(400, phi, warm_up(400, 10, 10), 300, seed=4)
    cuts = np.array([run.warmup_pages for run in runs]) / PAGES
    assert np.percentile(cuts, 5) >= 15
    assert 23 <= np.median(cuts) <= 60
    assert cuts.max() <= 200


def test_no_warm_up_costs_little_of_the_run() -> None:
    runs = replicate(400, 0.0, np.zeros(400), 300, seed=5)
    assert np.mean([run.warmup_pages for run in runs]) < 0.05 * 400 * PAGES


@pytest.mark.parametrize(
    ("shape", "reasons"),
    [
        (lambda t: 0.125 * t, ["still rises", *AT_ANY_TIME]),
        (lambda t: -0.125 * t, ["still falls", *AT_ANY_TIME]),
        (lambda t: 0.1 * (t >= 0.6), ["warm-up in the second half"]),
        (lambda t: 0.1 * (t >= 0.8), ["steps from", "warm-up in the second half"]),
        (lambda t: 0.1 * (t >= 0.9), ["steps from", "still rises"]),
        (lambda t: -0.1 * (t >= 0.95), ["steps from", "still falls"]),
        (lambda t: -np.exp(-5 * t), ["warm-up in the second half", "warm-up too long"]),
        (lambda t: -0.1 * (t < 0.4), ["warm-up too long", "warm-up in the second half"]),
    ],
    ids=["rise", "fall", "step 60%", "step 80%", "step 90%", "step 95%", "slow", "long"],
)
@pytest.mark.parametrize("count", [200, 400])
def test_a_run_that_has_not_settled_is_reported_with_the_reason(
    shape: Any, reasons: list[str], count: int
) -> None:
    runs = replicate(count, 0.5, shape(np.arange(count) / count), 200, seed=6)
    unsteady = [run for run in runs if not run.steady]
    assert len(unsteady) >= 190
    for run in unsteady:
        assert any(reason in run.reason for reason in reasons), run.reason
        assert "\n" not in run.reason


def test_a_drift_too_small_to_matter_is_not_called_one() -> None:
    rng = np.random.default_rng(7)
    wa = MEAN + 1e-5 * rng.standard_normal(400) + 0.0005 * MEAN * np.arange(400) / 400
    assert analyse_wa(wa).steady


def test_a_repeated_pattern_is_steady_and_its_interval_covers_its_mean() -> None:
    pattern = np.random.default_rng(8).exponential(1.0, 40)
    run = analyse_wa(1.0 + np.tile(pattern, 5))
    assert run.steady
    assert run.ci_low <= 1.0 + pattern.mean() <= run.ci_high


@pytest.mark.parametrize(("host", "flash", "wa"), [(4096, 4096, 1.0), (4096, 9001, 9001 / 4096)])
def test_a_constant_run_is_steady_with_an_interval_of_no_width(
    host: int, flash: int, wa: float
) -> None:
    run = analyse(np.full(137, host), np.full(137, flash))
    assert (run.wa, run.ci_low, run.ci_high) == (wa, wa, wa)
    assert run.steady
    assert run.warmup_pages == 0


def test_a_constant_run_after_a_warm_up_loses_the_warm_up_and_nothing_that_counts() -> None:
    run = analyse(np.full(200, 100), np.r_[np.full(20, 100), np.full(180, 300)])
    assert run.wa == run.ci_low == run.ci_high == 3.0
    assert 20 * 100 <= run.warmup_pages <= 30 * 100


def test_a_shorter_last_interval_counts_by_its_pages() -> None:
    host = np.r_[np.full(40, 1000), 10]
    flash = np.r_[np.tile([1990, 2010], 20), 30]
    run = analyse(host, flash, warmup=0)
    assert run.wa == (40 * 2000 + 30) / 40_010
    assert run.ci_low < run.wa < run.ci_high
    assert run.ci_high - run.ci_low < 0.02  # as its own unweighted interval it would weigh 1/30


@pytest.mark.parametrize("intervals", [1, 9])
def test_fewer_than_ten_intervals_have_a_mean_and_no_interval(intervals: int) -> None:
    run = analyse(np.full(intervals, 100), np.full(intervals, 250), warmup=0)
    assert run.wa == 2.5
    assert math.isnan(run.ci_low)
    assert math.isnan(run.ci_high)
    assert not run.steady
    assert run.reason.startswith("too short")
    assert run.batches == 0


def test_ten_intervals_are_enough() -> None:
    run = analyse(np.full(10, 100), np.array([249, 251] * 5), warmup=0)
    assert run.steady
    assert run.ci_low < 2.5 < run.ci_high
    assert run.batches == 10


def test_a_given_warm_up_is_cut_exactly() -> None:
    wa = MEAN + warm_up(100, 10, 5)
    run = analyse_wa(wa, warmup=30 * PAGES)
    assert run.warmup_pages == 30 * PAGES
    assert run.wa == pytest.approx(np.rint(wa * PAGES)[30:].sum() / (70 * PAGES), rel=1e-15)
    assert analyse_wa(wa, warmup=0).warmup_pages == 0


def test_a_given_warm_up_may_end_a_first_interval_of_another_length() -> None:
    host = np.r_[777, np.full(50, 1000)]
    run = analyse(host, 2 * host, warmup=777)
    assert (run.warmup_pages, run.wa) == (777, 2.0)


@pytest.mark.parametrize(
    ("warmup", "message"),
    [
        (150, "not at 150 host pages: the nearest are 100 and 200"),
        (2000, "less than the 2000 host pages"),
        (-1, "at least 0"),
        ("all", "'auto' or a number of host pages, not 'all'"),
    ],
)
def test_a_warm_up_that_cannot_be_cut_is_refused(warmup: Any, message: str) -> None:
    with pytest.raises(WriteampError, match=message):
        analyse(np.full(20, 100), np.full(20, 200), warmup=warmup)


@pytest.mark.parametrize(
    ("host", "flash", "message"),
    [
        ([], [], "host_pages is empty"),
        ([100, 100], [200], "equal length"),
        ([[100]], [[200]], "one-dimensional"),
        ([100, 0], [200, 200], "host_pages must be finite and greater than 0"),
        ([100, math.nan], [200, 200], "host_pages must be finite"),
        ([100, 100], [200, -1], "flash_pages must be finite and at least 0"),
    ],
)
def test_counts_that_make_no_sense_are_refused(host: Any, flash: Any, message: str) -> None:
    with pytest.raises(WriteampError, match=message):
        analyse(host, flash)


def test_batches_that_stay_correlated_are_said_to_be() -> None:
    rng = np.random.default_rng(11)
    reasons = [analyse_wa(MEAN + NOISE * ar1(rng, 100, 0.95)).reason for _ in range(100)]
    assert any("still correlated" in reason for reason in reasons)
