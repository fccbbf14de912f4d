"""Texts of CrystalDiskInfo, ssacli and Prometheus, and tables of Backblaze."""

from __future__ import annotations

import re

import pytest

from drive_logs import BACKBLAZE, EXPORTER_TEXT, LOGS, matrix
from places import ROOT
from smart_documents import answer_to
from writeamp.drives.counters.answer import interval_answer, life_answer
from writeamp.drives.counters.document import Document
from writeamp.drives.counters.reading import read_snapshot, snapshots_in
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.histories.watching import without_serials
from writeamp.text import hashed_serial

DRIVES = ROOT / "tests" / "data" / "cases" / "drives"
A400 = (DRIVES / "19-cdi-kingston-a400.txt").read_text()
# Names in other languages, underscores, and no normalized values of NVMe drives.
SEVERAL = """\
CrystalDiskInfo 9.7.2 (C) 2008-2025 hiyohiyo
  Date : 2026/01/24 18:22:22
-- Disk List ---------------------------------------------------------------
 (01) SAMSUNG MZVLB256HBHQ-000L7 : 256.0 GB [1/1/0, sq] - nv
----------------------------------------------------------------------------
 (01) SAMSUNG MZVLB256HBHQ-000L7
----------------------------------------------------------------------------
           Model : SAMSUNG MZVLB256HBHQ-000L7
        Firmware : 5M2QEXH7
   Serial Number : S4ELNF2MADEUP1
       Disk Size : 256.0 GB
       Interface : NVM Express
  Power On Hours : 2331 時間
   Health Status : 正常 (97 %)

-- S.M.A.R.T. --------------------------------------------------------------
ID RawValues(6) Attribute Name
01 000000000000 クリティカルワーニング
03 000000000064 予備領域
05 000000000003 使用率
07 0000019E9FDE 総書き込み量 (ホスト)
0B 000000000502 電源投入回数
0C 00000000091B 使用時間

-- IDENTIFY_DEVICE ---------------------------------------------------------
        0    1    2    3    4    5    6    7    8    9
000: 144D 144D 3453 4C45 464E 4D32 3539 3537 3739 2020
----------------------------------------------------------------------------
 (02) Samsung SSD 870 QVO 4TB
----------------------------------------------------------------------------
           Model : Samsung SSD 870 QVO 4TB
        Firmware : SVQ02B6Q
   Serial Number : ****************
       Disk Size : 4000.7 GB (8.4/137.4/4000.7/----)
    # of Sectors : 7814037168
   Rotation Rate : ---- (SSD)
       Interface : Serial ATA
  Power On Hours : 1379 時間

-- S.M.A.R.T. --------------------------------------------------------------
ID Cur Wor Thr RawValues(6) Attribute Name
05 100 100 _10 000000000000 代替処理済のセクタ数
09 _99 _99 __0 000000000563 使用時間
B1 _99 _99 __0 000000000004 ウェアレベリング回数
F1 _99 _99 __0 000597D08C79 総書き込み量
----------------------------------------------------------------------------
 (03) ST4000VN008-2DR166
----------------------------------------------------------------------------
           Model : ST4000VN008-2DR166
   Rotation Rate : 5980 RPM
       Interface : Serial ATA
-- S.M.A.R.T. --------------------------------------------------------------
ID Cur Wor Thr RawValues(6) Attribute Name
01 _82 _64 _44 000008E125D8 リードエラーレート
"""
MIB32 = 2**25


def answers(text: str) -> list[DriveCounters]:
    return [life_answer(one) for one in snapshots_in(Document("a.txt", text.encode()))]


def test_crystal_disk_info_says_what_smartctl_says_of_one_drive() -> None:
    found, other = (
        life_answer(read_snapshot(DRIVES / name)).to_dict()
        for name in ("19-cdi-kingston-a400.txt", "19b-kingston-a400-as-smartctl.txt")
    )
    assert found["wa"] == pytest.approx(1.743, abs=5e-4)
    assert found["percentage_used"] == 14
    for key in ("wa", "wa_low", "wa_high", "class", "family", "model", "firmware", "host_bytes",
                "flash_bytes", "percentage_used", "power_on_hours"):  # fmt: skip
        assert found[key] == other[key]
    verdicts = {one["name"]: one["verdict"] for one in found["checks"]}
    assert verdicts["erases x capacity"] == "ok"


