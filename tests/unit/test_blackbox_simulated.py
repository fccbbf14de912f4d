"""Simulated targets: points in virtual time, from one saved state, to a stated precision."""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pytest

from collecting import MIXED, READS, WRITES, measure_on, measured_on, small
from writeamp._engine import TIMED_CAUSES
from writeamp.devices.profile import profile, profile_names
from writeamp.errors import WriteampError
from writeamp.learn.blackbox.space import KIB, WorkloadPoint
from writeamp.learn.blackbox.targets.simulated import (
    DEFAULT_BYTES,
    SimulatedSettings,
    SimulatedTarget,
    scaled,
)
from writeamp.learn.blackbox.targets.stopping import RunJudgement, wa_course
from writeamp.statistics.steady import SteadyState

POINTS = [READS, WRITES, MIXED]
LARGER_WRITES = replace(WRITES, queue_depth=16, write_size_bytes=8 * KIB)


@pytest.mark.parametrize("point", POINTS)
def test_what_is_outstanding_is_throughput_times_latency(point: WorkloadPoint) -> None:
    found = measured_on(small(), point)
    outstanding = found.throughput_iops * found.latency_us / 1e6
    assert outstanding == pytest.approx(point.queue_depth, rel=0.1)


def test_bandwidth_is_that_of_the_requests() -> None:
    found = measured_on(small(), READS)
    assert found.bandwidth_mb_s == pytest.approx(found.throughput_iops * 4096 / 1e6)


def test_latencies_of_both_directions_make_the_mean_and_lie_in_order() -> None:
    found = measured_on(small(most_s=1.0), MIXED)
    assert found.read_latency_us is not None
    assert found.write_latency_us is not None
    means = sorted([found.read_latency_us, found.write_latency_us])
    assert means[0] <= found.latency_us <= means[1]
    assert found.latency_p50_us <= found.latency_p99_us


def test_reads_have_no_latency_of_writes_and_no_write_amplification() -> None:
    found = measured_on(small(), READS)
    assert (found.write_latency_us, found.wa) == (None, None)
    assert found.read_latency_us == pytest.approx(found.latency_us)


def test_writes_that_are_all_in_the_cache_still_have_no_write_amplification() -> None:
    found = measured_on(small(most_s=0.03), replace(WRITES, queue_depth=1))
    assert found.write_latency_us is not None
    assert found.wa is None


def test_random_writes_amplify_as_those_of_the_preconditioning() -> None:
    found = measured_on(small(most_s=20.0), WRITES)
    assert found.wa is not None
    assert 5 < found.wa < 9  # 7.1 in the rounds of the preconditioning, at op 0.074


def test_a_point_of_reads_ends_as_soon_as_it_is_precise() -> None:
    found = measured_on(small(most_s=60.0), READS)
    assert found.precision is not None
    assert found.precision <= 0.01
    assert found.steady
    assert found.requests >= 1000
    assert found.run_s < 1


def test_a_coarser_precision_is_reached_earlier() -> None:
    runs = [measured_on(small(most_s=60.0, precision=one), READS).run_s for one in (0.001, 0.03)]
    assert runs[1] < runs[0]


def test_a_point_that_is_not_precise_ends_with_its_time() -> None:
    found = measured_on(small(most_s=2.0), WRITES)
    assert found.precision is not None
    assert found.precision > 0.01
    assert found.run_s == pytest.approx(2.0, rel=0.1)


def test_writes_do_not_end_while_cache_and_free_blocks_still_take_them_in() -> None:
    found = measured_on(small(most_s=5.0, precision=0.5), WRITES)
    assert found.run_s > 0.5
    assert found.wa is not None
    assert found.wa > 3


def test_a_drive_that_lives_on_free_blocks_goes_on() -> None:
    """The cache takes in 70 MB/s, the flash 39: until no block is free, nothing drifts."""
    settings = SimulatedSettings(precision=0.02, most_s=20.0)
    found = measured_on(SimulatedTarget("x25-m", size="2GiB", settings=settings), LARGER_WRITES)
    assert found.bandwidth_mb_s < 45
    assert found.wa is not None
    assert found.wa > 6.5


def test_the_write_amplification_of_a_slow_host_is_that_of_a_full_cache() -> None:
    settings = SimulatedSettings(precision=0.02, most_s=20.0)
    slow = {"write_cache.mb_s": 5.0}
    target = SimulatedTarget("x25-m", size="256MiB", changes=slow, settings=settings)
    found = measured_on(target, LARGER_WRITES)
    assert found.bandwidth_mb_s == pytest.approx(5.0, rel=0.02)
    assert found.wa is not None
    assert found.wa > 7


