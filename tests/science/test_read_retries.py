"""Further tries of reads against theory: their number, their time, and what pins show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import writeamp as wa
from writeamp.devices.device import device
from writeamp.drives.measure import facts_of, measure_ready_busy

# Reads of every page take the same time, so that a further try does too.
SAME = {
    "timing.read_us": 60,
    "timing.read_spread": 0,
    "bus.channel_mb_s": 1200,
    "bus.read_command_ns": 200,
    "write_cache.bytes": 0,
    "collection.background": False,
}
READ = "random:bs=4k,write=0,qd=1"
# A cache that fills whole programs, and none that begin as the one before ends, which no pin shows.
CAPTURED = {
    "timing.read_spread": 0.05,
    "write_cache.bytes": 2**22,
    "program.cache_program": False,
    "scheduling.suspend": False,
}
# Command, array, transfer of 4 KiB, and the decoding before it.
RETRY_US = 20 + 0.2 + 60 + 4096 / 1200


def worn(erases: int, days: float, load: str = READ, **more: Any) -> wa.TimedResult:
    changes = SAME | {"errors.worn_erases": erases, "errors.aged_days": days} | more.pop("set", {})
    settings = [f"{key}={str(value).lower()}" for key, value in changes.items()]
    found = wa.simulate("tlc-datacenter", load, size="1GiB", set=settings, **more)
    assert isinstance(found, wa.TimedResult)
    return found


def expected_retries(erases: int, days: float, codewords: int) -> float:
    """Return the mean of further tries: the chances that each is needed, over pages.

    A page's rate is the table's times exp(spread·z), z being the sum of four uniform numbers.
    """
    table = device("tlc-datacenter", size="1GiB").times["errors"]
    logs = np.log(table["raw_bit_error_rate"])
    by_erases = [np.interp(days, table["retention_days"], row) for row in logs]
    log_rate = np.interp(erases, table["erases"], by_erases)
    middles = (np.arange(64) + 0.5) / 64
    pairs = np.add.outer(middles, middles).ravel()
    sums, counts = np.unique(np.round(pairs, 9), return_counts=True)
    z = (np.add.outer(sums, sums) - 2) * np.sqrt(3)
    weight = np.outer(counts, counts) / counts.sum() ** 2
    mean = 0.0
    for tries in range(table["most_retries"]):
        rate = np.exp(log_rate + table["page_spread"] * z) * table["retry_factor"] ** tries
        bits = 8 * table["codeword_bytes"]
        good = binom.cdf(table["correctable_bits"], bits, np.minimum(rate, 0.5)) ** codewords
        mean += float((weight * (1 - good)).sum())
    return mean


@pytest.mark.parametrize(
    ("erases", "days"), [(0, 0), (1500, 200), (2000, 365), (3000, 30), (4000, 0), (10_000, 365)]
)
def test_retries_are_as_many_as_the_tail_of_the_binomial_says(erases: int, days: float) -> None:
    found = worn(erases, days, time=0.5, warmup=0)
    assert found.read_retries is not None
    reads = found.reads.requests
    expected = expected_retries(erases, days, codewords=4)
    mean = found.read_retries["host"] / reads
    # Steps of pages scatter by less than 3 on this table, and some pages are read twice.
    assert mean == pytest.approx(expected, abs=4 * 3 / reads**0.5)
    if erases == 0:
        assert mean == 0


@pytest.mark.parametrize(("erases", "days"), [(3000, 90), (5000, 0)])
def test_each_further_try_of_an_idle_drive_adds_its_time_to_the_mean(
    erases: int, days: float
) -> None:
    fresh, old = (worn(*state, time=1.0, warmup=0) for state in ((0, 0), (erases, days)))
    assert old.read_retries is not None
    steps = old.read_retries["host"] / (old.reads.requests + 1)
    assert steps > 1
    added = old.latency_us["read"]["mean"] - fresh.latency_us["read"]["mean"]
    # The last read is answered after the measured interval; it may have more tries than others.
    assert added == pytest.approx(steps * RETRY_US, abs=20 * RETRY_US / old.reads.requests)
    # Whole tries: the median differs by a multiple of one.
    median = old.latency_us["read"]["p50"] - fresh.latency_us["read"]["p50"]
    assert median / RETRY_US == pytest.approx(round(median / RETRY_US), abs=0.02)


def test_wear_and_age_make_reads_slower_and_write_amplification_is_what_it_was() -> None:
    load = "random:bs=4k,write=0.5,qd=4"
    states = ((0, 0), (2000, 180), (3000, 180), (5000, 180))
    runs = [
        worn(*state, load, host_bytes=2**23, set={"program.cache_program": False})
        for state in states
    ]
    medians = [one.latency_us["read"]["p50"] for one in runs]
    assert medians == sorted(medians)
    assert medians[3] > 3 * medians[0]
    assert len({one.found.end["host"] for one in runs}) == 1


def test_captures_of_worn_drives_show_each_try_and_the_same_write_amplification(
    tmp_path: Path,
) -> None:
    load = "random:bs=4k,write=0.5,qd=4"
    amplification, reads = [], []
    for erases in (0, 3000):
        path = tmp_path / f"rb{erases}.vcd"
        found = worn(erases, 90, load, host_bytes=2**25, rb_capture=str(path), set=CAPTURED)
        capture = found.capture
        assert capture is not None
        drive = device("tlc-datacenter", size="1GiB")
        seen = measure_ready_busy(path, facts_of(drive), capture.host_bytes)
        low, high = seen.ci
        assert low <= capture.wa <= high
        counted = sum(pin["reads"] for pin in seen.to_dict()["pins"].values())
        assert counted == pytest.approx(capture.reads, rel=0.02)
        amplification.append(seen.answer.wa)
        reads.append(capture.reads)
    assert reads[1] > 2 * reads[0]
    assert amplification[1] == pytest.approx(amplification[0], rel=0.02)