def test_drives_of_one_text_are_told_apart_in_any_language() -> None:
    nvme, sata, disk = answers(SEVERAL)
    assert nvme.host.nominal == 0x19E9FDE * 512_000
    assert (nvme.facts.percentage_used, nvme.facts.power_on_hours) == (3, 2331)
    assert (sata.kind, sata.facts.capacity_bytes) == ("estimated", 7_814_037_168 * 512)
    assert (sata.facts.percentage_used, sata.facts.power_on_hours) == (1, 1379)
    assert sata.facts.serial is None
    assert "hard disk" in disk.reason
    assert disk.facts.percentage_used is None


def test_a_table_without_a_model_asks_for_it() -> None:
    table = A400[A400.index("-- S.M.A.R.T.") :]
    assert "--model" in answer_to(table).reason


def test_a_raw_value_in_another_layout_is_not_read() -> None:
    packed = re.sub(r"(?m)^F1 .*$", "F1 100 100 __0 00000000000015DD Lifetime Writes", A400)
    (found,) = answers(packed)
    assert found.wa is None


def test_the_serial_number_is_kept_neither_in_words_nor_as_hash_of_stars() -> None:
    kept = without_serials(SEVERAL.encode()).decode()
    assert "S4ELNF2MADEUP1" not in kept
    assert "144D 144D" not in kept
    assert [one.facts.serial for one in answers(kept)] == [
        one.facts.serial for one in answers(SEVERAL)
    ]
    assert [hashed_serial(one) for one in ("****", "XXXX-XXXX", "####", "0")] == [None] * 4
    assert hashed_serial("X0001") is not None


def test_ssacli_says_the_usage_that_is_left() -> None:
    text = (DRIVES / "18-hpe-ssacli.txt").read_text()
    (found,) = answers(text)
    assert found.facts.percentage_used == 87.06
    assert (found.facts.model, found.facts.firmware) == ("VK0800GDJYA", "4IWVHPG1")
    assert (found.facts.power_on_hours, found.facts.capacity_bytes) == (43646, 800 * 10**9)
    assert found.wa is None
    assert "ssacli does not print write counters" in found.reason
    more = """
      physicaldrive 1I:1:4
         Interface Type: SAS
         Size: 1.2 TB
         Rotational Speed: 10500
         Model: HP      EG1200JEMDA

      physicaldrive 1I:1:5
         Interface Type: Solid State SAS
         Usage remaining: Not supported
"""
    _, disk, silent = answers(text + more)
    assert "hard disk" in disk.reason
    assert (disk.facts.model, disk.facts.percentage_used) == ("EG1200JEMDA", None)
    assert silent.facts.percentage_used is None


def test_raw_attributes_of_an_exporter_are_read_by_the_drives_family() -> None:
    drives = snapshots_in(Document("x", EXPORTER_TEXT.encode()))
    found = [life_answer(one) for one in drives]
    assert [one.wa for one in found] == [1.5, None]
    assert found[0].host.nominal == 60_000 * MIB32


def test_bytes_of_an_exporter_are_known_within_its_versions_mistakes() -> None:
    _, nvme = snapshots_in(Document("x", EXPORTER_TEXT.encode()))
    (counter,) = nvme.facts.counters
    amount = counter.amount()
    assert amount.low <= 2 * 10**12 / 8
    assert amount.high >= 2 * 10**12 * 1.024
    assert "depending on its version" in life_answer(nvme).reason


def test_a_range_has_a_snapshot_a_drive_and_moment() -> None:
    drives = snapshots_in(Document("x", LOGS["range"]))
    assert [one.facts.taken_at for one in drives] == [1.7e9, 1.7e9 + 86400]
    found = interval_answer(*drives)
    assert found.days == 1
    assert found.host.nominal == 2000 * 512_000


def test_series_of_other_machines_are_other_drives() -> None:
    metric = {"__name__": "nvme_data_units_written_total", "device": "nvme0"}
    both = LOGS["range"].decode().replace(
        '"result": [', '"result": [' + matrix(metric | {"instance": "b"}, (1.7e9, "5"))[
            len('{"status": "success", "data": {"resultType": "matrix", "result": [') : -3
        ] + ", "
    )  # fmt: skip
    assert len(snapshots_in(Document("x", both.encode()))) == 3


def test_rows_of_backblaze_are_days_of_a_drive() -> None:
    first, last = snapshots_in(Document("x", BACKBLAZE.encode()))
    assert life_answer(first).wa == 1.5
    found = interval_answer(first, last)
    assert (found.wa, found.days) == (3.0, 1.0)


@pytest.mark.parametrize("row", ["", "2024-01-01,A", '"'])
def test_rows_that_are_cut_short_are_left_out(row: str) -> None:
    assert len(snapshots_in(Document("x", (BACKBLAZE + row).encode()))) == 2