def test_precision_tells_how_far_other_seeds_are() -> None:
    reads = replace(READS, queue_depth=16)
    found = [measured_on(small(most_s=60.0, seed=seed), reads) for seed in range(1, 9)]
    mean = sum(one.latency_us for one in found) / len(found)
    assert all(abs(one.latency_us / mean - 1) < 0.02 for one in found)


def test_every_point_begins_in_the_same_state() -> None:
    target = small()
    alone = measured_on(target, MIXED)
    measured_on(target, WRITES)
    assert measured_on(target, MIXED) == alone


def test_another_process_finds_the_same() -> None:
    target = small()
    copy = pickle.loads(pickle.dumps(target))
    here = [measured_on(target, point) for point in POINTS]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = list(pool.map(measured_on, [copy] * 3, POINTS))
    assert here == there


def test_reads_right_after_the_preconditioning_meet_no_collection() -> None:
    """A drive that is left alone has collected already what it collects in the background."""
    found = measured_on(small(most_s=1.0), replace(READS, queue_depth=1))
    assert found.latency_p99_us < 300


def test_a_disk_and_an_array_are_targets_too() -> None:
    disk = SimulatedTarget("spinpoint-m7", settings=SimulatedSettings(most_s=10.0))
    found = measured_on(disk, READS)
    assert found.wa is None
    assert 1e3 < found.latency_us / READS.queue_depth < 3e4
    array = measured_on(small("raid0:x25-m,x25-m"), replace(READS, read_size_bytes=256 * KIB))
    single = measured_on(small(), replace(READS, read_size_bytes=256 * KIB))
    assert 1.5 < array.bandwidth_mb_s / single.bandwidth_mb_s < 2.1


@pytest.mark.parametrize(("randomness", "sizes_kib"), [(1.0, (1, 4)), (0.0, (7, 64))])
def test_small_writes_to_a_disk_are_measured_beyond_its_write_cache(
    randomness: float, sizes_kib: tuple[int, int]
) -> None:
    """The cache is faster than the disk, at random places by two orders of magnitude."""
    disk = SimulatedTarget("spinpoint-m7", settings=SimulatedSettings(precision=0.05, most_s=10.0))
    writes = replace(WRITES, queue_depth=1, write_randomness=randomness)
    small, larger = (
        measured_on(disk, replace(writes, write_size_bytes=one * KIB)) for one in sizes_kib
    )
    if randomness:
        assert 1 < small.throughput_iops / larger.throughput_iops < 1.5
    else:
        assert small.bandwidth_mb_s == pytest.approx(larger.bandwidth_mb_s, rel=0.05)


@pytest.mark.parametrize("name", profile_names())
def test_a_scaled_drive_keeps_its_dies_and_its_spare_share(name: str) -> None:
    whole, found = profile(name).shape, scaled(name)
    assert found.dies == whole.dies
    if found.kind == "flash":
        assert found.capacity_bytes <= DEFAULT_BYTES
        assert found.op == pytest.approx(profile(name).op, rel=0.025)


def test_a_scaled_drive_says_what_it_has_less_of() -> None:
    assert any(
        "the smaller drive has all dies" in note for note in SimulatedTarget("tlc-client").notes
    )


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"precision": 0}, "precision is 0"),
        ({"most_s": 0}, "time is 0"),
        ({"most_s": 1e9}, "time is 1000000000.0"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_a_setting_outside_its_domain_is_refused(settings: dict[str, float], words: str) -> None:
    with pytest.raises(WriteampError, match=words):
        small(**settings)


def test_a_run_that_answers_nothing_after_its_warm_up_is_not_precise() -> None:
    silent = SteadyState(0, 0.0, 0.0, 0.0, True, "nothing", 10, own_half_width=0.0)
    assert RunJudgement(silent, silent, requests=2000, warmup_ns=0, wa_change=0.0).precision is None


@pytest.mark.filterwarnings("error")
def test_wa_does_not_change_where_all_is_programmed_in_the_warm_up() -> None:
    time = np.arange(201)
    samples = dict.fromkeys(TIMED_CAUSES, 0 * time)
    samples |= {"time_ns": time, "host_pages": 10 * time, "host": np.minimum(40 * time, 1000)}
    warmup_ns, change = wa_course(samples)
    assert warmup_ns >= 25
    assert change == 0


def test_a_time_in_which_nothing_is_answered_is_an_error_of_the_point() -> None:
    outcome = measure_on(small(most_s=1e-6), READS)
    assert outcome.measured is None
    assert outcome.error is not None
    assert "virtual time" in outcome.error
