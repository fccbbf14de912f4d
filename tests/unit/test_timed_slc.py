"""SLC caches of runs in virtual time: WA by kind of flash, sizes, and the write cliff."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import writeamp as wa
from in_process import document, refusal
from timed_runs import PROFILE, timed
from writeamp.plots.figures.latency import cliff_panel
from writeamp.runs.timed.device import bytes_needed

# Rows of 16 pages, 4 on each of 4 dies; the first is folded when the eighth is begun: 112 pages are
# a burst that fits.
SLC = """
[slc]
static_bytes = 524288
read_us = 20
program_us = 100
erase_us = 1000
rated_cycles = 1000
"""
PAGE = 4096


@pytest.fixture
def profile(tmp_path: Path) -> str:
    path = tmp_path / "cached.toml"
    path.write_text(PROFILE + SLC)
    return str(path)


def written(profile: str, pages: int, **settings: Any) -> wa.TimedResult:
    load = settings.pop("load", "sequential:bs=4k,write=1,qd=8")
    return timed(profile, load, host_bytes=pages * PAGE, **settings)


def test_a_burst_that_fits_programs_the_cache_alone(profile: str) -> None:
    found = written(profile, 100).to_dict()
    assert found["wa_by_flash"] == {"tlc": 0.0, "slc": 1.0, "total": 1.0}
    assert found["causes"]["slc"] == found["flash_pages"] == 100
    assert found["wear_by_flash"]["slc"]["erases"] == found["wear_by_flash"]["tlc"]["erases"] == 0


def test_a_longer_burst_is_folded_but_for_what_fits(profile: str) -> None:
    found = written(profile, 1000)
    assert (found.causes["slc"], found.causes["folding"]) == (1000, 1000 - 112)
    by_flash = found.wa_by_flash
    assert by_flash is not None
    assert by_flash["tlc"] == pytest.approx((888 + found.causes["gc"]) / 1000)
    assert by_flash["total"] == by_flash["tlc"] + by_flash["slc"] == found.wa
    wear = found.wear_by_flash
    assert wear is not None
    # 888 pages are 55 rows of four blocks, and half a row.
    assert wear["slc"]["erases"] == 55 * 4
    assert wear["slc"]["used_share"] == pytest.approx(55 / 8 / 1000)
    assert wear["tlc"]["rated_cycles"] is None


def test_a_pause_folds_all_full_rows(profile: str) -> None:
    found = written(profile, 1000, set="slc.idle_ms=5")
    assert found.causes["folding"] == 1000 // 16 * 16


def test_what_is_overwritten_in_the_cache_spares_the_other_flash(profile: str) -> None:
    few = written(profile, 2000, utilization=0.02, load="random:bs=4k,write=1,qd=8")
    many = written(profile, 2000, load="random:bs=4k,write=1,qd=8")
    assert few.wa_by_flash is not None
    assert many.wa_by_flash is not None
    assert few.wa_by_flash["tlc"] < 0.5
    assert many.wa_by_flash["tlc"] > 0.9
    assert few.wa_by_flash["slc"] == many.wa_by_flash["slc"] == 1


def test_a_drive_without_one_tells_no_kinds_of_flash(tmp_path: Path) -> None:
    path = tmp_path / "plain.toml"
    path.write_text(PROFILE)
    found = written(str(path), 100).to_dict()
    assert "wa_by_flash" not in found
    assert "wear_by_flash" not in found
    assert (found["causes"]["slc"], found["causes"]["folding"]) == (0, 0)


def test_the_blocks_shrink_with_the_drive_unless_they_are_given() -> None:
    full = wa.device("tlc-client", size="1TB").times
    small = wa.device("tlc-client", size="16GiB")
    assert full is not None
    assert small.times is not None
    share = small.times["slc"]["static_bytes"] / full["slc"]["static_bytes"]
    assert share == pytest.approx(16 * 2**30 / 10**12, rel=1e-3)
    assert any("SLC cache" in sentence for sentence in small.shrunk)
    kept = wa.device("tlc-client", size="16GiB", set=["slc.static_bytes=1000000000"]).times
    assert kept is not None
    assert kept["slc"]["static_bytes"] == 10**9


def test_the_memory_of_its_tables_is_counted() -> None:
    cached = wa.device("tlc-client", size="16GiB")
    plain = wa.device("tlc-client", size="16GiB", set=["slc.static_bytes=0", "slc.dynamic_share=0"])
    assert bytes_needed(cached) - bytes_needed(plain) > 4 * cached.logical_pages


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("slc.watermark=1.5", "slc.watermark is 1.5; it must be from 0 to 1"),
        ("slc.bits_per_cell=0", "slc.bits_per_cell is 0; it must be from 1 to 8"),
        ("slc.spread=0.5", "slc.spread is 0.5"),
        ("slc.static_bytes=99999999999999999", "slc.static_bytes"),
        ('slc.when_full="stop"', "slc.when_full is stop; it must be fold or through"),
        ("slc.size=5", "slc.size is no key of the device; valid: static_bytes, dynamic_share"),
        ("slc.static_bytes=-5", "slc.static_bytes is -5; it must be a whole number"),
    ],
)
def test_values_that_cannot_be_are_refused(profile: str, change: str, said: str) -> None:
    with pytest.raises(wa.WriteampError, match=said.replace(".", r"\.")):
        written(profile, 10, set=[change])


def test_a_watermark_of_a_cache_that_is_passed_by_when_full_is_refused(profile: str) -> None:
    arguments = "--workload sequential:bs=4k,write=1 --host-bytes 1MiB --set slc.watermark=0.5"
    through = f"--device {profile} {arguments} --set slc.when_full='\"through\"'"
    assert "watermark must be 1" in refusal("simulate", through)


def test_paced_collection_beside_one_is_refused(profile: str) -> None:
    paced = ["collection.background=true", "collection.paced=true"]
    first = ["scheduling.reads_first=true", "scheduling.copies_yield=true"]
    with pytest.raises(wa.WriteampError, match=r"beside an SLC cache.* it must be false"):
        written(profile, 10, set=[*paced, *first])


def test_json_and_figure_have_the_kinds_and_the_cliff(profile: str, tmp_path: Path) -> None:
    path = tmp_path / "cliff.html"
    load = "--workload sequential:bs=16k,write=1 --host-bytes 8MiB"
    found = document("simulate", f"--device {profile} {load} --plot {path}")
    assert found["wa_by_flash"]["total"] == found["wa"]
    assert "Write cliff" in path.read_text()
    titles = [panel.title for panel in written(profile, 1000).figure().panels]
    assert titles[-1] == "Write cliff"


def test_requests_in_bytes_to_such_a_drive_are_timed(profile: str, tmp_path: Path) -> None:
    plain = tmp_path / "plain.toml"
    plain.write_text(PROFILE)
    for workload in ("sequential:bs=4k", "random:bs=4k,write=1", "io:write=1"):
        assert isinstance(wa.simulate(profile, workload, host_bytes=100 * PAGE), wa.TimedResult)
        assert not isinstance(wa.simulate(str(plain), workload, writes=100), wa.TimedResult)
    assert not isinstance(wa.simulate(profile, "uniform", writes=100), wa.TimedResult)


def test_the_cliff_counts_bytes_from_each_pause_on() -> None:
    # A thousand 10⁶ bytes in the first second, half of them in the next; a pause; a fast second.
    times, written = [0, 1, 2, 4, 5], [0, 1e9, 1.5e9, 1.6e9, 3.6e9]
    panel = cliff_panel(times, written, pause_s=1.5)
    assert panel is not None
    (line,) = panel.lines
    assert list(line.y[:2]) == [1000, 500]
    assert list(line.x[:2]) == [1.0, 1.5]
    assert math.isnan(line.x[2])
    assert (line.x[3], line.y[3]) == (2.0, 2000)
    whole = cliff_panel(times, written, pause_s=math.inf)
    assert whole is not None
    assert list(whole.lines[0].x) == [1.0, 1.5, 1.6, 3.6]
    assert cliff_panel([0, 1], [0, 0], pause_s=1) is None
