"""smartctl's text, which is read as its JSON is: ATA in both layouts, NVMe and SCSI."""

from __future__ import annotations

from typing import Any

import pytest

from smart_documents import answer_to, ata, grouped, text_of_ata
from writeamp.drives.counters.answer import life_answer
from writeamp.drives.counters.document import Document
from writeamp.drives.counters.reading import snapshots_in
from writeamp.drives.counters.sources.smartctl_text import raw_value
from writeamp.errors import WriteampError

DRIVES = {
    "with device statistics and a family": ata(
        "WDC  WDS500G2B0A-00SM50",
        {
            173: (50, 100, "Average_PE_Cycles_TLC"),
            230: (0x020200500202, 2, "Media_Wearout_Indicator"),
            233: (24_000, 100, "NAND_GB_Written_TLC"),
            234: (40_000, 100, "NAND_GB_Written_SLC"),
            241: (10_000, 253, "Host_Writes_GiB"),
        },
        family="WD Blue / Red / Green SSDs",
        sectors=10_000 * 2**21 + 99,
        used=0,
    ),
    "without a family": ata("INTEL SSDSC2KB480G8", {225: 10**6, 243: 3 * 10**6, 233: (0, 93)}),
    "unknown": ata("M.2 SSD 512GB S1SGX", {241: 50_108, 245: 19_883}),
    "rotating": ata("ST4000VN008-2DR166", {241: 10**9}) | {"rotation_rate": 5980},
}


def said(document: Any) -> dict[str, Any]:
    return {**answer_to(document).to_dict(), "source": None}


@pytest.mark.parametrize("is_brief", [True, False])
@pytest.mark.parametrize("name", DRIVES)
def test_text_and_json_of_one_drive_have_one_answer(name: str, *, is_brief: bool) -> None:
    log = DRIVES[name]
    text = text_of_ata(log, is_brief=is_brief)
    found = said(text)
    json = said(log)
    found["reason"] = (found["reason"] or "").replace("smartctl -x", "smartctl -j -x")
    assert found == json | {"reason": json["reason"] or ""}
    assert answer_to(text).facts.serial == answer_to(log).facts.serial


SEPARATORS = [",", ".", " ", "'", "\u00a0", "’"]
ENCODED = [
    *((one, encoding) for one in SEPARATORS for encoding in ("utf-8", "cp1252", "utf-16")),
    # The narrow space of French locales is no character of cp1252.
    *(("\u202f", encoding) for encoding in ("utf-8", "utf-16")),
]


@pytest.mark.parametrize(("separator", "encoding"), ENCODED)
def test_any_locales_thousands_are_read(separator: str, encoding: str) -> None:
    text = text_of_ata(DRIVES["without a family"], separator=separator)
    assert answer_to(text.encode(encoding)).facts.capacity_bytes == 480_103_981_056
    units = f"Data Units Written:                 {grouped(1_902_011_793, separator)} [973 TB]\n"
    health = f"Model Number:                       X\n{units}Percentage Used:     111%\n"
    found = answer_to(health.encode(encoding))
    assert found.to_dict()["host_bytes"] == 1_902_011_793 * 512_000
    assert found.facts.percentage_used == 111


def test_lines_may_end_as_on_windows() -> None:
    log = DRIVES["with device statistics and a family"]
    assert said(text_of_ata(log).replace("\n", "\r\n")) == said(text_of_ata(log))


@pytest.mark.parametrize(
    ("shown", "raw"),
    [
        ("12345", 12345),
        ("0x002f00140024", 0x002F00140024),
        ("36 (Min/Max 20/46)", 36),
        ("50 (Average 17)", 17 << 16 | 50),
        ("2725 (151 234 0)", 167031278144165),
        ("8670 (398 2929)", 1709588947422),
        ("914442h+55m+18.550s", 914442),
        ("0/0", 0),
        ("27 Celsius", 27),
        ("-", None),
        ("1.5", None),
        ("1,234", None),
    ],
)
def test_a_raw_value_is_that_of_the_json_or_none(shown: str, raw: int | None) -> None:
    assert raw_value(shown) == raw


def test_hexadecimal_tables_are_read() -> None:
    rows = text_of_ata(DRIVES["without a family"]).replace("225 Unknown", "0xe1 Unknown")
    assert said(rows) == said(text_of_ata(DRIVES["without a family"]))


def test_a_table_alone_has_no_model_and_a_reason() -> None:
    text = text_of_ata(DRIVES["without a family"])
    found = answer_to(text[text.index("ID# ATTRIBUTE_NAME") :])
    assert found.wa is None
    assert "does not name" in found.reason


