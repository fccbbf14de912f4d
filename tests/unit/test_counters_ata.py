"""Counters of ATA drives against all else that their attributes and statistics say."""

from __future__ import annotations

from typing import Any

import pytest

from smart_documents import CAPACITY, answer_to, ata, snapshot_in, verdict
from writeamp.drives.counters.answer import interval_answer, life_answer
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.errors import WriteampError

GIB = 1 << 30


A400, BLUE, IRONWOLF = "KINGSTON SA400S37480G", "WDC WDS500G2B0A", "ZA240NM10001"
INTEL, HYNIX = "INTEL SSDSC2KB480G8", "SK hynix SC311 SATA 256GB"
_SATA, _GIB_NAMED = "SK hynix SATA SSDs", {241: (10**9, 100, "Total_Writes_GiB")}
_FLASH_NAMED = {241: 1000, 233: (2000, 100, "Flash_Writes_32MiB")}
_DEFAULTS = {241: (5036, 100, "Total_LBAs_Written"), 233: (8838, 100, "Media_Wearout_Indicator")}
# What a drive says; the check, its verdict, and the WA that is left.
CHECKS: list[tuple[dict[str, Any], str, str | None, float | None]] = [
    # Erases that are far from the flash counter refuse it, and nearer ones doubt it.
    (ata(A400, {241: 5000, 233: 10_000, 244: 22}), "erases x capacity", "ok", 2),
    (ata(A400, {241: 5000, 233: 10_000, 244: 40}), "erases x capacity", "doubt", 2),
    (ata(A400, {241: 5000, 233: 10_000, 244: 120}), "erases x capacity", "fail", None),
    # Erases of TLC are compared with the counter of TLC alone.
    (ata(BLUE, {241: 10**4, 233: 24_000, 234: 40_000, 173: 50}), "erases x capacity", "ok", 6.4),
    (ata(BLUE, {241: 10**4, 233: 1000, 234: 40_000, 173: 50}), "erases x capacity", "fail", None),
    # What is written was erased before.
    (ata(IRONWOLF, {241: 141_921, 233: 163_817, 100: 85_641}), "erased bytes", "doubt", 1.1543),
    (ata(IRONWOLF, {241: 141_921, 233: 163_817, 100: 170_000}), "erased bytes", "ok", 1.1543),
    # Two attributes that should repeat each other.
    (ata(INTEL, {225: 10**6, 243: 3 * 10**6, 241: 10**6}), "225 and 241", "ok", 3),
    (ata(INTEL, {225: 10**6, 243: 3 * 10**6, 241: 10**5}), "225 and 241", "doubt", 3),
    # More than the link carries in these hours.
    (ata(INTEL, {225: 10**6, 243: 3 * 10**6}, hours=3), "host against hours", "doubt", 3),
    (ata(INTEL, {225: 10**6, 243: 3 * 10**6}), "host against hours", None, 3),
    # Names that contradict the table, unless device statistics settle them; defaults say nothing.
    (ata(HYNIX, _GIB_NAMED, family=_SATA), "names", "doubt", None),
    (ata(HYNIX, _GIB_NAMED, family=_SATA, sectors=10**9), "names", "ok", None),
    (ata("KINGSTON SKC400S371T", _FLASH_NAMED, family="Phison"), "names", "doubt", 2),
    (ata("ZA1000CM10003", _DEFAULTS), "names", "ok", 1.755),
]


@pytest.mark.parametrize(("document", "check", "said", "wa"), CHECKS)
def test_the_drive_itself_confirms_doubts_or_refuses_what_was_read(
    document: dict[str, Any], check: str, said: str | None, wa: float | None
) -> None:
    found = answer_to(document)
    assert verdict(found, check) == said
    assert found.wa == (None if wa is None else pytest.approx(wa, rel=1e-4))


def test_the_drives_own_wa_is_shown_and_not_scaled_where_its_scale_is_unknown() -> None:
    found = answer_to(ata("SDLF1DAR-480G-1HA1", {32: (130, 100, "Lifetime_WAF"), 33: 121, 233: 9}))
    assert found.kind == "reported"
    assert "attribute 32 (Lifetime_WAF) is 130" in found.reason
    assert "121" in found.reason
    assert found.wa is None


def test_the_drives_own_wa_is_shown_beside_device_statistics_too() -> None:
    found = answer_to(ata("SDLF1DAR-480G-1HA1", {32: 130, 33: 121, 233: 9}, sectors=10**9))
    assert "130" in found.reason
    assert found.to_dict()["host_bytes"] == 512 * 10**9


