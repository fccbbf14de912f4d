"""Several logs in one paste: of one drive they are one snapshot, of others they stay apart."""

from __future__ import annotations

import json

import pytest

from drive_logs import ID_CTRL, INTEL_TEXT, LOGS, OCP_TEXT, SMART_TEXT, TB
from smart_documents import ata, intel, text_of_ata
from writeamp.drives.counters.answer import life_answer
from writeamp.drives.counters.document import Document
from writeamp.drives.counters.reading import snapshots_in
from writeamp.drives.counters.result import DriveCounters
from writeamp.errors import WriteampError

SMART_JSON = LOGS["smart-json"].decode() + "\n"
OCP_JSON = json.dumps(json.loads(LOGS["ocp-v2"]), indent=1) + "\n"
NVME = """smartctl 7.4 2023-08-01 r5530 [x86_64-linux-6.1.0] (local build)

=== START OF INFORMATION SECTION ===
Model Number:                       SAMSUNG MZQL2960HCJR-00A07
Serial Number:                      S64F1
=== START OF SMART DATA SECTION ===
SMART/Health Information (NVMe Log 0x02)
Percentage Used:                    4%
Data Units Written:                 3,906,250 [2.00 TB]
Power On Hours:                     1,234
"""


def answers(*logs: str) -> list[DriveCounters]:
    return [life_answer(one) for one in snapshots_in(Document("a paste", "".join(logs).encode()))]


def prompt(command: str, machine: str = "host1") -> str:
    return f"root@{machine}:~# {command}\n"


