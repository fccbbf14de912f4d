"""Runs in virtual time: layouts, write amplification, pacing, retries, what others print."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import writeamp as wa
from timed_runs import timed
from writeamp.devices.device import device
from writeamp.drives.measure import facts_of, ready_busy

CHANNELS = """
timed = true
[geometry]
channels = 8
blocks_per_plane = 64
pages_per_block = 16
erase_unit = "{erase_unit}"
[management]
op = 0.3
layout = "{layout}"
[timing]
read_us = 50
program_us = 300
erase_us = 2000
"""


@pytest.mark.parametrize(
    ("layout", "erase_unit", "said"),
    [
        ("flat", "block", "writes and collects on one die at a time"),
        ("striped", "block", "collects on one die at a time"),
        ("striped-per-lun", "block", None),
        ("static", "block", None),
        ("flat", "superblock", None),
    ],
)
def test_a_layout_that_leaves_dies_idle_says_so(
    layout: str, erase_unit: str, said: str | None, tmp_path: Path
) -> None:
    profile = tmp_path / "four.toml"
    profile.write_text(CHANNELS.format(layout=layout, erase_unit=erase_unit))
    found = timed(str(profile), "random:bs=4k", writes=200, timed=True)
    notes = [note for note in found.notes if "die" in note]
    if said is None:
        assert not notes
    else:
        (note,) = notes
        assert said in note
        assert "8 dies" in note


def test_throughput_grows_with_dies_where_each_collects_and_hardly_where_one_does(
    tmp_path: Path,
) -> None:
    def iops(layout: str) -> float:
        profile = tmp_path / f"{layout}.toml"
        profile.write_text(CHANNELS.format(layout=layout, erase_unit="block"))
        return timed(str(profile), "random:bs=4k,qd=32", writes=20_000).iops["write"]

    assert iops("striped-per-lun") > 1.5 * max(iops("flat"), iops("striped"))


# No program is padded where it writes one page.
_PAGE_BY_PAGE = {"program.planes": 1}


@pytest.mark.parametrize("workload", ["random:bs=4k,write=0.3,qd=32", "random:bs=2k,qd=32"])
def test_pages_that_the_warm_up_left_in_the_write_cache_are_no_part_of_wa(workload: str) -> None:
    found = timed("x25-m", workload, size="4GiB", time="0.5s", set=_PAGE_BY_PAGE)
    of_host = found.causes["host"] + found.causes["read_modify_write"]
    assert found.causes["gc"] == 0
    assert 0 < of_host <= found.host_pages
    assert found.flash_pages == sum(found.causes.values())
    assert found.wa == pytest.approx(1.0, abs=0.03)
    assert all(math.isnan(end) for end in found.ci)  # nothing was collected


def test_pages_in_the_write_cache_count_when_they_are_written_in_every_row_of_the_series() -> None:
    found = timed("x25-m", "random:bs=4k,qd=32", size="4GiB", writes=40_000, set=_PAGE_BY_PAGE)
    rows = found.series
    assert found.causes["gc"] == 0
    assert rows["wa"].max() <= 1.0
    assert rows["wa"].min() > 0.8


def test_a_mapping_table_in_blocks_of_its_own_amplifies_less_than_among_data() -> None:
    def found(**settings: Any) -> wa.TimedResult:
        return timed(
            "ssd-v", "random:bs=4k,write=1.0", size="128MiB", writes=60_000, timed=True, **settings
        )

    apart = found(map_cache="4KiB")
    among = found(map_cache="4KiB", set="map_cache.own_blocks=false")
    assert apart.causes["mapping"] == pytest.approx(among.causes["mapping"], rel=0.2)
    assert apart.causes["gc"] < 0.8 * among.causes["gc"]
    (note,) = (note for note in apart.notes if "mapping table" in note)
    assert f"{apart.causes['mapping'] / apart.host_pages:.2f} to this WA" in note


def test_a_table_that_fits_in_memory_is_no_part_of_wa_and_nothing_is_said_of_it() -> None:
    found = timed("ssd-v", "random:bs=4k", size="64MiB", writes=3_000, map_cache="all", timed=True)
    assert found.causes["mapping"] == 0
    assert not any("mapping table" in note for note in found.notes)


# Pages that avoid the dies that collect hardly wait for them.
IN_TURN = ('scheduling.dispatch="in-turn"',)
WHOLE = ("scheduling.copies_yield=false",)
YIELD = ("scheduling.copies_yield=true",)
PACED = (*YIELD, "collection.paced=true")


def tails(rate: int, pages_per_block: int, rules: tuple[str, ...]) -> dict[str, dict[str, float]]:
    found = wa.simulate(
        device="tlc-datacenter",
        size="3GiB",
        pages_per_block=pages_per_block,
        manager="sepgc",
        workload=f"random:bs=4k,write=0.3,rate={rate}",
        precondition="random:1",
        time=15.0,
        set=[*IN_TURN, "write_cache.bytes=1048576", "collection.soft_blocks=3", *rules],
    )
    assert isinstance(found, wa.TimedResult)
    return found.latency_us


def test_host_reads_interrupt_a_collection_between_two_pages() -> None:
    whole, yielding = tails(5000, 576, WHOLE), tails(5000, 576, YIELD)
    assert yielding["read"]["p99_9"] < 0.5 * whole["read"]["p99_9"]


def test_a_paced_collection_shortens_the_tail_of_writes_that_no_cache_takes() -> None:
    whole, paced = tails(12000, 288, YIELD), tails(12000, 288, PACED)
    assert paced["write"]["p99"] < 0.1 * whole["write"]["p99"]
    assert paced["read"]["p99"] < 0.2 * whole["read"]["p99"]


# MQSim (commit 7ec40e3) on its shipped configuration: workload, settings, requests a second, and
# mean latencies in µs; `docs/timing.md` has the table. Reads within 5%, others within 10%.
MQSIM = {
    "random read": ("random:bs=4k,write=0,qd=1", {}, 11_248, 88.906, None),
    "random read of a page": ("random:bs=8k,write=0,qd=1", {}, 9_762, 102.442, None),
    "random read, depth 16": ("random:bs=4k,write=0,qd=16", {}, 132_973, 120.3, None),
    "sequential read": ("sequential:bs=128k,write=0,qd=1", {}, 6_081, 164.458, None),
    "random write": ("random:bs=4k,write=1,qd=1,align=8k", {}, 1_309, None, 763.965),
    "random write, depth 16": ("random:bs=4k,write=1,qd=16,align=8k", {}, 16_248, None, 985),
    "half of each": ("random:bs=8k,write=0.5,qd=16", {}, 26_664, 234, 965),
    "mapping miss": ("random:bs=4k,write=0,qd=1", {"map_cache": "2MiB"}, 6_040, 165.55, None),
    "mapping miss, depth 16": (
        "random:bs=4k,write=0,qd=16",
        {"map_cache": "2MiB", "time": 0.5},
        73_657,
        217,
        None,
    ),
    "mapping misses of neighbours": (
        "random:bs=16k,write=0,qd=16",
        {"map_cache": "2MiB", "time": 0.2},
        50_531,
        None,
        None,
    ),
    "mapping misses of a sequence": (
        "sequential:bs=128k,write=0,qd=4",
        {"map_cache": "2MiB", "time": 0.2},
        8_694,
        None,
        None,
    ),
    "cached write": (
        "random:bs=4k,write=1,qd=1,align=8k",
        {"write_cache": "64MiB", "time": 2.5},
        41_136,
        None,
        24.3,
    ),
}


@pytest.mark.parametrize("name", MQSIM)
def test_the_mqsim_profile_answers_as_mqsim_does(name: str) -> None:
    workload, settings, iops, read_us, write_us = MQSIM[name]
    result = wa.simulate(device="mqsim", workload=workload, **({"time": 1.0} | settings))
    tolerance = 0.05 if write_us is None else 0.10
    assert result.iops["all"] == pytest.approx(iops, rel=tolerance)
    for direction, mean_us in (("read", read_us), ("write", write_us)):
        if mean_us is not None:
            assert result.latency_us[direction]["mean"] == pytest.approx(mean_us, rel=tolerance)


# Paper 2, Table I: MB/s of sequential reads and of sequential or sustained writes. SSD_S reads
# faster than the 100 MB/s of its specification, as Figs. 3 and 5 have it.
TABLE_I = {"x25-m": (250, 70), "apex": (None, 100), "samsung-slc": (None, 80)}


@pytest.mark.parametrize("device", TABLE_I)
def test_bandwidths_of_paper_2_are_met(device: str) -> None:
    for write, published_mb_s in enumerate(TABLE_I[device]):
        if published_mb_s is None:
            continue
        # A write cache of MiB fills within the warm-up.
        workload = f"sequential:bs=128k,qd=32,write={write}"
        result = wa.simulate(device=device, workload=workload, time=4.0 if write else 0.5)
        assert result.bandwidth_mb_s["all"] == pytest.approx(published_mb_s, rel=0.10)


def test_latencies_of_paper_2_are_met() -> None:
    for write, published_us in ((0, 85), (1, 115)):
        workload = f"random:bs=4k,qd=1,write={write}"
        mean_us = _mean_us(wa.simulate(device="x25-m", workload=workload, time=0.5), write)
        assert mean_us == pytest.approx(published_us, rel=0.10)
    for write in (0, 1):
        # So short that its buffer takes all that is written.
        workload = f"random:bs=4k,qd=1,write={write}"
        result = wa.simulate(device="apex", workload=workload, time=0.02)
        assert _mean_us(result, write) < 100
    # Half a turn at 5,400 rpm; a read waits for that and for the seek before it.
    disk = wa.simulate(device="spinpoint-m7", workload="random:bs=4k,qd=1,write=0", time=20.0)
    assert 5_600 < _mean_us(disk, 0) < 4 * 5_600


def _mean_us(result: wa.TimedResult, write: int) -> float:
    return result.latency_us["write" if write else "read"]["mean"]


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
    assert len({one.figures.end["host"] for one in runs}) == 1


def test_captures_of_worn_drives_show_each_try_and_the_same_write_amplification(
    tmp_path: Path,
) -> None:
    load = "random:bs=4k,write=0.5,qd=4"
    amplification, reads = [], []
    for erases in (0, 3000):
        path = tmp_path / f"rb{erases}.vcd"
        found = worn(erases, 90, load, host_bytes=2**25, rb_capture=str(path), set=CAPTURED)
        capture = found.capture
        drive = device("tlc-datacenter", size="1GiB")
        seen = ready_busy(path, facts_of(drive), capture.host_bytes)
        low, high = seen.ci
        assert low <= capture.wa <= high
        counted = sum(pin["reads"] for pin in seen.to_dict()["pins"].values())
        assert counted == pytest.approx(capture.reads, rel=0.02)
        amplification.append(seen.answer.wa)
        reads.append(capture.reads)
    assert reads[1] > 2 * reads[0]
    assert amplification[1] == pytest.approx(amplification[0], rel=0.02)
