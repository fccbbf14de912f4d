"""Values of paper 5, recomputed with scaled-down drives and short runs.

Only a part of the short form is run, which has pins of its own, unless all is asked for. If a
change moves its values, `papers/benches/part_pins.py` prints new pins.
"""

from __future__ import annotations

import csv
import itertools
import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from forms import FULL as ALL_IS_ASKED_FOR
from item_values import assert_values
from places import SHARED
from replayed import Replay, assert_matches_are_computed
from reproduced import assert_matches_can_fail, assert_reproduced
from writeamp.devices.device import device
from writeamp.drives.pins.device_facts import facts_of
from writeamp.drives.pins.four_level import OperationCount, four_level
from writeamp.runners import Runner
from writeamp_papers import PAPERS, Bench, Findings, Item, surprises
from writeamp_papers.four_level import (
    formulas,
    oltp,
    part,
    partitions,
    pin_statements,
    scales,
    tables,
    verification,
)
from writeamp_papers.four_level.choices import CHOICES, LABEL, PAGE, PAIR, STRIPE
from writeamp_papers.four_level.drives import STEADY_WRITES, Counts, Life, Scale
from writeamp_papers.four_level.loads import SIZES, Access, Integers, grid, requests
from writeamp_papers.items import falls, rises, settled_at

TRACE = SHARED / "traces" / "financial1_prefix10k.spc"
SMALL = Scale(128, 16)
RANDOM = Access(4096, is_random=True, write_share=1.0, is_aligned=True)


@pytest.fixture(scope="module")
def replay() -> Replay:
    return Replay()


@pytest.fixture(scope="module")
def found(replay: Replay) -> Findings:
    return run_with(replay)


def run_with(runner: Runner) -> Findings:
    """Run the part of the paper, or all of its short form if it is asked for."""
    bench = Bench(figures=True, runner=runner)
    if ALL_IS_ASKED_FOR:
        return PAPERS["four-level"].run(bench)
    with pytest.MonkeyPatch.context() as patch:
        for reading in part.LEFT_OUT:
            patch.delitem(CHOICES, reading)
        for module, name, value in part.REPLACED:
            patch.setattr(module, name, value)
        return part.PAPER.run(bench)


def items(found: Findings, start: str) -> list[Item]:
    chosen = [item for item in found.items if item.item.startswith(start)]
    assert chosen, start
    return chosen


def item(found: Findings, name: str) -> Item:
    (one,) = (item for item in found.items if item.item == name)
    return one


def random_writes(reading: str, profile: str = "ssd-i") -> Counts:
    drive = SMALL.drive(profile, CHOICES[reading].firmware)
    load = RANDOM.load(drive.capacity_bytes, 2**24, seed=1)
    return Life(drive, load, ageing_writes=STEADY_WRITES).settle()


def test_equation_2_takes_every_die_of_a_chip_for_its_pin() -> None:
    # SSD-I has 5 channels, each with a chip of two dies; a program writes 2 pages of 4 KiB.
    none = OperationCount(0, 0, 1)
    counts = {"pin": {"read": none, "program": OperationCount(100, 0, 1), "erase": none}}
    told = four_level(counts, ["pin"], facts_of(device("ssd-i")), 10 * 100 * 2 * 4096)
    assert told.wa == 1


def test_equation_3_is_flash_bytes_over_host_bytes() -> None:
    assert formulas.write_amplification(300, 4096, 100 * 4096) == 3


def test_equation_4_is_a_share_of_what_the_drive_counts() -> None:
    assert formulas.percentage_error(99, 100) == formulas.percentage_error(101, 100) == 1


@pytest.mark.parametrize(("op", "user_gb"), [(7, 37.2), (8, 32.2), (10, 25.2)])
def test_equation_5_gives_table_3(op: float, user_gb: float) -> None:
    assert formulas.op_percent(user_gb) == pytest.approx(op, abs=1e-9)


def test_a_trend_lets_one_small_step_pass_and_no_second() -> None:
    assert falls([4, 2, 2.02, 1]) < 1
    assert falls([4, 2, 2.02, 2.03]) > 1
    assert falls([4, 2, 2.1, 1]) > 1
    assert rises([1, 2, 4]) == 0.5
    assert settled_at([9, 1, 1.04, 0.99]) == settled_at([1.06, 1, 1]) == 2