def test_samsungs_251_is_evidence_and_no_counter() -> None:
    found = answer_to(ata("SAMSUNG MZ7LH480HAHQ-00005", {177: 25, 241: 10**9, 251: 1_637_892_480}))
    assert found.kind == "estimated"
    assert found.wa is None
    assert "attribute 251" in found.reason
    assert found.wa_low == 25 * CAPACITY / (512 * (10**9 + 1))


def test_device_statistics_settle_an_unknown_unit() -> None:
    gibibytes = answer_to(ata("KINGSTON SUV500MS120G", {241: 27}, sectors=57_497_732))
    assert gibibytes.to_dict()["host_bytes_high"] == 28 * GIB
    sectors = answer_to(ata("HFS256G39MND-3510A", {241: 5_000_000_000}, sectors=5_000_000_000))
    assert sectors.to_dict()["host_bytes"] == 512 * 5_000_000_000


def test_device_statistics_that_hold_the_attribute_modulo_2_to_the_32_confirm_it() -> None:
    whole = 9_000_000_000
    crucial = ata(
        "CT1000MX500SSD1",
        {246: whole, 247: whole // 32, 248: whole // 32},
        sectors=whole % 2**32,
    )
    found = answer_to(crucial)
    assert verdict(found, "device statistics") == "ok"
    assert any("modulo 2^32" in one.evidence for one in found.checks)
    assert found.to_dict()["host_bytes"] == whole * 512
    # Also of a coarse unit: 846,005 times 32 MiB.
    found = answer_to(
        ata("TS1TSSD230S", {241: 846_005, 245: 10**6}, sectors=(846_005 << 16) % 2**32)
    )
    assert verdict(found, "device statistics") == "ok"
    assert found.wa_low == pytest.approx(10**6 / 846_005, rel=1e-5)


def test_an_attribute_of_32_bits_that_wrapped_gives_way_to_device_statistics() -> None:
    whole = 9_000_000_000
    found = answer_to(
        ata(
            "CT1000MX500SSD1",
            {246: whole % 2**32, 247: whole // 32, 248: whole // 32},
            sectors=whole,
        )
    )
    assert verdict(found, "device statistics") == "doubt"
    assert found.to_dict()["host_bytes"] == whole * 512
    assert verdict(found, "page size") == "ok"


def test_a_host_counter_that_device_statistics_contradict_is_refused() -> None:
    found = answer_to(ata("KINGSTON SKC400S371T", {241: 1000, 233: 2000}, sectors=10**8))
    assert found.wa is None
    assert "contradict" in found.reason
    late = answer_to(ata("KINGSTON SKC400S371T", {241: 1000, 233: 2000}, sectors=1003 * GIB // 512))
    assert late.wa == pytest.approx(2)
    assert verdict(late, "device statistics") == "doubt"


def test_flash_below_host_is_refused_but_for_drives_that_compress() -> None:
    counts = {241: 10**6, 233: 7 * 10**5}
    assert answer_to(ata("OCZ-VERTEX3", counts)).wa == pytest.approx(0.7)
    found = answer_to(ata("KINGSTON SKC400S371T", counts))
    assert found.wa is None
    assert "below 1" in found.reason


def test_an_interval_of_counters_that_erases_refute_is_refused() -> None:
    def of(host: int, flash: int, erases: int) -> Snapshot:
        counts = {241: host, 233: flash, 244: erases}
        return snapshot_in(ata("KINGSTON SA400S37480G", counts))

    assert interval_answer(of(5000, 10_000, 22), of(6000, 13_000, 29)).wa == 3
    found = interval_answer(of(5000, 10_000, 120), of(6000, 13_000, 150))
    assert found.wa is None
    assert "erases x capacity since new" in found.reason


def test_packed_mean_erases_are_the_second_word_and_not_the_most() -> None:
    found = answer_to(ata("KINGSTON SKC400S371T", {241: 5000, 233: 10_000, 173: 21 << 16 | 50}))
    assert [(one.low, one.high) for one in found.facts.erases] == [(21, 22)]


def test_tlc_below_the_host_is_a_definition_of_its_own_where_slc_is_counted() -> None:
    found = answer_to(ata("WDC WDS500G2B0A", {241: 10**6, 233: 64 * 10**4, 234: 113 * 10**4}))
    assert found.wa == pytest.approx(1.77)
    by_name = {one["wa_definition"]: one for one in found.definitions}
    assert by_name["tlc"]["wa"] == pytest.approx(0.64)
    assert by_name["tlc"]["class"] == "measured"


@pytest.mark.parametrize("model", ["TS32GMTS400", "SanDisk SDSSDHII480G"])
@pytest.mark.parametrize(
    ("tlc", "reason"),
    [
        (1000, "(it counts 0.2 times the host"),
        (6000, "(it counts 1.2 times the host writes). WA is"),
    ],
)
def test_tlc_is_a_lower_bound_where_slc_is_not_counted(model: str, tlc: int, reason: str) -> None:
    found = answer_to(ata(model, {241: 5000, 245: tlc, 233: tlc}))
    said = found.to_dict()
    assert (said["wa"], said["class"], said["wa_definition"]) == (None, "lower-bound", "tlc")
    assert (said["wa_low"], said["wa_high"]) == ((tlc - 1) / 5001, None)
    assert f"leaves out part of the flash {reason}" in said["reason"]
    assert said["flash_bytes"] is None
    (definition,) = said["definitions"]
    assert (definition["class"], definition["wa"], definition["wa_high"]) == (
        "lower-bound", None, None
    )  # fmt: skip


def test_a_definition_that_a_partial_counter_does_not_give_is_refused() -> None:
    snapshot = snapshot_in(ata("TS32GMTS400", {241: 5000, 245: 6000}))
    found = life_answer(snapshot, "tlc")
    assert (found.kind, found.wa) == ("lower-bound", None)
    found = life_answer(snapshot, "bytes")
    assert (found.kind, found.wa_low) == ("none", None)
    assert "Supported: tlc" in found.reason


def test_an_interval_without_writes_to_slc_has_both_definitions() -> None:
    def of(host: int, tlc: int, slc: int) -> Snapshot:
        return snapshot_in(ata("WDC WDS500G2B0A", {241: host, 233: tlc, 234: slc}))

    found = interval_answer(of(10_000, 9000, 5000), of(20_000, 30_000, 5000))
    assert (found.kind, found.wa_definition) == ("measured", "tlc+slc")
    assert found.wa == pytest.approx(2.1)


def test_a_lower_bound_that_erases_refute_is_none() -> None:
    found = answer_to(ata("TS32GMTS400", {241: 5000, 245: 1000, 167: 9000}))
    assert found.wa_low is None


def test_a_finer_flash_counter_is_left_out_if_it_contradicts_the_coarse_one() -> None:
    sectors = 2000 * GIB // 512
    agreeing = answer_to(ata("ZA500CM10003", {241: 1000, 233: 2000, 235: sectors + 99}))
    assert agreeing.wa is not None
    assert "235" in agreeing.source
    other = answer_to(ata("ZA500CM10003", {241: 1000, 233: 2000, 235: 50_000_000}))
    assert verdict(other, "flash counters") == "doubt"
    assert other.wa == 2


def test_a_high_word_is_joined_and_doubted() -> None:
    found = answer_to(ata("SFSA160GM2AK2TO", {241: 5, 243: 1, 235: 5, 237: 2}))
    assert found.to_dict()["host_bytes"] == (2**32 + 5) * 512
    assert verdict(found, "high word") == "doubt"


def test_the_firmware_that_breaks_a_unit_is_refused() -> None:
    counts = {241: 7085, 249: 9000}
    assert answer_to(ata("OCZ-VECTOR", counts, firmware="2.0")).wa is None
    assert answer_to(ata("OCZ-VECTOR", counts, firmware="3.0")).wa == pytest.approx(9000 / 7085)


def test_a_ratio_that_no_drive_has_is_refused_without_capacity_too() -> None:
    found = answer_to(ata("OCZ-VECTOR", {241: 7085, 249: 1_089_315_328}, capacity=None))
    assert found.wa is None
    assert "another unit" in found.reason


def test_a_page_that_is_no_unit_widens_the_interval() -> None:
    found = answer_to(ata("CT500MX500SSD1", {246: 861_228_380, 247: 9_578_388, 248: 6_891_776}))
    assert verdict(found, "page size") == "doubt"
    assert found.wa_low < 1.3
    assert found.wa_high > 3


USED: list[tuple[str, dict[int, Any], int | None, float | None, str | None]] = [
    ("INTEL SSDSC2KB480G8", {233: (0, 93)}, None, 7, None),
    ("CT500MX500SSD1", {202: (51, 49)}, 51, 51, "ok"),
    ("M.2 (S80) 3ME4", {169: (100, 100)}, 100, 0, "doubt"),
    ("TS240GSSD220S", {169: (98, 100)}, 118, 2, "doubt"),
    ("KINGSTON SKC400S371T", {231: (74, 100)}, None, 26, None),
    ("ZA240NM10001", {231: (6_577_408, 93)}, None, 7, None),
    # 2.02 per cent, which the normalized value repeats.
    ("WDC WDS500G2B0A", {230: (0x020200500202, 2)}, 0, 2, "ok"),
    ("WDC WDS500G2B0A", {230: (0x020200500202, 98)}, 1, 1, "unknown"),
    ("WDC WDS240G2G0A", {230: (0x2F2423142F24, 100)}, None, None, "unknown"),
    ("M.2 SSD 512GB S1SGX", {}, 30, 30, None),
    ("M.2 SSD 512GB S1SGX", {}, 100, None, "doubt"),
    # 100% and more: a wear attribute that is at its end confirms it, and a full one denies it.
    ("M.2 SSD 512GB S1SGX", {177: (3500, 1)}, 118, 118, "ok"),
    ("M.2 SSD 512GB S1SGX", {245: (9, 1, "Percent_Life_Remaining")}, 255, 255, "ok"),
    ("M.2 SSD 512GB S1SGX", {177: (3500, 0)}, 118, None, "doubt"),
    ("M.2 SSD 512GB S1SGX", {177: (30, 100)}, 118, None, "doubt"),
    ("M.2 SSD 512GB S1SGX", {177: (30, 100)}, 100, None, "doubt"),
    ("INTEL SSDSC2KB480G8", {233: (0, 1)}, 118, 118, "ok"),
    ("INTEL SSDSC2KB480G8", {233: (0, 100)}, 118, 0, "doubt"),
    ("CT500MX500SSD1", {202: (118, 1)}, 118, 118, "ok"),
]


@pytest.mark.parametrize(("model", "attributes", "statistics", "used", "said"), USED)
def test_the_rated_life_that_is_used_is_never_inverted(
    model: str,
    attributes: dict[int, Any],
    statistics: int | None,
    used: float | None,
    said: str | None,
) -> None:
    found = answer_to(ata(model, attributes, used=statistics))
    assert found.facts.percentage_used == used
    assert verdict(found, "percentage used") == said


def test_hours_decide_whether_100_percent_is_new_or_worn_out() -> None:
    model = "M.2 SSD 512GB S1SGX"
    new = answer_to(ata(model, {177: (1, 100)}, used=100, hours=50))
    assert (new.facts.percentage_used, verdict(new, "percentage used")) == (0, "doubt")
    # Nobody wears a drive out in 50 hours, whatever its attribute says.
    for number in (177, 233):
        absurd = answer_to(ata(model, {number: (3500, 1)}, used=118, hours=50))
        assert absurd.facts.percentage_used is None
    known = answer_to(ata("INTEL SSDSC2KB480G8", {233: (0, 1)}, used=118, hours=50))
    assert (known.facts.percentage_used, verdict(known, "percentage used")) == (99, "doubt")


def test_hours_that_are_packed_are_none() -> None:
    found = answer_to(ata("INTEL SSDSC2CW180A3", {225: 10**6, 249: 40_000}, hours=914_442))
    assert found.facts.power_on_hours is None
    assert found.wa is not None


def test_an_attribute_that_stands_twice_is_an_error() -> None:
    log = ata("INTEL SSDSC2KB480G8", {225: 10**6, 243: 3 * 10**6})
    table = log["ata_smart_attributes"]["table"]
    table.append({"id": 243, "name": "", "value": 100, "raw": {"value": 7}})
    with pytest.raises(WriteampError, match="attribute 243 appears twice"):
        answer_to(log)


@pytest.mark.parametrize("raw", [0, 0xFFFF, 0xFFFFFFFF])
def test_zero_and_values_of_a_reset_are_no_counts(raw: int) -> None:
    found = answer_to(ata("INTEL SSDSC2KB480G8", {225: 10**6, 243: raw}))
    assert found.wa is None
    assert "243" in found.reason


def test_a_disk_that_rotates_has_no_wa() -> None:
    found = answer_to(ata("CT500MX500SSD1", {246: 10**9}) | {"rotation_rate": 7200})
    assert "rotates" in found.reason
