"""Write amplification of timed runs: the writes that count, and the report of it."""

from __future__ import annotations

import math
from typing import Any

import pytest

import writeamp as wa


def timed(device: str, workload: str, **settings: Any) -> wa.TimedResult:
    found = wa.simulate(device, workload, timed=True, **settings)
    assert isinstance(found, wa.TimedResult)
    return found


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
        return timed("ssd-v", "random:bs=4k,write=1.0", size="64MiB", writes=60_000, **settings)

    apart = found(map_cache="4KiB")
    among = found(map_cache="4KiB", set="map_cache.own_blocks=false")
    assert apart.causes["mapping"] == pytest.approx(among.causes["mapping"], rel=0.2)
    assert apart.causes["gc"] < 0.8 * among.causes["gc"]
    (note,) = (note for note in apart.notes if "mapping table" in note)
    assert f"{apart.causes['mapping'] / apart.host_pages:.2f} of WA" in note


def test_a_table_that_fits_in_memory_is_no_part_of_wa_and_nothing_is_said_of_it() -> None:
    found = timed("ssd-v", "random:bs=4k", size="64MiB", writes=3_000, map_cache="all")
    assert found.causes["mapping"] == 0
    assert not any("mapping table" in note for note in found.notes)