def test_verdicts_hold_what_all_papers_must_hold(found: Findings) -> None:
    if ALL_IS_ASKED_FOR:
        assert_reproduced("four-level", found)
    else:
        assert surprises("four-level", found.items, "part") == []
        assert_matches_can_fail("four-level", found)
        assert_values("four-level", found.items)
    assert all(math.isfinite(value) for one in found.items for value in one.values.values())


def test_every_match_is_computed(found: Findings, replay: Replay) -> None:
    assert_matches_are_computed(
        found,
        lambda: run_with(replay.changed()),
        (pin_statements, "_written_once"),
        (verification, "_missed_low_times"),
        counted={"Section III.B: share of SSD-I's dies that program under requests of 512 bytes"},
    )
    pins = replace(random_writes(PAIR).by_pins, programs_by_pin=(1.0, 0.0))
    assert pins.active_share == 0.5


def test_the_figures_are_drawn_from_what_was_computed(found: Findings) -> None:
    assert set(found.figures) == {
        "fig5-6-percentage-error",
        "fig7-8-micro-benchmarks",
        "fig9-walvd",
        "fig10-11-oltp",
    }


def test_one_pin_is_off_on_a_used_drive_and_all_pins_are_not(found: Findings) -> None:
    used = items(found, "Figs. 5 and 6, used drive")
    assert [one.verdict for one in used] == ["differs", "differs"]
    for figure in ("Fig. 5, sequential", "Fig. 6, random"):
        one = item(
            found,
            f"{figure}, 100% writes: largest absolute percentage error |PEN|, counted at all pins",
        )
        assert 0.3 < one.ours < 0.5


def test_values_of_tables_1_to_3_are_inputs(found: Findings) -> None:
    assert {one.verdict for one in items(found, "Table I")} == {"input"}


def test_profiles_and_stand_ins_are_those_of_the_tables() -> None:
    found = tables.run(Bench())
    assert [one.item for one in found.items if one.verdict == "differs"] == []


def test_write_amplification_falls_with_over_provisioning(found: Findings) -> None:
    name = "Fig. 9: steady WA ÷ steady WA with the next lower over-provisioning, largest"
    assert all(ratio < 0.9 for ratio in item(found, name).values.values())


def test_the_second_sub_test_over_the_steady_ones_is_judged_from_both_sides(
    found: Findings,
) -> None:
    one = item(found, "Fig. 9a, 7%: WA of the second sub-test ÷ steady WA")
    assert (one.published, one.kind, one.verdict) == (0.84, "value", "differs")


def test_a_lone_write_costs_a_pair_a_page_or_a_stripe() -> None:
    host_bytes = 4096
    for reading, unit_bytes in ((PAIR, 8192), (PAGE, 4096), (STRIPE, 10 * 8192)):
        counts = random_writes(reading)
        at_once = counts.pages["host"] + counts.pages["read_modify_write"]
        pages = counts.written_bytes / host_bytes
        assert at_once * counts.unit_bytes / pages == pytest.approx(unit_bytes, rel=0.02)


@pytest.mark.parametrize("profile", ["ssd-i", "ssd-m", "ssd-s"])
@pytest.mark.parametrize("reading", [PAIR, STRIPE])
def test_pins_of_all_dies_tell_what_a_two_plane_drive_programs(profile: str, reading: str) -> None:
    assert random_writes(reading, profile).error < 1e-6


def test_an_erase_of_ssd_v_may_be_told_as_a_program_and_nothing_else() -> None:
    # An erase takes as long as the slowest programs, so it may be counted as a program. A block of
    # this scale has one erase for 16 programs.
    counts = random_writes(PAIR, "ssd-v")
    assert 0 < counts.wa / counts.true_wa - 1 < 1 / SMALL.pages_per_block + 0.01


def test_all_dies_are_alike_under_the_reading_of_stripes_only() -> None:
    assert random_writes(STRIPE).error_by_one < 1e-6
    assert random_writes(PAIR).error_by_one > 1


