"""Profiles: each builds, names the source of every number, and meets what its paper printed."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import writeamp as wa
from in_process import document
from refusals import refused_with
from writeamp.devices.profile import profile, profile_names
from writeamp.errors import WriteampError
from writeamp.testing import corners
from writeamp.testing.corners import measured_corners, random_writes_of_whole_blocks, shortened

SHIPPED = resources.files("writeamp.devices").joinpath("profiles")
GIB = 2**30
PROFILE = "[geometry]\nblocks_per_plane = 64\npages_per_block = 16\n[management]\nop = 0.25\n"


def numbers(value: Any) -> list[Any]:
    """Return the numbers in a value of a profile."""
    if isinstance(value, list):
        return list(chain.from_iterable(map(numbers, value)))
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def mean(value: Any) -> float:
    found = numbers(value)
    return sum(found) / len(found)


@pytest.mark.parametrize("name", profile_names())
def test_every_number_of_a_profile_has_its_source(name: str) -> None:
    table = tomllib.loads(SHIPPED.joinpath(f"{name}.toml").read_text("utf-8"))
    sources = profile(name).sources
    for title, keys in table.items():
        if not isinstance(keys, dict) or title == "sources":
            continue
        for key, value in keys.items():
            if numbers(value):
                assert sources.get(f"{title}.{key}") or sources.get(title), f"{title}.{key}"


@pytest.mark.parametrize("name", profile_names())
def test_a_profile_is_a_device_with_times_that_keeps_its_op(name: str) -> None:
    found = wa.device(name)
    assert found.times
    assert found.dies == found.channels * found.chips_per_channel * found.dies_per_chip
    if found.kind == "flash":
        assert found.op == pytest.approx(profile(name).op, rel=0.011)
        assert found.capacity_bytes <= (64 if found.is_timed_by_default else 215) * GIB
        assert found.pages_per_erase_unit % found.pages_per_program == 0


def test_the_listing_shows_summary_and_sources() -> None:
    rows = {row["name"]: row for row in document("list", "devices")["devices"]}
    assert rows["ssd-v"]["sources"]["timing.erase_us"] == "paper 5, Table I"
    assert "estimated" in rows["tlc-datacenter"]["sources"]["timing"]
    assert all(row["summary"] and row["sources"] for row in rows.values())


# Dies, physical and user GiB, read, program and erase µs, and the programs that were measured.
TABLE_1_OF_PAPER_5 = {
    "ssd-v": (4, 16, 14.0, 50, 900, 2000, (200, 2200)),
    "ssd-i": (10, 40, 37.2, 75, 1300, 3800, (200, 2200)),
    "ssd-m": (16, 64, 59.6, 75, 1300, 3800, (200, 2200)),
    "ssd-s": (16, 32, 28.1, 25, 250, 2000, (200, 500)),
}


@pytest.mark.parametrize("name", TABLE_1_OF_PAPER_5)
def test_the_drives_of_paper_5_are_those_of_its_table_1(name: str) -> None:
    dies, physical, user, read_us, program_us, erase_us, tested_us = TABLE_1_OF_PAPER_5[name]
    found = wa.device(name)
    array = found.times["timing"]
    assert (found.dies, found.planes_per_die, found.page_bytes) == (dies, 2, 4096)
    assert found.physical_pages * 4096 == physical * GIB
    assert found.capacity_bytes / GIB == pytest.approx(user, abs=0.01)
    assert (array["read_us"], array["erase_us"]) == (read_us, erase_us)
    programs, spreads = numbers(array["program_us"]), numbers(array["program_spread"])
    assert mean(programs) == pytest.approx(program_us)
    # A draw stays within √12 standard deviations of its mean.
    for at, spread in zip(programs, spreads, strict=True):
        assert tested_us[0] <= at * (1 - 12**0.5 * spread)
        assert at * (1 + 12**0.5 * spread) <= tested_us[1]


def table_1(found: wa.Device) -> Mapping[str, float]:
    """Return bandwidths and latencies of 4 KiB by hand, from the tables alone.

    Each die takes its data, programs it and shares the erase of a block among its pages; a channel
    carries the data of its dies; all that is written passes the memory, and all goes over one link.
    Latencies are of 4 KiB, whatever the mapping unit is.
    """
    array, bus, host = (found.times[name] for name in ("timing", "bus", "host"))
    cache = found.times["write_cache"]
    unit = found.page_bytes * found.pages_per_program
    channel_us = unit / bus["channel_mb_s"]
    program_us = channel_us + bus["program_command_ns"] / 1e3 + mean(array["program_us"])
    erase_us = array["erase_us"] * found.pages_per_program / found.pages_per_erase_unit
    of_channels = found.channels * unit
    small = 4096
    link_us = small / host["link_mb_s"]
    read_us = small / bus["channel_mb_s"] + bus["read_command_ns"] / 1e3
    around_us = (host["controller_ns"] + host["out_ns"]) / 1e3
    cached_us = cache["access_ns"] / 1e3 + small / cache["mb_s"]
    return {
        "read_mb_s": min(host["link_mb_s"], of_channels / channel_us),
        "write_mb_s": min(
            host["link_mb_s"],
            cache["mb_s"],
            of_channels / channel_us,
            found.dies * unit / (program_us + erase_us),
        ),
        "read_us": host["read_in_ns"] / 1e3 + around_us + read_us + array["read_us"] + link_us,
        "write_us": host["write_in_ns"] / 1e3 + around_us + cached_us + link_us,
    }


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("x25-m", {"read_mb_s": 250, "write_mb_s": 70, "read_us": 85, "write_us": 115}),
        ("apex", {"read_mb_s": 250, "write_mb_s": 100}),
        # Its reads of 100 MB/s would be slower than Fig. 3 has them, mixed with writes.
        ("samsung-slc", {"write_mb_s": 80}),
    ],
)
def test_the_drives_of_paper_2_meet_its_table_1(name: str, printed: dict[str, float]) -> None:
    found = table_1(wa.device(name))
    assert {key: found[key] for key in printed} == pytest.approx(printed, rel=0.1)


def test_the_apex_answers_within_what_paper_2_prints() -> None:
    found = table_1(wa.device("apex"))
    assert found["read_us"] < 100
    assert found["write_us"] < 100


def test_capacities_of_paper_2_are_those_of_its_table_1() -> None:
    for name, capacity in (("x25-m", 80e9), ("apex", 120e9), ("samsung-slc", 32e9)):
        found = wa.device(name, size=int(capacity))
        assert found.capacity_bytes == pytest.approx(capacity, abs=found.page_bytes)
        assert found.shrunk == ()
    assert wa.device("spinpoint-m7").capacity_bytes == pytest.approx(500e9, rel=0.001)


def test_a_read_on_mqsim_takes_what_mqsim_shows_to_the_nanosecond() -> None:
    found = wa.device("mqsim").times
    array, bus, host = found["timing"], found["bus"], found["host"]
    link_ns = 4096 / host["link_packet_bytes"] * round(128e3 / host["link_mb_s"])
    around_ns = host["read_in_ns"] + bus["read_command_ns"] + host["out_ns"]
    array_ns = array["read_us"] * 1e3
    assert around_ns + array_ns + round(4096e3 / bus["channel_mb_s"]) + link_ns == 88_906
    assert wa.device("mqsim").physical_pages * 8192 == 16 * GIB


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("timed = 1\n" + PROFILE, ["timed is 1", "true or false"]),
        (PROFILE + "[timng]\nread_us = 3\n", ["timng", "did you mean 'timing'"]),
        (PROFILE + "[timing]\nread_us = nan\n", ["timing.read_us is nan", "finite number"]),
        (PROFILE + "[timing]\nread_us = [[3]]\n", ["timing.read_us", "list of numbers"]),
        (PROFILE + "[timing]\nread_us = 2000-01-01\n", ["timing.read_us", "finite number"]),
        (PROFILE + "timing = 3\n", ["unknown key", "timing"]),
        (PROFILE + '[sources]\n"timing.read_us" = "x"\n', ["sources", "timing.read_us"]),
        (PROFILE + "[sources]\ngeometry = 3\n", ["sources", "geometry = 3"]),
        ("[disk]\nrpm = 5400\n", ["disk.capacity_bytes is None", "whole number"]),
        ("[disk]\ncapacity_bytes = 1.5\n", ["disk.capacity_bytes is 1.5"]),
        ("[disk]\ncapacity_bytes = 1000000000\n[bus]\nwidth = 3\n", ["unknown key", "'bus'"]),
    ],
)  # fmt: skip
def test_what_a_profile_has_wrong_is_named(text: str, words: list[str], tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with refused_with("mine.toml", *words):
        wa.device(path)


def test_a_profile_need_not_have_times(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(PROFILE)
    found = wa.device(path)
    assert (found.times, found.is_timed_by_default) == (None, False)
    assert (found.flash_page_bytes, found.pages_per_program) == (4096, 1)


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
    sheet, drive = profile("fdp-datacenter").data_sheet, shortened("fdp-datacenter", {}, FEW_PAGES)
    assert sheet is not None
    # Its corners of writes, which take most of the time of all four, say nothing of reads.
    random, sequential = (
        corners._run(drive, sheet, f"{pattern}_read") for pattern in ("random", "sequential")
    )
    assert 0.9 <= random.iops["read"] / sheet.random_read_iops <= 1.1
    assert sequential.bandwidth_mb_s["read"] == pytest.approx(sheet.sequential_read_mb_s, rel=0.05)


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
    assert found.times["timing"]["erase_us"] * shape.pages_per_block == 5000 * 12


def test_a_profile_without_a_data_sheet_is_refused() -> None:
    with pytest.raises(WriteampError, match="ssd-v has no"):
        measured_corners("ssd-v")
