"""Profiles of today have the four corners of the data sheets that they are held against."""

from __future__ import annotations

import pytest

from writeamp.devices.profile import profile
from writeamp.errors import WriteampError
from writeamp.testing.corners import measured_corners, random_writes_of_whole_blocks, shortened

FEW_PAGES = 9_000_000


def ratios(name: str, **changes: float) -> dict[str, float]:
    dotted = {key.replace("__", "."): value for key, value in changes.items()}
    found = measured_corners(name, changes=dotted, most_pages=FEW_PAGES)
    return {one.name: one.ratio for one in found}


@pytest.mark.parametrize("name", ["tlc-client", "tlc-datacenter"])
def test_the_corners_are_within_a_tenth_of_the_data_sheet(name: str) -> None:
    found = ratios(name)
    assert all(0.9 <= ratio <= 1.1 for ratio in found.values()), found


def test_programs_twice_as_long_are_seen_in_both_corners_of_writes() -> None:
    found = ratios("tlc-datacenter", timing__program_us=3700.0)
    assert found["sequential_read_mb_s"] == pytest.approx(1, abs=0.05)
    assert found["sequential_write_mb_s"] < 0.6
    assert found["random_write_iops"] < 0.7


def test_planes_that_read_independently_answer_the_random_reads_of_the_data_sheet() -> None:
    found = ratios("fdp-datacenter")
    assert 0.9 <= found["random_read_iops"] <= 1.1
    assert found["sequential_read_mb_s"] == pytest.approx(1, abs=0.05)


def test_reclaim_units_over_all_dies_may_be_as_long_as_they_are() -> None:
    """Dies that collect together wait for nobody; on 45 units WA is higher than on all of them."""
    found = random_writes_of_whole_blocks("fdp-datacenter", most_pages=FEW_PAGES)
    assert 0.7 < found.ratio < 1.1


def test_shorter_blocks_leave_dies_blocks_and_spare_space_as_they_are() -> None:
    shape = profile("fdp-datacenter").shape
    found = shortened("fdp-datacenter", {}, FEW_PAGES)
    assert found.pages_per_block == found.pages_per_program // found.planes_per_die == 12
    assert (found.dies, found.blocks_per_plane) == (64, shape.blocks_per_plane)
    assert found.op == pytest.approx(0.145, rel=1e-3)
    assert found.times is not None
    assert found.times["timing"]["erase_us"] * shape.pages_per_block == 5000 * 12


def test_a_profile_without_a_data_sheet_is_refused() -> None:
    with pytest.raises(WriteampError, match="ssd-v has no"):
        measured_corners("ssd-v")
