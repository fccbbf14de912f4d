"""Flash in virtual time: SLC caches, bit errors of reads, and one load after the other."""

from __future__ import annotations

import math
import re
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import writeamp as wa
from in_process import document, refusal, run
from timed_runs import PROFILE, timed
from writeamp._engine import TimedRun
from writeamp.devices.profile import profile as shipped
from writeamp.devices.profile import profile_names
from writeamp.plots.figures.latency import cliff_points
from writeamp.runs.timed.device import bytes_needed
from writeamp_papers.four_level.choices import Firmware
from writeamp_papers.four_level.drives import QUIET_NS, Drive, Life, Scale
from writeamp_papers.four_level.loads import Access, requests

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
    assert by_flash["tlc"] == pytest.approx((888 + found.causes["gc"]) / 1000)
    assert by_flash["total"] == by_flash["tlc"] + by_flash["slc"] == found.wa
    wear = found.wear_by_flash
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
    share = small.times["slc"]["static_bytes"] / full["slc"]["static_bytes"]
    assert share == pytest.approx(16 * 2**30 / 10**12, rel=1e-3)
    assert any("SLC cache" in sentence for sentence in small.shrunk)
    kept = wa.device("tlc-client", size="16GiB", set=["slc.static_bytes=1000000000"]).times
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
        ("slc.size=5", "slc.size is not a key of the device; valid: static_bytes, dynamic_share"),
        ("slc.static_bytes=-5", "slc.static_bytes is -5; it must be a whole number"),
    ],
)
def test_values_that_cannot_be_are_refused(profile: str, change: str, said: str) -> None:
    with pytest.raises(wa.WriteampError, match=said.replace(".", r"\.")):
        written(profile, 10, set=[change])


def test_a_watermark_of_a_cache_that_is_passed_by_when_full_is_refused(profile: str) -> None:
    arguments = "--workload sequential:bs=4k,write=1 --host-bytes 1MiB --set slc.watermark=0.5"
    through = f"--device {profile} {arguments} --set slc.when_full='\"through\"'"
    assert "slc.watermark is 0.5; it must be 1" in refusal("simulate", through)


def test_paced_collection_beside_one_is_refused(profile: str) -> None:
    paced = ["collection.background=true", "collection.paced=true"]
    first = ["scheduling.reads_first=true", "scheduling.copies_yield=true"]
    with pytest.raises(wa.WriteampError, match=r"an SLC cache does not support; it must be false"):
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
    x, y = cliff_points(times, written, pause_s=1.5)
    assert y[:2] == [1000, 500]
    assert x[:2] == [1.0, 1.5]
    assert math.isnan(x[2])
    assert (x[3], y[3]) == (2.0, 2000)
    assert cliff_points(times, written, pause_s=math.inf)[0] == [1.0, 1.5, 1.6, 3.6]
    assert cliff_points([0, 1], [0, 0], pause_s=1) == ([], [])


ERRORS = """
[errors]
erases = [0, 1000]
retention_days = [0, 30]
raw_bit_error_rate = [[1e-4, 1e-3], [4e-3, 2e-2]]
retry_factor = 0.5
most_retries = 3
decode_us = 10
"""
READS = "random:bs=4k,write=0,qd=2"
MIXED = "random:bs=4k,write=0.5,qd=2"
WORN = ["errors.worn_erases=1000", "errors.aged_days=30"]
WORN_OPTIONS = " ".join(f"--set {change}" for change in WORN)


@pytest.fixture
def erring(tmp_path: Path) -> str:
    path = tmp_path / "erring.toml"
    path.write_text(PROFILE + ERRORS)
    return str(path)


def read(device: str, load: str = READS, **settings: Any) -> wa.TimedResult:
    return timed(device, load, time=0.05, **settings)


def tries(found: wa.TimedResult) -> float:
    """Return the further tries of a read, in the mean."""
    retries = sum(found.read_retries.values())
    return retries / (found.figures.read_operations - retries)


def test_reads_of_worn_flash_are_tried_again_and_told_by_purpose(erring: str) -> None:
    fresh, worn = (read(erring, MIXED, set=changes) for changes in (None, WORN))
    assert fresh.read_retries == {"host": 0, "copies": 0, "mapping": 0}
    assert worn.read_retries["host"] > 0
    assert worn.read_retries["mapping"] == 0
    # Half of a rate of 0.02 is 82 wrong bits of 8192 in the mean, of which 72 are corrected.
    assert worn.latency_us["read"]["p50"] > 2 * fresh.latency_us["read"]["p50"]
    keys = worn.to_dict()
    assert keys["read_retries"] == worn.read_retries
    assert keys["uncorrectable_reads"] == {"host": 0, "copies": 0, "mapping": 0}


def test_copies_are_read_again_too(erring: str) -> None:
    load = "random:bs=4k,write=1,qd=8"
    found = read(erring, load, precondition="random:2", set=WORN)
    retries = found.read_retries
    assert retries["copies"] > 0
    assert retries["host"] == 0
    assert found.figures.read_operations > retries["copies"]


