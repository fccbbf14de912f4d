"""Logs of NVMe drives: their counters' units, and what is said of those that have none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from drive_logs import (
    ID_CTRL,
    INTEL_TEXT,
    LOGS,
    OCP_TEXT,
    SMART_TEXT,
    intel_page,
    samsung_page,
    stats,
)
from places import SHARED
from smart_documents import answer_to, snapshot_in, verdict
from vssd_documents import BLOCKS, COUNTERS, DEVICE
from writeamp.drives.counters.answer import interval_answer, life_answer
from writeamp.drives.counters.document import Document
from writeamp.drives.counters.printed import count_of
from writeamp.drives.counters.reading import read_snapshot, snapshots_in
from writeamp.drives.counters.result import DriveCounters
from writeamp.errors import WriteampError
from writeamp.vssd.counters import write_counters
from writeamp.vssd.log_pages import boot, ocp, smart

MORE = SHARED / "smart" / "more"
MIB32 = 2**25


def together(folder: Path, *contents: str | bytes) -> DriveCounters:
    folder.mkdir(exist_ok=True)
    for place, content in enumerate(contents):
        raw = content if isinstance(content, bytes) else content.encode()
        (folder / f"{place}.log").write_bytes(raw)
    return life_answer(read_snapshot(folder))


@pytest.mark.parametrize(
    ("printed", "count"),
    [
        ("1,902,011,793 [973 TB]", 1_902_011_793),
        ("1.902.011.793", 1_902_011_793),
        ("1 902 011 793", 1_902_011_793),
        ("1\u202f902\u202f011\u202f793", 1_902_011_793),
        ("1'902'011'793", 1_902_011_793),
        ("1,90,20,11,793", 1_902_011_793),
        ("0x2d0cdc01b", 0x2D0CDC01B),
        ("0 609651339018240", 609_651_339_018_240),
        ("2 609651339018240", (2 << 64) + 609_651_339_018_240),
        ("12 345", None),
        ("1.5", None),
        ("1,90,201", 190_201),
        ("1,9020,1", None),
        ("-5", None),
        ({"hi": 1, "lo": 2}, (1 << 64) + 2),
        (True, None),
        (float("nan"), None),
        ("9" * 60, None),
    ],
)
def test_a_printed_count_is_read_in_any_locale(printed: Any, count: int | None) -> None:
    found = count_of(printed)
    assert (None if found is None else found.low) == count


@pytest.mark.parametrize("printed", [5.27805403860992e14, 5.27805e14, "5.27805e+14", 2.0**60])
def test_a_float_is_as_wide_as_its_precision(printed: float | str) -> None:
    found = count_of(printed)
    true = float(printed)
    assert found.low <= true <= found.high
    assert found.high - found.low <= true * 1.1e-5


@pytest.mark.parametrize("name", ["ocp-text", "ocp-v1", "ocp-v2", "ocp-page", "wdc-ca", "samsung",
                                  "liteon", "boot-text", "micron-d0"])  # fmt: skip
@pytest.mark.parametrize("host", ["smart-text", "smart-json"])
def test_flash_bytes_of_a_vendor_over_the_host_of_the_smart_log(
    tmp_path: Path, name: str, host: str
) -> None:
    found = together(tmp_path, LOGS[name], LOGS[host])
    assert found.wa == pytest.approx(1.5, rel=1e-3)
    assert found.host.nominal == 2 * 10**12


@pytest.mark.parametrize("name", ["fdp-text", "fdp-json", "endurance-text", "endurance-json",
                                  "intel-text", "intel-json", "intel-page", "table", "micron-c6",
                                  "media-wear"])  # fmt: skip
def test_a_log_with_both_sides_gives_their_ratio(name: str) -> None:
    assert answer_to(LOGS[name]).wa == pytest.approx(1.5)


def test_seagates_hexadecimal_counts_are_of_512000_bytes() -> None:
    found = answer_to(LOGS["seagate"])
    assert (found.wa, found.host and found.host.nominal) == (2.0, 100 * 512_000)


@pytest.mark.parametrize("name", ["intel-text", "intel-json", "intel-page", "micron-c6"])
def test_where_vendors_share_a_name_the_ratio_has_no_bytes(name: str) -> None:
    found = answer_to(LOGS[name])
    assert (found.host, found.flash) == (None, None)
    assert found.wa_definition == "as the vendor reports"
    assert any("unit" in one for one in found.facts.notes)


@pytest.mark.parametrize("log", [INTEL_TEXT, intel_page(90_000, 60_000)])
def test_the_model_settles_that_intel_counts_32_mib(tmp_path: Path, log: str | bytes) -> None:
    found = together(tmp_path, log, ID_CTRL)
    assert (found.wa, found.host.nominal) == (1.5, 60_000 * MIB32)
    assert found.facts.model == "INTEL SSDPE2KX010T8"
    assert found.facts.capacity_bytes == 10**12


def test_solidigms_own_heading_settles_that_it_counts_32_mib() -> None:
    found = answer_to(stats("Solidigm SMART log", 90_000, 60_000))
    assert found.host.nominal == 60_000 * MIB32


def test_the_smart_log_settles_the_unit_of_an_unknown_vendor(tmp_path: Path) -> None:
    units = 60_000 * MIB32 // 512_000
    known = json.dumps({"critical_warning": 0, "data_units_written": units})
    found = together(tmp_path / "a", INTEL_TEXT, known)
    assert found.flash.nominal == 90_000 * MIB32
    unknown = together(tmp_path / "b", INTEL_TEXT, known.replace(str(units), str(units * 3)))
    assert (unknown.wa, unknown.flash) == (1.5, None)


def test_a_vendor_that_compresses_may_be_below_one() -> None:
    below = stats("ScaleFlux Smart log", 60_000, 90_000)
    assert answer_to(below).wa == pytest.approx(2 / 3)
    assert answer_to(below.replace("ScaleFlux", "Intel")).wa is None


@pytest.mark.parametrize(
    ("flash", "words"),
    [(0, "does not support"), (65_535, "not maintain"), (0xFFFFFFFF, "not maintain")],
)
def test_a_counter_that_is_not_kept_is_no_count(flash: int, words: str) -> None:
    found = answer_to(stats("Intel Smart log", flash, 60_000))
    assert found.wa is None
    assert words in found.reason


@pytest.mark.parametrize(
    ("name", "words"),
    [("wdc-d0", "cannot be computed"), ("virtium", "not supported"), ("tracker", "wrap")],
)
def test_logs_that_cannot_be_divided_say_why(name: str, words: str) -> None:
    found = answer_to(LOGS[name])
    assert (found.wa, found.kind) == (None, "none")
    assert words in found.reason


def test_a_flash_counter_off_by_512000_is_refused_with_what_it_would_be(tmp_path: Path) -> None:
    wrong = json.dumps(ocp.shown_log({ocp.WRITTEN: 3 * 10**12 // 512_000}, 2))
    found = together(tmp_path, wrong, SMART_TEXT)
    assert found.wa is None
    assert "it would be 1.5" in found.reason
    assert "512,000" in found.reason


def test_a_count_that_contradicts_the_size_beside_it_is_not_believed() -> None:
    found = answer_to(SMART_TEXT.replace("2.00 TB", "16.0 TB"))
    assert found.host is None
    assert "its unit is wrong" in found.reason


def test_a_log_of_two_drives_in_one_text_is_refused(tmp_path: Path) -> None:
    double = OCP_TEXT + OCP_TEXT.replace("3000000000000", "4000000000000")
    found = together(tmp_path, double, SMART_TEXT)
    assert found.wa is None
    assert "several times" in found.reason


def test_erases_times_capacity_refuse_a_boot_drive_in_bytes(tmp_path: Path) -> None:
    identity = ID_CTRL.replace("INTEL SSDPE2KX010T8", "HFS1T0").replace(
        str(10**12), str(120 * 10**9)
    )
    good = together(tmp_path / "good", LOGS["boot-text"], SMART_TEXT, identity)
    assert good.wa == pytest.approx(1.5, rel=1e-3)
    assert verdict(good, "erases x capacity") == "ok"
    small = identity.replace(str(120 * 10**9), str(10 * 10**9))
    bad = together(tmp_path / "bad", LOGS["boot-text"], SMART_TEXT, small)
    assert bad.wa is None
    assert "erases" in bad.reason


def test_a_raw_page_of_a_boot_drive_has_its_erases() -> None:
    page = bytearray(512)
    page[0:8] = (5_859_375).to_bytes(8, "little")
    for at, value in ((84, 20), (92, 30), (100, 25)):
        page[at] = value
    page[496:512] = boot.GUID.to_bytes(16, "little")
    erases = {one.part: one for one in answer_to(bytes(page)).facts.erases}
    assert (erases["tlc"].low, erases["tlc"].most) == (25, 30)


@pytest.mark.parametrize("version", [1, 2])
def test_every_field_of_the_ocp_log_comes_back_from_its_json(version: Any) -> None:
    values: dict[str, int | str] = {
        one.key: f"label {place}" if one.kind == "text" else place + 1
        for place, one in enumerate(ocp.FIELDS)
    }
    found = ocp.decoded_log(ocp.shown_log(values, version))
    for place, one in enumerate(ocp.FIELDS):
        if one.kind == "number":
            assert found[one.key] == place + 1, one
        elif one.kind == "wide":
            assert found[one.key] == {"hi": 0, "lo": place + 1}


def test_every_number_of_the_ocp_log_comes_back_from_its_page() -> None:
    values: dict[str, int | str] = {
        one.key: (1 << 8 * one.length) - 1 - place % 200
        for place, one in enumerate(ocp.FIELDS)
        if one.kind != "text"
    }
    assert ocp.decoded_page(ocp.encoded_page(values)) == values


def test_data_units_come_back_within_the_one_that_they_are_rounded_up() -> None:
    for size_bytes in (1, 511_999, 512_000, 512_001, 10**15 + 7):
        units = smart.data_units(size_bytes)
        (counter,) = answer_to(
            json.dumps({"critical_warning": 0, smart.WRITTEN: units})
        ).facts.counters
        assert counter.amount().low < size_bytes <= counter.amount().high


def test_the_folder_of_a_virtual_drive_has_its_write_amplification(tmp_path: Path) -> None:
    write_counters(tmp_path, COUNTERS, BLOCKS, DEVICE)
    found = life_answer(read_snapshot(tmp_path), "bytes")
    wa = sum(COUNTERS["programs"].values()) / COUNTERS["host"]["written_pages"]
    assert found.wa_low <= wa <= found.wa_high
    assert found.wa_high / found.wa_low < 1.01


def _fdp(folder: Path, host: int, flash: int) -> Path:
    folder.mkdir()
    log = {"hbmw": host, "mbmw": flash, "mbe": 0}
    (folder / "fdp.json").write_text(json.dumps(log))
    return folder


@pytest.mark.parametrize(
    ("before", "after"), [((2000, 3000), (10, 20)), ((0, 0), (10, 20)), ((2000, 3000), (0, 0))]
)
def test_fdp_that_was_switched_between_snapshots_is_named(
    tmp_path: Path, before: tuple[int, int], after: tuple[int, int]
) -> None:
    first, last = _fdp(tmp_path / "a", *before), _fdp(tmp_path / "b", *after)
    found = interval_answer(read_snapshot(first), read_snapshot(last))
    assert found.wa is None
    assert any("FDP" in one.evidence for one in found.checks)


def test_fdp_that_was_switched_leaves_the_drives_own_counters(tmp_path: Path) -> None:
    first, last = _fdp(tmp_path / "a", 2000, 3000), _fdp(tmp_path / "b", 10, 20)
    for folder, units in ((first, 10**6), (last, 3 * 10**6)):
        (folder / "smart.json").write_text(
            json.dumps({"critical_warning": 0, "data_units_written": units})
        )
        flash = ocp.shown_log({ocp.WRITTEN: units * 2 * 512_000}, 2)
        (folder / "ocp.json").write_text(json.dumps(flash))
    found = interval_answer(read_snapshot(first), read_snapshot(last))
    assert found.wa == pytest.approx(2)
    assert any("FDP" in one.evidence for one in found.checks if one.verdict == "doubt")


def test_nvme_list_names_each_drive_once() -> None:
    spaces = [{"PhysicalSize": 4 * 10**11}, {"PhysicalSize": 6 * 10**11}]
    controller = {"ModelNumber": "M", "SerialNumber": "S", "Firmware": "F", "Namespaces": spaces}
    log = {"Devices": [{"Subsystems": [{"Controllers": [controller]}]}]}
    snapshot = snapshot_in(log)
    assert (snapshot.facts.model, snapshot.facts.capacity_bytes) == ("M", 10**12)


@pytest.mark.parametrize("content", [b"", b"\x00" * 512, b"hello\nworld\n", b"[]", b"17", b"a,b\n"])
def test_what_is_no_log_is_refused(content: bytes) -> None:
    with pytest.raises(WriteampError, match="is not a snapshot"):
        snapshots_in(Document("x", content))


@pytest.mark.parametrize(
    ("name", "flash_bytes"),
    [
        ("cachelib-liteon-ssstc.txt", 157_035_510_104_064),
        ("cachelib-samsung-fb-ca.txt", 5_357_954_930_143_232),
        ("cachelib-skhynix-boot-c0.txt", 484_533_969 * 512_000),
        ("cachelib-toshiba-ca.txt", 11_339_979 * 2**30 // 10),
        ("cachelib-wdc-ocp-c0.txt", 609_651_339_018_240),
    ],
)
def test_flash_counters_of_real_logs_are_the_bytes_they_stand_for(
    name: str, flash_bytes: int
) -> None:
    path = MORE / name
    if not path.is_file():
        pytest.skip("the logs of real drives are not here")
    facts = read_snapshot(path).facts
    flash = next(one for one in facts.counters if one.side == "flash")
    assert int(flash.amount().nominal) == flash_bytes
    assert facts.erases


def test_samsungs_raw_page_gives_a_ratio_beside_a_model_that_has_it(tmp_path: Path) -> None:
    page = samsung_page(30_000_000, 12_018_566)
    identity = json.dumps({"sn": "S", "fr": "F", "mn": "SAMSUNG MZQL23T8HCLS-00A07"})
    found = together(tmp_path / "a", page, identity)
    assert found.wa == pytest.approx(30_000_000 / 12_018_566)
    assert (found.wa_definition, found.host) == ("as the vendor reports", None)
    for name, others in (("b", [page]), ("c", [page, ID_CTRL])):
        alone = together(tmp_path / name, *others)
        assert alone.wa is None
        assert "id-ctrl" in alone.reason


def test_bytes_that_are_no_page_are_no_snapshot() -> None:
    for content in (bytes(512), bytes(range(256)) * 2, samsung_page(0, 5000)):
        with pytest.raises(WriteampError, match="not a snapshot"):
            snapshots_in(Document("x", content))


_SNDK_JSON = {
    "physical_media_units_bytes_tlc": 484_533_969, "physical_media_units_bytes_slc": 12_271_117,
    "min_tlc_user_data_erase_count": 433, "max_tlc_user_data_erase_count": 484,
    "avg_tlc_user_data_erase_count": 450,
}  # fmt: skip
_SNDK_TEXT = """  SMART Cloud Attributes :-
  Physical Media Units Written TLC (Bytes): 484533969
  Physical Media Units Written SLC (Bytes): 12271117
  User data erase counts (Minimum TLC) (Int) : 433
  User data erase counts (Maximum TLC) (Int) : 484
  User data erase counts (Average TLC) (Int) : 450
"""


@pytest.mark.parametrize("log", [json.dumps(_SNDK_JSON), _SNDK_TEXT])
def test_units_of_boot_ssds_are_512000_bytes_though_tools_print_bytes(
    tmp_path: Path, log: str
) -> None:
    identity = json.dumps({"sn": "S", "fr": "F", "mn": "PC SN530", "tnvmcap": 512_110_190_592})
    host = '{"critical_warning": 0, "data_units_written": 300000000}'
    found = together(tmp_path, log, identity, host)
    assert found.wa == pytest.approx((484_533_969 + 12_271_117) / 300e6)
    assert verdict(found, "erases x capacity") == "ok"
    assert answer_to(log).to_dict()["flash_bytes"] == (484_533_969 + 12_271_117) * 512_000
