"""A device in virtual time that is used by one load after the other."""

from __future__ import annotations

import numpy as np
import pytest

import writeamp as wa
from writeamp._engine import TimedRun
from writeamp_papers.four_level.choices import Firmware
from writeamp_papers.four_level.drives import QUIET_NS, Drive, Life, Scale
from writeamp_papers.four_level.loads import Access, requests

SMALL = Scale(512, 8)
KIB = 1024
RANDOM = Access(4 * KIB, is_random=True, write_share=1.0, is_aligned=True)


def small_drive(*changes: str) -> Drive:
    return SMALL.drive("ssd-i", Firmware("page"), *changes)


def life(*changes: str, ageing_writes: float = 0.0, volume: int = 256 * KIB) -> Life:
    drive = small_drive(*changes)
    load = RANDOM.load(drive.capacity_bytes, volume, seed=1)
    return Life(drive, load, ageing_writes=ageing_writes)


def settled(run: TimedRun) -> None:
    while not run.advance(100_000):
        pass


def test_the_clock_and_the_counters_go_on_while_measures_begin_anew() -> None:
    one = life()
    first = one.settle()
    ended_ns = one.run.now_ns
    second = one.go_on(RANDOM.load(2**24, 128 * KIB, seed=2))
    assert one.run.now_ns > ended_ns + QUIET_NS
    assert (first.written_bytes, second.written_bytes) == (256 * KIB, 128 * KIB)
    assert one.run.served("write")["requests"] == 32
    counters = one.run.counters()
    assert counters is not None
    assert counters["host_bytes"] == 384 * KIB
    # What was measured of the second load has none of the five minutes before it.
    assert second.write_s < 10


def test_a_load_may_not_begin_before_the_last_is_settled() -> None:
    run = life().run
    with pytest.raises(wa.WriteampError, match="settled"):
        run.go_on(RANDOM.load(2**24, 4 * KIB, seed=1), seed=1, requests=1)


def test_a_further_load_needs_an_end_too() -> None:
    run = life().run
    settled(run)
    with pytest.raises(wa.WriteampError, match="needs an end"):
        run.go_on(RANDOM.load(2**24, 4 * KIB, seed=1), seed=1)


@pytest.mark.parametrize("ageing_pages", [1, 2, 3, 4, 5, 6, 7])
def test_a_drive_may_be_taken_over_within_a_program_unit(ageing_pages: int) -> None:
    pages = small_drive().device.logical_pages
    one = life(ageing_writes=1 + ageing_pages / pages)
    counts = one.settle()
    assert counts.pages["host"] + counts.pages["read_modify_write"] == 64
    # A program of two planes writes two pages; one unit a die may have been begun before.
    programs = 2 * one.run.operations()["programs"]
    assert 0 <= programs - sum(counts.pages.values()) <= 2 * 10


def test_a_small_cache_of_the_mapping_table_comes_to_rest_on_a_full_drive() -> None:
    in_memory = life("map_cache.bytes=0", ageing_writes=2.0).settle()
    cached = life("map_cache.bytes=8192", ageing_writes=2.0).settle()
    host_pages = 256 // 4
    assert in_memory.pages["mapping"] == 0
    # Of each write, one entry changes; copies change theirs when those come to memory.
    assert 0.5 * host_pages < cached.pages["mapping"] <= 1.5 * host_pages


def test_requests_keep_their_bytes_within_pages() -> None:
    load = requests(np.array([512, 4096]), np.array([512, 8192]), np.array([True, False]))
    drive = small_drive()
    one = Life(drive, load)
    one.settle()
    assert one.run.served("write")["bytes"] == 512
    assert one.run.served("read")["bytes"] == 8192


def test_a_write_of_a_part_of_a_page_reads_the_rest() -> None:
    load = requests(np.array([512]), np.array([512]), np.array([True]))
    counts = Life(small_drive(), load).settle()
    assert (counts.pages["read_modify_write"], counts.pages["host"]) == (1, 0)
