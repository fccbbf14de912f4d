"""Counters of the virtual SSD have the keys, types and units of those of real drives."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from patience import await_value
from places import SHARED
from vssd_documents import BLOCKS, COUNTERS, DEVICE, HANDLES, PAGE_BYTES, counters
from writeamp.errors import WriteampError
from writeamp.vssd.counters import (
    Refresher,
    fdp_statistics,
    ocp_log,
    ocp_page,
    smart_log,
    write_counters,
)
from writeamp.vssd.log_pages.ocp import PAGE_BYTES as OCP_BYTES
from writeamp.vssd.log_pages.smart import DATA_UNIT_BYTES

SAMPLES = SHARED / "smart" / "issues_samples.txt"

# `nvme smart-log -o json` of a drive without further sensors: all are whole numbers.
OLD_SMART_KEYS = [
    "critical_warning",
    "temperature",
    "avail_spare",
    "spare_thresh",
    "percent_used",
    "data_units_read",
    "data_units_written",
    "host_read_commands",
    "host_write_commands",
    "controller_busy_time",
    "power_cycles",
    "power_on_hours",
    "unsafe_shutdowns",
    "media_errors",
    "num_err_log_entries",
    "warning_temp_time",
    "critical_comp_time",
    "thm_temp1_trans_count",
    "thm_temp2_trans_count",
    "thm_temp1_total_time",
    "thm_temp2_total_time",
]
SMART_KEYS = {*OLD_SMART_KEYS, "endurance_grp_critical_warning_summary"}  # nvme-cli 2 has it too
WA = sum(COUNTERS["programs"].values()) / COUNTERS["host"]["written_pages"]


def samples() -> list[dict[str, Any]]:
    """Return the JSON documents that people quoted from real drives."""
    if not SAMPLES.is_file():
        return []
    lines = SAMPLES.read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def test_smart_has_the_keys_and_whole_numbers_of_nvme_cli() -> None:
    found = smart_log(COUNTERS)
    assert set(found) == SMART_KEYS
    assert all(type(value) is int for value in found.values())


def test_the_keys_are_those_of_a_real_drive() -> None:
    real = [one for one in samples() if "data_units_written" in one]
    if not real:
        pytest.skip("the samples of real drives are not here")
    for one in real:
        assert set(one) == set(OLD_SMART_KEYS)
        assert {type(value) for value in one.values()} == {int}


@pytest.mark.parametrize(
    ("written", "units"), [(0, 0), (1, 1), (512_000, 1), (512_001, 2), (10**15, 1_953_125_000)]
)
def test_a_data_unit_is_512000_bytes_rounded_up(written: int, units: int) -> None:
    host = COUNTERS["host"] | {"written_bytes": written, "read_bytes": written + 512_000}
    found = smart_log(counters(host=host))
    assert found["data_units_written"] == units
    assert found["data_units_read"] == units + 1


def test_smart_counts_the_hosts_requests_and_the_hours_served() -> None:
    found = smart_log(COUNTERS)
    assert found["host_write_commands"] == 15_000
    assert found["host_read_commands"] == 290
    assert found["power_on_hours"] == 2
    assert 273 < found["temperature"] < 323  # kelvin


def test_wa_of_smart_and_ocp_is_that_of_the_drive_within_the_rounding() -> None:
    media = ocp_log(COUNTERS, BLOCKS, DEVICE)["physical_media_units_written"]
    assert isinstance(media, dict)
    flash_bytes = media["hi"] * 2**64 + media["lo"]
    host_bytes = smart_log(COUNTERS)["data_units_written"] * DATA_UNIT_BYTES
    rounding = DATA_UNIT_BYTES / COUNTERS["host"]["written_bytes"]
    assert WA / (1 + rounding) <= flash_bytes / host_bytes <= WA


def test_wa_of_fdp_is_that_of_the_drive_exactly() -> None:
    found = fdp_statistics(COUNTERS)
    assert found["mbmw"] / found["hbmw"] == WA
    assert found == {
        "hbmw": 20_000 * PAGE_BYTES,
        "mbmw": 46_000 * PAGE_BYTES,
        "mbe": 901 * 50 * PAGE_BYTES,
    }


def test_blocks_of_an_slc_cache_are_erased_too() -> None:
    slc = {"blocks": 64, "erases": 30, "erased_pages": 30 * 16, "valid_pages": 7}
    found = fdp_statistics(counters(slc=slc))
    assert found["mbe"] == (901 * 50 + 30 * 16) * PAGE_BYTES


def test_fdp_has_a_row_for_each_placement_handle_if_the_drive_counts_them() -> None:
    found = fdp_statistics(counters(handles=HANDLES))
    assert [row["handle"] for row in found["handles"]] == [0, 2, None]
    for key, of_drive in (("host_bytes", "hbmw"), ("media_bytes", "mbmw")):
        assert sum(row[key] for row in found["handles"]) == found[of_drive]
    assert [row["wa"] for row in found["handles"]] == [16 / 15, 6, None]
    assert [row["moved_in"] for row in found["handles"]] == [0, 0, 25_000 * PAGE_BYTES]
    assert [row["moved_out"] for row in found["handles"]] == [
        pages * PAGE_BYTES for pages in (800, 10_200, 14_000)
    ]


def test_bytes_beyond_64_bits_are_carried_into_hi() -> None:
    found = ocp_log(counters(programs={"host": 2**53}), BLOCKS, DEVICE)
    assert found["physical_media_units_written"] == {"hi": 2, "lo": 0}


def test_both_styles_of_keys_hold_the_same_values() -> None:
    new = ocp_log(COUNTERS, BLOCKS, DEVICE)
    old = ocp_log(COUNTERS, BLOCKS, DEVICE, version=1)
    assert list(new.values()) == list(old.values())
    assert all(re.fullmatch("[a-z0-9_]+", key) for key in new)
    # As a real drive's log shows them.
    for key in (
        "Physical media units written",
        "Physical media units read",
        "Bad user nand blocks - Raw",
        "Bad user nand blocks - Normalized",
    ):
        assert type(old[key]) is (dict if "units" in key else int)


def test_ocp_keys_of_real_logs_are_ours() -> None:
    real = [one for one in samples() if "Physical media units written" in one]
    if not real:
        pytest.skip("the samples of real drives are not here")
    old = ocp_log(COUNTERS, BLOCKS, DEVICE, version=1)
    for one in real:
        assert {key: type(value) for key, value in one.items()}.items() <= {
            key: type(value) for key, value in old.items()
        }.items()


def test_ocp_says_wear_copies_and_free_blocks() -> None:
    found = ocp_log(COUNTERS, BLOCKS, DEVICE)
    assert found["max_user_data_erase_count"] == 14
    assert found["min_user_data_erase_count"] == 3
    assert found["nand_avg_erase_count"] == 9
    assert found["total_media_dies"] == 1
    assert found["log_page_version"] == 5
    assert found["log_page_guid"] == "0xafd514c97c6f4f9ca4f2bfea2810afc5"
    assert found["nuse_namespace_utilization"] == 3990 * 8
    # 300 pages read by the host, 11 around partial writes, 26,000 copied.
    assert found["physical_media_units_read"] == {"hi": 0, "lo": 26_311 * PAGE_BYTES}
    # The 3990 valid pages fill 80 blocks, so 20 are spare; 5 are free and one has no valid page.
    assert found["percent_free_blocks"] == 30


def test_a_new_drive_is_all_free() -> None:
    blocks = {"valid_pages_histogram": [0] * 51, "free_blocks": 100, "erase_counts": {"0": 100}}
    found = ocp_log(counters(mapped_pages=0), blocks, DEVICE)
    assert found["percent_free_blocks"] == 100


def test_the_raw_page_has_the_layout_of_the_specification() -> None:
    page = ocp_page(COUNTERS, BLOCKS, DEVICE)
    assert len(page) == OCP_BYTES == 512
    assert int.from_bytes(page[0:16], "little") == 46_000 * PAGE_BYTES
    assert int.from_bytes(page[16:32], "little") == 26_311 * PAGE_BYTES
    assert int.from_bytes(page[88:92], "little") == 14
    assert int.from_bytes(page[92:96], "little") == 3
    assert page[120] == 30
    assert int.from_bytes(page[224:232], "little") == 9
    assert int.from_bytes(page[494:496], "little") == 5
    assert page[496:].hex(" ").upper() == "C5 AF 10 28 EA BF F2 A4 9C 4F 6F 7C C9 14 D5 AF"


def test_the_files_are_those_documents(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "counters"
    write_counters(folder, COUNTERS, BLOCKS, DEVICE)
    assert sorted(path.name for path in folder.iterdir()) == [
        "fdp.json",
        "ocp-v1.json",
        "ocp.bin",
        "ocp.json",
        "smart.json",
    ]
    assert json.loads((folder / "smart.json").read_text()) == smart_log(COUNTERS)
    assert json.loads((folder / "ocp.json").read_text()) == ocp_log(COUNTERS, BLOCKS, DEVICE)
    assert json.loads((folder / "fdp.json").read_text()) == fdp_statistics(COUNTERS)
    assert (folder / "ocp.bin").read_bytes() == ocp_page(COUNTERS, BLOCKS, DEVICE)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WriteampError, match="file/counters"):
        write_counters(tmp_path / "file" / "counters", COUNTERS, BLOCKS, DEVICE)


class Drive:
    """Answers as a running drive does, until it is gone."""

    def __init__(self) -> None:
        self.erases = 0
        self.is_gone = False

    def counters(self) -> dict[str, Any]:
        if self.is_gone:
            raise WriteampError("no virtual drive responds")
        return counters(erases=self.erases)

    def blocks(self) -> dict[str, Any]:
        return BLOCKS


def test_the_files_follow_the_drive_while_it_runs_and_are_last_written_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("writeamp.vssd.counters._PERIOD_S", 0.01)
    drive = Drive()

    def erased() -> int:
        return int(json.loads((tmp_path / "fdp.json").read_text())["mbe"]) // (50 * PAGE_BYTES)

    with Refresher(tmp_path, drive, DEVICE):
        assert erased() == 0
        drive.erases = 1
        await_value(lambda: erased() == 1)  # every reading finds a whole file
        drive.erases = 2
    assert erased() == 2


def test_a_drive_that_is_gone_at_the_end_is_an_error(tmp_path: Path) -> None:
    drive = Drive()
    with pytest.raises(WriteampError, match="no virtual drive"), Refresher(tmp_path, drive, DEVICE):
        drive.is_gone = True


def test_what_failed_in_the_run_is_not_hidden_by_a_drive_that_is_gone(tmp_path: Path) -> None:
    drive = Drive()
    refresher = Refresher(tmp_path, drive, DEVICE)
    drive.is_gone = True
    with pytest.raises(ZeroDivisionError), refresher:
        raise ZeroDivisionError