def test_members_of_an_array_count_together(erring: str, tmp_path: Path) -> None:
    path = tmp_path / "worn.toml"
    path.write_text(PROFILE + ERRORS + "worn_erases = 1000\naged_days = 30\n")
    one, both = (tries(read(f"raid0:{path},{other}")) for other in (erring, path))
    # Half of the reads are of the member that is new.
    assert one == pytest.approx(both / 2, rel=0.1)
    assert both > 1
    # A device without errors has none to tell of.
    assert read("raid0:ssd-v,ssd-v").read_retries is None


def test_reads_that_no_try_corrects_are_warned_of(erring: str) -> None:
    found = read(erring, set=[*WORN, "errors.retry_factor=1"])
    lost = found.uncorrectable_reads["host"]
    assert lost > 0
    assert any(f"{lost:,} page reads could not be corrected" in one for one in found.warnings)
    shown = run("simulate", f"--device {erring} --workload {READS} --time 10ms {WORN_OPTIONS}")
    assert re.search(r"repeated reads\W+[\d,]+ host", shown.out)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("errors.erases=[0, 0]", "errors.erases is [0.0, 0.0]; it must have 1 to 64 values"),
        ("errors.erases=[10, 1000]", "the first 0 and each above the previous one"),
        ("errors.erases=[0]", "rows of [2, 2] values; it must have 1 (one per value of"),
        ("errors.retention_days=[0, 1, 2]", "of 3 (one per value of errors.retention_days)"),
        ("errors.raw_bit_error_rate=[[1e-4, 1e-3], [1e-3]]", "rows of [2, 1] values"),
        ("errors.raw_bit_error_rate=[[1e-4, 0.6], [1e-3, 1]]", "from 1e-12 to 0.5"),
        ("errors.raw_bit_error_rate=[[1e-3, 1e-4], [1e-2, 1e-2]]", "decreases with retention"),
        ("errors.raw_bit_error_rate=[[1e-2, 1e-2], [1e-3, 1e-2]]", "decreases with erases"),
        ("errors.raw_bit_error_rate=[]", "raw_bit_error_rate has no rates"),
        ("errors.raw_bit_error_rate=[0.1, 0.2]", "must be a list of lists of numbers"),
        ("errors.raw_bit_error_rate=0.1", "errors.raw_bit_error_rate is 0.1; it must be a list"),
        ("errors.worn_erases=2000", "errors.worn_erases is 2000, but errors.erases ends at 1000"),
        ("errors.aged_days=31", "errors.aged_days is 31, but errors.retention_days ends at 30"),
        ("errors.correctable_bits=8192", "must be less than the 8192 bits"),
        ("errors.retry_factor=1.5", "errors.retry_factor"),
        ("errors.most_retries=256", "errors.most_retries"),
        ("errors.voltage=3", "errors.voltage is not a key of the device; valid: erases, "),
    ],
)
def test_a_table_that_cannot_be_is_refused_in_a_sentence(
    erring: str, change: str, sentence: str
) -> None:
    asked = f"--device {erring} --workload {READS} --set '{change}'"
    assert sentence in refusal("simulate", asked)


def test_wear_means_nothing_to_a_profile_without_rates() -> None:
    said = refusal("simulate", f"--device ssd-v --workload {READS} {WORN_OPTIONS}")
    assert "errors.raw_bit_error_rate has no rates" in said


@pytest.mark.parametrize("name", ["tlc-datacenter", "tlc-client", "qlc"])
def test_a_new_drive_finds_what_it_would_without_a_table(name: str, tmp_path: Path) -> None:
    profiles = resources.files("writeamp.devices").joinpath("profiles")
    text = profiles.joinpath(f"{name}.toml").read_text()
    without = re.sub(r"\[errors\].*?(?=\[sources\])", "", text, flags=re.DOTALL)
    kept = [line for line in without.splitlines() if not line.startswith(("errors", '"errors'))]
    path = tmp_path / "perfect.toml"
    path.write_text("\n".join(kept))
    pair = []
    for device in (name, str(path)):
        found = read(device, "random:bs=16k,write=0.5,qd=4", size="1GiB").to_dict(series=True)
        retries, lost = found.pop("read_retries", None), found.pop("uncorrectable_reads", None)
        if device == name:
            assert retries == lost == {"host": 0, "copies": 0, "mapping": 0}
        # What names the profile, and what tells of this machine.
        for key in ("device", "notes", "shrunk", "elapsed_s", "flash_ops_per_s"):
            found.pop(key, None)
        pair.append(found)
    assert pair[0] == pair[1]


def test_profiles_with_errors_say_where_the_numbers_come_from() -> None:
    erring = [name for name in profile_names() if "errors" in (shipped(name).shape.times or {})]
    assert erring == ["qlc", "tlc-client", "tlc-datacenter"]
    assert all("errors.raw_bit_error_rate" in shipped(name).sources for name in erring)


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
    assert counters["host_bytes"] == 384 * KIB
    # What was measured of the second load has none of the five minutes before it.
    assert second.write_s < 10


def test_a_load_may_not_begin_before_the_last_is_settled() -> None:
    run = life().run
    with pytest.raises(wa.WriteampError, match="settle before the next load"):
        run.go_on(RANDOM.load(2**24, 4 * KIB, seed=1), seed=1, requests=1)


def test_a_further_load_needs_an_end_too() -> None:
    run = life().run
    settled(run)
    with pytest.raises(wa.WriteampError, match="has no limit"):
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