def test_the_flash_of_ssd_i_sets_the_rate_at_which_it_is_written() -> None:
    times = {"timing.program_us=[1400.0, 3800.0]": 2, "timing.program_us=[700.0, 1900.0]": 1}
    rates = []
    for change in times:
        drive = SMALL.drive("ssd-i", CHOICES[STRIPE].firmware, change)
        load = RANDOM.load(drive.capacity_bytes, 2**22, seed=1)
        rates.append(Life(drive, load, ageing_writes=STEADY_WRITES).settle().write_mb_s)
    assert 1.6 < rates[1] / rates[0] < 2


def test_reads_take_half_of_the_memory_and_none_is_scaled_below_32_kib() -> None:
    def cache_bytes(profile: str, reading: str, *, is_mix: bool) -> int:
        firmware = CHOICES[reading].firmware
        drive = SMALL.drive(profile, firmware, reads_share_cache=is_mix)
        return int((drive.device.times or {})["write_cache"]["bytes"])

    assert cache_bytes("ssd-m", PAIR, is_mix=False) == 128 * 2**20 // SMALL.factor
    assert cache_bytes("ssd-m", PAIR, is_mix=True) == 64 * 2**20 // SMALL.factor
    assert cache_bytes("ssd-s", PAIR, is_mix=False) == 32 * 2**10
    assert cache_bytes("ssd-s", PAIR, is_mix=True) == 16 * 2**10
    assert cache_bytes("ssd-s", PAGE, is_mix=True) == 32 * 2**10
    assert cache_bytes("ssd-m", STRIPE, is_mix=False) == 0


def test_a_partition_has_all_flash_of_the_drive_or_what_equation_5_leaves() -> None:
    for reading, flash_gb in ((PAIR, 40), (LABEL, 15.9 + 2.8)):
        drive = partitions.partitioned(SMALL, CHOICES[reading], 15)
        flash_bytes = drive.device.physical_pages * drive.device.page_bytes
        assert flash_bytes * SMALL.factor / 2**30 == pytest.approx(flash_gb, rel=0.01)
        used = partitions.partition_pages(drive, CHOICES[reading], 15) * 4096
        assert used * SMALL.factor / 2**30 == pytest.approx(15.9, rel=0.01)


def test_the_initial_data_are_counted_in_the_first_sub_test_without_their_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(partitions, "SUB_TESTS", 1)
    # OP% = 15 leaves so much spare space that nothing is collected in the first sub-test.
    with_data = partitions.sub_tests(SMALL, CHOICES[STRIPE], 15)
    scale = 20  # a stripe has twenty pages, and a single write programs a whole stripe
    assert with_data.wa[0] == pytest.approx(scale + 15.9 / 5, rel=0.2)
    without = partitions.sub_tests(SMALL, CHOICES[PAGE], 15)
    assert without.wa[0] == pytest.approx(1, abs=0.15)


def test_the_grid_is_table_2() -> None:
    accesses = grid((True, False), (1.0, 0.5))
    assert len(set(accesses)) == 2 * 2 * 2 * len(SIZES) == 40
    assert str(accesses[0]) == "512-RD-100%-W-Y"


@pytest.mark.parametrize("is_aligned", [True, False])
def test_sequential_accesses_touch_a_page_each_only_if_each_is_aligned(is_aligned: bool) -> None:
    access = Access(512, is_random=False, write_share=1.0, is_aligned=is_aligned)
    drive = Scale(512, 8).drive("ssd-v", CHOICES[PAGE].firmware, "map_cache.bytes=0")
    counts = Life(drive, access.load(drive.capacity_bytes, 64 * 512, seed=1)).settle()
    programs = sum(counts.pages[cause] for cause in ("host", "read_modify_write"))
    assert programs == (64 if is_aligned else 9)


@pytest.mark.parametrize("trace", [oltp.F1, oltp.F2])
def test_generated_requests_have_the_stated_statistics(trace: oltp.Statistics) -> None:
    offsets, sizes, is_write = trace.requests(2**30, 2**27, seed=1)
    assert is_write.mean() == pytest.approx(trace.write_share, abs=0.01)
    sizes_by_direction = (sizes[is_write], sizes[~is_write])
    for drawn, mean, most in zip(
        sizes_by_direction, trace.mean_bytes, trace.most_bytes, strict=True
    ):
        assert drawn.mean() == pytest.approx(mean, rel=0.03)
        assert drawn.max() == most
    assert_starts(trace.locality, offsets[:10_000], sizes[:10_000], is_write[:10_000])
    assert 2**29 < offsets.max() + sizes.max() <= 2**30


