"""Layouts in time, which keep dies at work or not, and write amplification of timed runs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import writeamp as wa
from timed_runs import timed

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
            "ssd-v", "random:bs=4k,write=1.0", size="64MiB", writes=60_000, timed=True, **settings
        )

    apart = found(map_cache="4KiB")
    among = found(map_cache="4KiB", set="map_cache.own_blocks=false")
    assert apart.causes["mapping"] == pytest.approx(among.causes["mapping"], rel=0.2)
    assert apart.causes["gc"] < 0.8 * among.causes["gc"]
    (note,) = (note for note in apart.notes if "mapping table" in note)
    assert f"{apart.causes['mapping'] / apart.host_pages:.2f} of WA" in note


def test_a_table_that_fits_in_memory_is_no_part_of_wa_and_nothing_is_said_of_it() -> None:
    found = timed("ssd-v", "random:bs=4k", size="64MiB", writes=3_000, map_cache="all", timed=True)
    assert found.causes["mapping"] == 0
    assert not any("mapping table" in note for note in found.notes)