TOGETHER = {
    "text": (SMART_TEXT, OCP_TEXT),
    "text, the flash first": (OCP_TEXT, SMART_TEXT),
    "text with commands": (prompt("nvme smart-log /dev/nvme0"), SMART_TEXT,
                           prompt("nvme ocp smart-add-log /dev/nvme0n1"), OCP_TEXT, prompt("")),
    "text with commands of a script": ("+ sudo nvme smart-log /dev/nvme0\n", SMART_TEXT, "\n\n",
                                       "$ sudo nvme ocp smart-add-log /dev/nvme0\n", OCP_TEXT),
    "documents of JSON": (SMART_JSON, OCP_JSON),
    "documents of JSON on one line each": (SMART_JSON, json.dumps(json.loads(OCP_JSON)) + "\n"),
    "documents of JSON on one line": (SMART_JSON.rstrip(), OCP_JSON),
    "documents of JSON with commands": (prompt("nvme smart-log /dev/nvme0 -o json"), SMART_JSON,
                                        prompt("nvme ocp smart-add-log /dev/nvme0"), OCP_JSON),
    "a list of documents": (json.dumps([json.loads(SMART_JSON), json.loads(OCP_JSON)]),),
    "JSON and text": (SMART_JSON, OCP_TEXT),
    "smartctl and the plugin": (NVME, OCP_TEXT),
    "smartctl and both": (NVME, SMART_TEXT.replace("3,906,250", "3,906,251"), OCP_TEXT),
    "identity, smart log, plugin": (ID_CTRL.replace(str(TB), str(TB // 10)), "\n",
                                    SMART_TEXT, OCP_TEXT),
    "files of head": ("==> smart.txt <==\n", SMART_TEXT, "\n==> ocp.txt <==\n", OCP_TEXT),
}  # fmt: skip


@pytest.mark.parametrize("name", TOGETHER)
@pytest.mark.parametrize("prefix", ["", "> ", "    "])
def test_logs_of_one_drive_are_one_snapshot(name: str, prefix: str) -> None:
    text = "".join(TOGETHER[name])
    (found,) = answers("".join(f"{prefix}{line}\n" for line in text.splitlines()))
    assert found.wa == pytest.approx(1.5, rel=1e-3)
    assert found.facts.percentage_used == 4


def test_a_drive_is_named_by_any_log_of_the_paste() -> None:
    (found,) = answers(NVME, OCP_TEXT)
    assert found.facts.model == "SAMSUNG MZQL2960HCJR-00A07"
    (found,) = answers(INTEL_TEXT, ID_CTRL)
    assert found.host is not None


OTHER = SMART_TEXT.replace("nvme0n1", "nvme1n1").replace("3,906,250 (2.00", "7,812,500 (4.00")
APART = {
    "two drives and one plugin": (SMART_TEXT, OTHER, OCP_TEXT),
    "two drives and one plugin of neither": (SMART_JSON, SMART_JSON.replace("3906250", "7812500"),
                                             OCP_JSON),
    "commands of two drives": (prompt("nvme smart-log /dev/nvme0"), SMART_TEXT,
                               prompt("nvme ocp smart-add-log /dev/nvme1"), OCP_TEXT),
    "commands of two machines": (prompt("nvme smart-log /dev/nvme0"), SMART_TEXT,
                                 prompt("nvme ocp smart-add-log /dev/nvme0", "host2"), OCP_TEXT),
    "smartctl of one, nvme of another": (NVME, OTHER, OCP_TEXT),
    "a SATA drive and a plugin of NVMe": (text_of_ata(ata("Samsung SSD 850 PRO", {241: 10**9})),
                                          OCP_TEXT),
}  # fmt: skip


@pytest.mark.parametrize("name", APART)
def test_logs_of_other_drives_are_not_divided(name: str) -> None:
    found = answers(*APART[name])
    assert len(found) > 1
    assert [one.wa for one in found] == [None] * len(found)
    assert all(one.reason for one in found)


def test_a_log_that_names_no_drive_among_several_says_so() -> None:
    found = answers(SMART_TEXT, OTHER, OCP_TEXT)
    assert "this log does not name its drive" in found[2].reason
    assert "this log does not name its drive" not in found[0].reason


def test_two_drives_with_both_logs_each_have_their_own_wa() -> None:
    double = OCP_TEXT.replace("3000000000000", "8000000000000")
    text = [
        part
        for at, log in ((0, SMART_TEXT), (1, OTHER), (0, OCP_TEXT), (1, double))
        for part in (prompt(f"nvme some-log /dev/nvme{at}"), log)
    ]
    assert [one.wa for one in answers(*text)] == pytest.approx([1.5, 2.0], rel=1e-3)


def test_two_moments_of_one_drive_are_two_snapshots() -> None:
    later = OCP_TEXT.replace("3000000000000", "3500000000000")
    commands = [prompt(f"nvme {one} /dev/nvme0") for one in ("smart-log", "ocp smart-add-log")]
    found = answers(
        commands[0], SMART_TEXT, commands[1], OCP_TEXT,
        commands[0], SMART_TEXT.replace("3,906,250 (2.00", "3,996,250 (2.05"), commands[1], later,
    )  # fmt: skip
    assert [round(one.wa or 0, 2) for one in found] == [1.5, 1.71]


def test_commands_of_smartctl_for_parts_of_a_drive_are_one_snapshot() -> None:
    text = text_of_ata(intel(60_000, 90_000))
    head, _, table = text.partition("=== START OF READ")
    version = text.splitlines()[0] + "\n"
    parts = (prompt("smartctl -i /dev/sda"), head,
             prompt("smartctl -A /dev/sda"), version, "=== START OF READ", table)  # fmt: skip
    (found,) = answers(*parts)
    assert found.wa == pytest.approx(1.5, rel=1e-3)
    other = answers(*(part.replace("-A /dev/sda", "-A /dev/sdb") for part in parts))
    assert [one.wa for one in other] == [None, None]


def test_a_document_of_json_that_is_cut_short_is_refused_behind_others() -> None:
    with pytest.raises(WriteampError, match="truncated"):
        answers(SMART_JSON, OCP_JSON[:-20])
    with pytest.raises(WriteampError, match="more than 5,000 logs"):
        answers('{"critical_warning": 0, "data_units_written": 1}\n' * 5001)


FIRST_DRIVE, SECOND_DRIVE = intel(1000, 1500), intel(1000, 2500, serial_number="S2")
SMART_ITEM, OCP_ITEM = json.loads(SMART_JSON), json.loads(OCP_JSON)
NESTED: dict[str, tuple[object, list[float]]] = {
    "monitor": ({"data": {"device": {"wwn": "0x5"}, "smart": FIRST_DRIVE}, "success": True}, [1.5]),
    "by device": ({"/dev/sda": FIRST_DRIVE, "/dev/sdb": SECOND_DRIVE}, [1.5, 2.5]),
    "inventory": ({"hosts": [{"name": "a", "disks": [{"dev": "sda", "smart": FIRST_DRIVE}]},
                             {"name": "b", "disks": [{"dev": "sdb", "smart": SECOND_DRIVE}]}]},
                  [1.5, 2.5]),
    "string": ({"host": "a", "smart": json.dumps(FIRST_DRIVE)}, [1.5]),
    "two logs of a device": ({"nvme0": {"smart": SMART_ITEM, "ocp": OCP_ITEM}},
                             [answers(SMART_JSON, OCP_JSON)[0].wa]),
}  # fmt: skip


@pytest.mark.parametrize("name", NESTED)
def test_logs_inside_another_document_of_json_are_read(name: str) -> None:
    document, expected = NESTED[name]
    assert [one.wa for one in answers(json.dumps(document))] == expected


def test_a_smart_log_keeps_the_model_beside_it() -> None:
    (found,) = answers(json.dumps({"ModelNumber": "FOO 1", "smart_log": SMART_ITEM}))
    assert found.facts.model == "FOO 1"
    assert found.facts.percentage_used is not None


def test_logs_of_two_devices_inside_a_document_stay_apart() -> None:
    document = {"nvme0": {"smart": SMART_ITEM}, "nvme1": {"ocp": OCP_ITEM}}
    assert [one.wa for one in answers(json.dumps(document))] == [None, None]


def test_json_in_code_marks_is_read() -> None:
    (found,) = answers("# cat smart.log\n`" + json.dumps(FIRST_DRIVE, indent=2) + "`\n")
    assert found.wa == 1.5


def test_the_same_logs_twice_are_two_moments() -> None:
    later = SMART_TEXT.replace("3,906,250", "4,906,250")
    found = answers("before:\n", SMART_TEXT, OCP_TEXT, "after:\n", later, OCP_TEXT)
    assert [one.wa for one in found] == [
        answers(one, OCP_TEXT)[0].wa for one in (SMART_TEXT, later)
    ]
    assert found[0].wa != found[1].wa
    # Which of the drives the one log of the flash is of is not said.
    other = SMART_TEXT.replace("nvme0", "nvme1")
    assert [one.wa for one in answers(SMART_TEXT, other, OCP_TEXT)] == [None] * 3
