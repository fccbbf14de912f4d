"""Paper 5's values, computed anew in short."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest
from elsewhere import AsElsewhere
from places import SHARED
from writeamp.reproduce import PAPERS, Bench, Findings
from writeamp.reproduce.four_level import formulas, oltp, walvd
from writeamp.reproduce.four_level.drives import Life, Scale
from writeamp.reproduce.four_level.loads import SIZES, Access, grid, requests

TRACE = SHARED / "traces" / "financial1_prefix10k.spc"


@pytest.fixture(scope="module")
def found() -> Findings:
    return PAPERS["four-level"].run(Bench(figures=True, runner=AsElsewhere()))


def ours(found: Findings, start: str) -> dict[str, float]:
    values = {item.item: item.ours for item in found.items if item.item.startswith(start)}
    assert values, start
    return values


def test_equation_3_is_flash_bytes_over_host_bytes() -> None:
    assert formulas.write_amplification(300, 4096, 100 * 4096) == 3


def test_equation_4_is_a_share_of_what_the_drive_counts() -> None:
    assert formulas.percentage_error(99, 100) == formulas.percentage_error(101, 100) == 1


@pytest.mark.parametrize(("op", "user_gb"), [(7, 37.2), (8, 32.2), (10, 25.2)])
def test_equation_5_gives_table_3(op: float, user_gb: float) -> None:
    assert formulas.op_percent(user_gb) == pytest.approx(op, abs=1e-9)


def test_nothing_differs_unexplained(found: Findings) -> None:
    assert [item.item for item in found.items if item.verdict == "differs"] == []
    assert all(math.isfinite(item.ours) for item in found.items)


def test_what_is_no_match_says_why(found: Findings) -> None:
    assert all(item.note for item in found.items if item.verdict != "match")


def test_the_figures_are_drawn_from_what_was_computed(found: Findings) -> None:
    assert set(found.figures) == {
        "fig5-6-percentage-error",
        "fig7-8-micro-benchmarks",
        "fig9-walvd",
        "fig10-11-oltp",
    }


def test_all_pins_tell_programs_to_a_thousandth_and_a_hundredth(found: Findings) -> None:
    for figure in ("Fig. 5, sequential", "Fig. 6, random"):
        for share, bar in (("100%", 0.1), ("50%", 1.0)):
            start = f"{figure}, {share} writes: largest |PEN| (%), mixture, all pins"
            assert max(ours(found, start).values()) < bar


def test_orders_and_trends_are_those_of_the_paper(found: Findings) -> None:
    # Each is a ratio that is below 1 if what the text says is so.
    for start in ("Fig. 7", "Fig. 8", "Fig. 9", "Figs. 7 and 8"):
        ratios = {
            name: value
            for name, value in ours(found, start).items()
            if " over that of " in name or " over random" in name or " over the first" in name
        }
        assert ratios
        assert all(value <= 1 for value in ratios.values()), ratios


def test_written_data_amplify_most_at_first_and_evenly_at_last(found: Findings) -> None:
    for name, value in ours(found, "Fig. 9").items():
        if "largest later WA over the first" in name:
            assert value < 1
        if "spread of the steady WA" in name:
            assert 1 <= value < 1.1


def test_the_initial_data_are_counted_in_the_first_sub_test_without_their_bytes() -> None:
    # A fifteenth of OP leaves so much spare that hardly anything else is written.
    scale = Scale(256, 8)
    tests = walvd.sub_tests(scale.device("ssd-i", "map_cache.bytes=0"), scale, 15)
    assert tests.wa[0] == pytest.approx(1 + 15.9 / 5, rel=0.05)
    assert tests.wa[1] == pytest.approx(1, abs=0.15)


def test_the_grid_is_table_2() -> None:
    accesses = grid((True, False), (1.0, 0.5))
    assert len(set(accesses)) == 2 * 2 * 2 * len(SIZES) == 40
    assert str(accesses[0]) == "512-RD-100%-W-Y"


@pytest.mark.parametrize("is_aligned", [True, False])
def test_sequential_accesses_touch_a_page_each_only_if_each_is_aligned(is_aligned: bool) -> None:
    access = Access(512, is_random=False, write_share=1.0, is_aligned=is_aligned)
    drive = Scale(512, 8).device("ssd-v", "map_cache.bytes=0")
    counts = Life(drive, access.load(drive.capacity_bytes, 64 * 512, seed=1)).settle()
    programs = sum(counts.pages[cause] for cause in ("host", "read_modify_write"))
    assert programs == (64 if is_aligned else 9)


@pytest.mark.parametrize("trace", [oltp.F1, oltp.F2])
def test_generated_requests_have_the_stated_statistics(trace: oltp.Statistics) -> None:
    offsets, sizes, is_write = trace.requests(2**32, 2**27, seed=1)
    assert is_write.mean() == pytest.approx(trace.write_share, abs=0.01)
    assert sizes[is_write].mean() == pytest.approx(trace.mean_bytes[0], rel=0.03)
    assert sizes[~is_write].mean() == pytest.approx(trace.mean_bytes[1], rel=0.03)
    assert sizes[is_write].max() <= trace.most_bytes[0]
    goes_on = offsets[1:] == offsets[:-1] + sizes[:-1]
    assert goes_on.mean() == pytest.approx(trace.sequential_share, abs=0.01)
    assert offsets.max() + sizes.max() <= 2**32 * trace.span_share


@pytest.mark.skipif(not TRACE.exists(), reason="the first requests of F1 are not here")
def test_the_first_requests_of_f1_amplify_less_than_random_writes_and_go_on_as_assumed() -> None:
    with TRACE.open(encoding="utf-8") as lines:
        rows = [row for row in csv.reader(lines) if int(row[2]) > 0]
    ends: list[tuple[str, int]] = []
    goes_on = []
    for unit, sector, size, op, _ in rows:
        if op.lower() == "w":
            goes_on.append((unit, int(sector)) in ends[-64:])
            ends.append((unit, int(sector) + -(-int(size) // 512)))
    assert np.mean(goes_on) == pytest.approx(oltp.F1.sequential_share, abs=0.01)

    drive = Scale(128, 16).device("ssd-i")
    units = sorted({row[0] for row in rows}, key=int)
    part = drive.capacity_bytes // len(units) // 4096 * 4096
    sizes = np.array([int(row[2]) // 512 * 512 or 512 for row in rows])
    offsets = np.array(
        [units.index(row[0]) * part + int(row[1]) * 512 % (part - 2**20) for row in rows]
    )
    is_write = np.array([row[3].lower() == "w" for row in rows])
    steady = Access(4096, is_random=True, write_share=1.0, is_aligned=True)
    life = Life(drive, steady.load(drive.capacity_bytes, 2**22, seed=1), ageing_writes=3)
    random = life.settle()
    counts = [life.go_on(requests(offsets, sizes, is_write)) for _ in range(3)]
    assert counts[-1].wa < counts[0].wa
    assert counts[-1].wa < random.wa