def assert_starts(
    locality: oltp.Locality, offsets: Integers, sizes: Integers, is_write: npt.NDArray[np.bool_]
) -> None:
    """Check the shares of starts that a locality states, within 0.03."""
    ends: list[int] = []
    continued: tuple[list[bool], list[bool]] = ([], [])
    returned: tuple[list[bool], list[bool]] = ([], [])
    starts: tuple[set[int], set[int]] = (set(), set())
    rows = zip(offsets.tolist(), sizes.tolist(), is_write.tolist(), strict=True)
    for start, size, writes in rows:
        read = not writes
        continued[read].append(start in ends[-64:])
        if not continued[read][-1]:
            returned[read].append(start in starts[read])
            starts[read].add(start)
        if writes:
            ends.append(start + -(-size // 512) * 512)
    assert [np.mean(flags) for flags in continued] == pytest.approx(locality.continued, abs=0.03)
    assert [np.mean(flags) for flags in returned] == pytest.approx(locality.returning, abs=0.03)


def test_sub_tests_write_what_they_should_where_a_trace_begins_anew() -> None:
    # F2 writes 1.8 GiB, so that every sub-test of 5 GiB repeats it.
    drive = SMALL.drive("ssd-i", CHOICES[PAIR].firmware)
    loads = oltp.F2.loads(drive.capacity_bytes, 256, 5 * 2**30 // 256)
    life = Life(drive, next(loads))
    written = [life.settle().written_bytes]
    written += [life.go_on(load).written_bytes for load in itertools.islice(loads, 2)]
    assert written == pytest.approx([5 * 2**30 // 256] * 3, rel=0.03)


@pytest.mark.skipif(not TRACE.exists(), reason="the first requests of F1 are not here")
def test_the_locality_is_that_of_the_first_requests_of_f1_which_amplify_less_and_less() -> None:
    with TRACE.open(encoding="utf-8") as lines:
        rows = [row for row in csv.reader(lines) if int(row[2]) > 0]
    units, sectors, sizes = (np.array([int(row[at]) for row in rows]) for at in range(3))
    is_write = np.array([row[3].lower() == "w" for row in rows])
    ranges = {unit: sectors[units == unit] for unit in np.unique(units)}
    extent_bytes = 512 * sum(np.ptp(of_unit) for of_unit in ranges.values())
    assert extent_bytes / 2**30 == pytest.approx(oltp.F1_STARTS.extent_gib, abs=0.05)
    assert_starts(oltp.F1_STARTS, (units << 40) + 512 * sectors, sizes, is_write)

    drive = SMALL.drive("ssd-i", CHOICES[PAIR].firmware)
    part = drive.capacity_bytes // len(ranges) // 4096 * 4096
    places = np.searchsorted(list(ranges), units) * part + 512 * sectors % (part - 2**20)
    life = Life(drive, RANDOM.load(drive.capacity_bytes, 2**22, seed=1), ageing_writes=3)
    random = life.settle()
    counts = [life.go_on(requests(places, sizes, is_write)) for _ in range(3)]
    assert counts[-1].wa < counts[0].wa
    assert counts[-1].wa < random.wa


def test_the_scale_is_the_smallest_within_the_stated_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for error in (scales.SHORT_ERROR, part.ERROR):
        scale = scales.scale_within(error)
        assert scales.error_of(scale) <= error
        for pages_per_block in (16, 32, 64):
            assert scales.error_of(Scale(2 * scale.factor, pages_per_block)) > error
    # A page of 4 KiB programs a pair of pages, so its WA is twice that of the model.
    monkeypatch.setattr(partitions, "SUB_TESTS", 3)
    scale = scales.scale_of(Bench())
    wa = partitions.sub_tests(scale, CHOICES[PAIR], 7).wa[-1]
    assert wa == pytest.approx(2 * scales.random_wa("ssd-i", scale), rel=0.03)
