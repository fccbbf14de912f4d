"""Bit errors of reads in timed runs: the table of a profile, its refusals, and what is told."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

import writeamp as wa
from in_process import refusal, run
from timed_runs import PROFILE, timed
from writeamp.devices.profile import profile as shipped
from writeamp.devices.profile import profile_names

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
def profile(tmp_path: Path) -> str:
    path = tmp_path / "erring.toml"
    path.write_text(PROFILE + ERRORS)
    return str(path)


def read(device: str, load: str = READS, **settings: Any) -> wa.TimedResult:
    return timed(device, load, time=0.05, **settings)


def tries(found: wa.TimedResult) -> float:
    """Return the further tries of a read, in the mean."""
    assert found.read_retries is not None
    retries = sum(found.read_retries.values())
    return retries / (found.found.read_operations - retries)


def test_reads_of_worn_flash_are_tried_again_and_told_by_purpose(profile: str) -> None:
    fresh, worn = (read(profile, MIXED, set=changes) for changes in (None, WORN))
    assert fresh.read_retries == {"host": 0, "copies": 0, "mapping": 0}
    assert worn.read_retries is not None
    assert worn.read_retries["host"] > 0
    assert worn.read_retries["mapping"] == 0
    # Half of a rate of 0.02 is 82 wrong bits of 8192 in the mean, of which 72 are corrected.
    assert worn.latency_us["read"]["p50"] > 2 * fresh.latency_us["read"]["p50"]
    keys = worn.to_dict()
    assert keys["read_retries"] == worn.read_retries
    assert keys["uncorrectable_reads"] == {"host": 0, "copies": 0, "mapping": 0}


def test_copies_are_read_again_too(profile: str) -> None:
    load = "random:bs=4k,write=1,qd=8"
    found = read(profile, load, precondition="random:2", set=WORN)
    retries = found.read_retries
    assert retries is not None
    assert retries["copies"] > 0
    assert retries["host"] == 0
    assert found.found.read_operations > retries["copies"]


def test_members_of_an_array_count_together(profile: str, tmp_path: Path) -> None:
    path = tmp_path / "worn.toml"
    path.write_text(PROFILE + ERRORS + "worn_erases = 1000\naged_days = 30\n")
    one, both = (tries(read(f"raid0:{path},{other}")) for other in (profile, path))
    # Half of the reads are of the member that is new.
    assert one == pytest.approx(both / 2, rel=0.1)
    assert both > 1
    # A device without errors has none to tell of.
    assert read("raid0:ssd-v,ssd-v").read_retries is None


def test_reads_that_no_try_corrects_are_warned_of(profile: str) -> None:
    found = read(profile, set=[*WORN, "errors.retry_factor=1"])
    assert found.uncorrectable_reads is not None
    lost = found.uncorrectable_reads["host"]
    assert lost > 0
    assert any(f"{lost:,} page reads stayed wrong" in one for one in found.warnings)
    shown = run("simulate", f"--device {profile} --workload {READS} --time 10ms {WORN_OPTIONS}")
    assert re.search(r"further tries of reads\W+[\d,]+ host", shown.out)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("errors.erases=[0, 0]", "errors.erases is [0.0, 0.0]; it must have 1 to 64 values"),
        ("errors.erases=[10, 1000]", "the first 0 and each above that before"),
        ("errors.erases=[0]", "rows of [2, 2] values; it must have 1, one for each of"),
        ("errors.retention_days=[0, 1, 2]", "of 3, one for each of errors.retention_days"),
        ("errors.raw_bit_error_rate=[[1e-4, 1e-3], [1e-3]]", "rows of [2, 1] values"),
        ("errors.raw_bit_error_rate=[[1e-4, 0.6], [1e-3, 1]]", "from 1e-12 to 0.5"),
        ("errors.raw_bit_error_rate=[[1e-3, 1e-4], [1e-2, 1e-2]]", "falls with retention"),
        ("errors.raw_bit_error_rate=[[1e-2, 1e-2], [1e-3, 1e-2]]", "falls with erases"),
        ("errors.raw_bit_error_rate=[]", "raw_bit_error_rate gives no rates"),
        ("errors.raw_bit_error_rate=[0.1, 0.2]", "must be a list of lists of numbers"),
        ("errors.raw_bit_error_rate=0.1", "errors.raw_bit_error_rate is 0.1; it must be a list"),
        ("errors.worn_erases=2000", "errors.worn_erases is 2000; errors.erases ends at 1000"),
        ("errors.aged_days=31", "errors.aged_days is 31; errors.retention_days ends at 30"),
        ("errors.correctable_bits=8192", "must be less than the 8192 bits"),
        ("errors.retry_factor=1.5", "errors.retry_factor"),
        ("errors.most_retries=256", "errors.most_retries"),
        ("errors.voltage=3", "errors.voltage is no key of the device; valid: erases, "),
    ],
)
def test_a_table_that_cannot_be_is_refused_in_a_sentence(
    profile: str, change: str, sentence: str
) -> None:
    asked = f"--device {profile} --workload {READS} --set '{change}'"
    assert sentence in refusal("simulate", asked)


def test_wear_means_nothing_to_a_profile_without_rates() -> None:
    said = refusal("simulate", f"--device ssd-v --workload {READS} {WORN_OPTIONS}")
    assert "errors.raw_bit_error_rate gives no rates" in said


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