def test_device_statistics_of_old_smartctls_are_read() -> None:
    log = ata("KINGSTON SUV500MS120G", {241: 27}, sectors=57_497_732)
    new = text_of_ata(log)
    old = new.replace("0x01  0x018  6", "  1  0x018  6").replace("57497732  ---  ", "57497732~ ")
    assert said(old) == said(new)
    invalid = new.replace("57497732", "       -")
    assert answer_to(invalid).to_dict()["host_bytes"] is None


def test_a_file_of_several_drives_has_a_snapshot_of_each() -> None:
    text = "".join(text_of_ata(DRIVES[name]) for name in ("without a family", "unknown"))
    found = [life_answer(one) for one in snapshots_in(Document("two", text.encode()))]
    assert [one.facts.model for one in found] == ["INTEL SSDSC2KB480G8", "M.2 SSD 512GB S1SGX"]
    headless = text.replace("smartctl 7.4", "version 7.4")
    assert len(snapshots_in(Document("two", headless.encode()))) == 2


def test_two_drives_that_are_not_kept_apart_are_an_error() -> None:
    text = text_of_ata(DRIVES["unknown"]) + "Device Model:     another\n"
    with pytest.raises(WriteampError, match="'Device Model' appears twice"):
        answer_to(text)
    row = "241 Total_LBAs_Written  -O--CK   100   100   ---    -    7\n"
    with pytest.raises(WriteampError, match="attribute 241 appears twice"):
        answer_to(text_of_ata(DRIVES["unknown"]) + row)


def test_data_units_that_the_bytes_behind_them_contradict_are_no_count() -> None:
    health = "Model Number: X\nPercentage Used: 1%\nData Units Written:  1,902,011,793 [97.3 TB]\n"
    found = answer_to(health)
    assert found.to_dict()["host_bytes"] is None
    assert "not a count" in found.reason


SAS = """smartctl 7.4 2023-08-01 r5530 [x86_64-linux-6.1.0] (local build)

=== START OF INFORMATION SECTION ===
Vendor:               HPE
Product:              VO003840JWZJK
Revision:             HPD5
User Capacity:        3,840,755,982,336 bytes [3.84 TB]
Logical block size:   512 bytes
Rotation Rate:        Solid State Device
Serial number:        S9
Transport protocol:   SAS (SPL-4)
Local Time is:        Mon Jun 16 10:00:00 2025 CEST

=== START OF READ SMART DATA SECTION ===
SMART Health Status: OK
Percentage used endurance indicator: 3%
Accumulated power on time, hours:minutes 45364:12

Error counter log:
           Errors Corrected by           Total   Correction     Gigabytes    Total
               ECC          rereads/    errors   algorithm      processed    uncorrected
           fast | delayed   rewrites  corrected  invocations   [10^9 bytes]  errors
read:          0        0         0         0          0     123456.789           0
write:         0        0         0         0          0        243.990           0
"""


def test_a_sas_drive_is_read_as_its_json_is() -> None:
    log = {
        "device": {"protocol": "SCSI"},
        "model_name": "HPE VO003840JWZJK",
        "firmware_version": "HPD5",
        "serial_number": "S9",
        "user_capacity": {"bytes": 3_840_755_982_336},
        "rotation_rate": 0,
        "local_time": {"time_t": 1_750_060_800},
        "endurance_used": {"current_percent": 3},
        "power_on_time": {"hours": 45364},
        "scsi_error_counter_log": {"write": {"gigabytes_processed": "243.990"}},
    }
    found = said(SAS)
    assert found == said(log) | {"reason": found["reason"]}
    assert found["host_bytes"] == 243_990_000_000
    assert found["percentage_used"] == 3
    assert said(SAS.replace("243.990", "243,990")) == found


@pytest.mark.parametrize(
    ("zone", "seconds"),
    [("UTC", 1_750_068_000), ("CEST", 1_750_060_800), ("+03", 1_750_057_200), ("IST", None)],
)
def test_a_time_is_known_where_its_zone_is(zone: str, seconds: float | None) -> None:
    assert answer_to(SAS.replace("CEST", zone)).facts.taken_at == seconds


def test_a_drive_without_tables_has_a_reason() -> None:
    text = text_of_ata(DRIVES["unknown"])
    found = answer_to(text[: text.index("ID# ATTRIBUTE_NAME")])
    assert found.facts.model == "M.2 SSD 512GB S1SGX"
    assert "did not print a log" in found.reason
