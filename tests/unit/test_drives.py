"""Real drives, which stand-ins of nvme and smartctl print: saved, run on, and calibrated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from unittest.mock import patch

import pytest

import in_process
from stand_in_drives import drive, tools, writes
from writeamp.drives.counters.facts import CounterFacts
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.devices.calibration import calibration_of
from writeamp.drives.devices.device import bytes_sent_to, device_at, drives_here
from writeamp.drives.devices.judging import run_checks
from writeamp.errors import WriteampError

GB = 10**9
SETTLE = "--settle 100ms"
MIB, GIB = 2**20, 2**30
WRITE = "--write 24MiB --settle 100ms"


@pytest.fixture
def nvme(tmp_path: Path) -> Iterator[Path]:
    """Give an NVMe drive with the OCP log, and the tool that reads it."""
    with tools(tmp_path, "nvme"):
        yield drive(tmp_path, "nvme0", host=1000 * GB, flash=3000 * GB, refuses=["fdp stats"])


@pytest.fixture
def sata(tmp_path: Path) -> Iterator[Path]:
    """Give a SATA drive, and the tool that reads it."""
    with tools(tmp_path, "smartctl"):
        attributes = {225: 60_000, 243: 90_000}
        yield drive(tmp_path, "sda", model="INTEL SSDSC2KB960G8", attributes=attributes)


def test_a_snapshot_of_an_nvme_drive_is_one_file_or_a_folder(nvme: Path, tmp_path: Path) -> None:
    for out in (tmp_path / "snap.json", f"{tmp_path}/folder/"):
        saved = in_process.document("measure save", f"{nvme} --out {out}")
        assert saved["wa"] == pytest.approx(3.0)
        found = in_process.document("measure counters", str(out))
        assert found == {key: value for key, value in saved.items() if key != "file"}
        assert found["taken_at"] > 1.7e9
        assert "fdp stats" in " ".join(found["notes"])
    fleet = in_process.document("measure fleet", str(tmp_path / "folder"))
    assert [one["wa"] for one in fleet["drives"]] == [saved["wa"]]


def test_the_hosts_counter_is_read_before_the_flash_and_after_it(tmp_path: Path) -> None:
    with tools(tmp_path, "nvme"):
        path = drive(tmp_path, "nvme0", host=GB, flash=GB, grows=[0, 0, 0])
        in_process.document("measure save", f"{path} --out {tmp_path}/s/")
    names = sorted(one.name for one in (tmp_path / "s").iterdir())
    assert {"smart.json", "smart-again.json", "ocp.json", "taken.json"} <= set(names)
    assert list(json.loads((tmp_path / "s" / "taken.json").read_text())["commands"])[1:3] == [
        "smart.json",
        "ocp.json",
    ]


@pytest.mark.parametrize("keeps", [True, False])
def test_serial_numbers_are_hashed_unless_asked_for(
    sata: Path, nvme: Path, tmp_path: Path, *, keeps: bool
) -> None:
    with tools(tmp_path, "nvme", "smartctl"):
        for name, path in (("a", sata), ("b", nvme)):
            out = tmp_path / name
            in_process.document("measure save", f"{path} --out {out} {'--serials' * keeps}")
            assert ("SERIAL0123" in out.read_text()) is keeps
            assert ("WORLDWIDE77" in out.read_text()) is (keeps and path is sata)


def test_a_vendors_log_is_read_where_there_is_no_ocp_log(tmp_path: Path) -> None:
    refused = ["ocp smart-add-log", "fdp stats", "endurance-log"]
    with tools(tmp_path, "nvme"):
        path = drive(
            tmp_path, "nvme0", model="INTEL SSDPE2KX", host=2**40, flash=2**41, refuses=refused
        )
        found = in_process.document("measure save", f"{path} --out {tmp_path}/s.json")
    assert found["wa"] == pytest.approx(2.0)
    assert "0xCA" in found["source"]


def test_a_vendors_log_is_read_too_where_the_ocp_log_counts_nothing(tmp_path: Path) -> None:
    with tools(tmp_path, "nvme"):
        path = drive(tmp_path, "nvme0", model="INTEL SSDPE2KX", host=2**40, flash=0)
        in_process.document("measure save", f"{path} --out {tmp_path}/s/")
    assert {"ocp.json", "vendor.txt"} <= {one.name for one in (tmp_path / "s").iterdir()}


def test_a_sata_drive_is_read_by_smartctl_whatever_bits_its_status_has(
    sata: Path, tmp_path: Path
) -> None:
    found = in_process.document("measure save", f"{sata} --out {tmp_path}/s.json")
    assert found["wa"] == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("name", "state", "words"),
    [
        ("nvme0", {}, ["nvme is not installed", "nvme-cli", "nvme smart-log", "ocp.json"]),
        ("sda", {"messages": "No such"}, ["status 2", "smartctl -x -j", "by hand"]),
    ],
)
def test_what_is_missing_is_said_with_the_commands_to_run_by_hand(
    tmp_path: Path, name: str, state: dict[str, object], words: list[str]
) -> None:
    with tools(tmp_path, "smartctl"):
        path = drive(tmp_path, name, **state)
        said = in_process.refusal("measure save", f"{path} --out {tmp_path}/s.json")
    assert all(one in said for one in words)
    assert not (tmp_path / "s.json").exists()


def test_a_missing_right_is_said(tmp_path: Path) -> None:
    with tools(tmp_path, "nvme"):
        path = drive(
            tmp_path, "nvme0", refuses=["id-ctrl"], complaint="open failed: Permission denied"
        )
        said = in_process.refusal("measure save", f"{path} --out {tmp_path}/s.json")
    assert "root" in said


def test_the_wa_of_a_command_is_that_of_its_interval(nvme: Path, tmp_path: Path) -> None:
    command = writes(nvme, host=100 * GB, flash=250 * GB)
    arguments = f"{nvme} {SETTLE} --out {tmp_path}/kept --json -- {command}"
    found = json.loads(in_process.run("measure run", arguments).out)
    assert found["wa"] == pytest.approx(2.5, rel=1e-4)
    assert (found["run_exit_status"], found["settled"], found["interrupted"]) == (0, True, False)
    kept = [tmp_path / "kept" / name for name in ("before.json", "after.json")]
    again = in_process.document("measure diff", " ".join(map(str, kept)))
    assert again["wa"] == found["wa"]


def test_a_run_waits_until_collection_has_settled(tmp_path: Path) -> None:
    with tools(tmp_path, "nvme"):
        # The two readings before the command take two smart-logs each.
        grows = [0, 0, 0, 0, 0, 50 * GB, 0, 30 * GB, 0, 20 * GB, 0, 0]
        path = drive(tmp_path, "nvme0", host=1000 * GB, flash=3000 * GB, grows=grows)
        command = writes(path, host=100 * GB, flash=100 * GB)
        found = json.loads(
            in_process.run("measure run", f"{path} {SETTLE} --json -- {command}").out
        )
        assert found["wa"] == pytest.approx(2.0, rel=1e-3)
        path = drive(tmp_path, "nvme0", host=1000 * GB, flash=3000 * GB, grows=[50 * GB] * 90)
        command = writes(path, host=100 * GB, flash=100 * GB)
        arguments = f"{path} {SETTLE} --wait 200ms --json -- {command}"
        found = json.loads(in_process.run("measure run", arguments).out)
    verdicts = {one["name"]: one["verdict"] for one in found["checks"]}
    assert (found["settled"], verdicts["settled"], verdicts["quiet before"]) == (
        False,
        "doubt",
        "doubt",
    )


def test_an_interval_that_the_counters_cannot_show_is_refused(nvme: Path) -> None:
    command = writes(nvme, host=600_000, flash=900_000)
    done = in_process.run("measure run", f"{nvme} {SETTLE} --json -- {command}")
    found = json.loads(done.out)
    assert (done.status, found["wa"], found["class"]) == (0, None, "none")
    assert "write at least" in found["reason"]
    assert found["write_at_least_bytes"] > 600_000


def test_a_command_that_wrote_nothing_gets_no_number(nvme: Path) -> None:
    found = json.loads(in_process.run("measure run", f"{nvme} {SETTLE} --json -- true").out)
    assert found["wa"] is None
    assert "write at least" in found["reason"]


def test_the_status_is_that_of_the_command(nvme: Path) -> None:
    assert in_process.run("measure run", f"{nvme} {SETTLE} -- 'exit 7'").status == 7


def test_a_command_is_not_run_where_the_counters_cannot_show_it(tmp_path: Path) -> None:
    with tools(tmp_path, "nvme"):
        refused = ["ocp smart-add-log", "fdp stats", "endurance-log"]
        path = drive(tmp_path, "nvme0", host=GB, flash=0, refuses=refused)
        said = in_process.refusal("measure run", f"{path} {SETTLE} -- touch {tmp_path}/ran")
    assert "was not run" in said
    assert not (tmp_path / "ran").exists()


def listed(sys: Path, name: str, sectors: int, **links: str) -> None:
    """Write what the kernel says of a disk."""
    folder = sys / "class" / "block" / name
    for link in links.values():
        (folder / "slaves" / link).mkdir(parents=True)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stat").write_text(f" 1 2 3 4 5 6 {sectors} 8 9 10 11 12 13 14 15 16 17\n")


def test_the_kernel_says_what_it_sent_to_all_namespaces_of_a_drive(
    nvme: Path, tmp_path: Path
) -> None:
    listed(tmp_path, "nvme0n1", 100)
    listed(tmp_path, "nvme0n2", 20)
    listed(tmp_path, "nvme01n1", 7)
    found = device_at(str(nvme), sys=tmp_path)
    assert found.is_nvme
    assert bytes_sent_to(found, sys=tmp_path) == 120 * 512


def test_all_drives_of_a_machine_are_in_one_table(nvme: Path, tmp_path: Path) -> None:
    for name in ("nvme0n1", "sda", "sda1", "sdb", "vda", "loop0"):
        listed(tmp_path, name, 0)
    (tmp_path / "class" / "nvme" / "nvme0").mkdir(parents=True)
    found = drives_here(sys=tmp_path, dev=tmp_path)
    assert [Path(path).name for path in found] == ["nvme0", "sda", "sdb"]
    with patch("writeamp.drives.measure.by_machine.drives_here", lambda: found):
        ended = in_process.run("measure all", "")
        document = in_process.document("measure all", "")
    assert ended.out.startswith("DRIVE X: WA 3: ")
    assert "2 drives could not be read" in ended.out
    assert f"{found[1]} is left out: " in ended.err
    (read,) = document["drives"]
    assert (read["device"], read["wa"]) == (str(nvme), 3.0)
    assert read["years_low"] < read["years"] < read["years_high"]
    # The same numbers as those of the drive alone.
    assert in_process.document("measure counters", str(nvme))["wa"] == 3.0
    assert in_process.document("lifetime", str(nvme))["years"] == read["years"]


def test_a_machine_without_drives_is_refused(tmp_path: Path) -> None:
    listed(tmp_path, "vda", 0)
    with pytest.raises(WriteampError, match="no NVMe, SATA or SAS drive"):
        drives_here(sys=tmp_path)


def test_a_disk_of_several_drives_is_refused(tmp_path: Path) -> None:
    listed(tmp_path, "md0", 1, first="sda", second="sdb")
    with tools(tmp_path), pytest.raises(WriteampError, match="consists of sda, sdb"):
        device_at(str(drive(tmp_path, "md0")), sys=tmp_path)


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        ("save /dev/no-such --out {0}/s.json", ["/dev/no-such", "ls /dev"]),
        ("save {0}/file.txt --out {0}/s.json", ["not a device", "measure counters"]),
        ("run /dev/no-such -- true", ["/dev/no-such"]),
        ("run {0} -- ''", ["command is empty"]),
        ("run {0} --settle soon -- true", ["--settle", "soon"]),
    ],
)
def test_what_is_no_drive_is_refused(tmp_path: Path, verb: str, words: list[str]) -> None:
    (tmp_path / "file.txt").write_text("x")
    name, _, rest = verb.format(tmp_path).partition(" ")
    said = in_process.refusal(f"measure {name}", rest)
    assert all(one in said for one in words)


@pytest.mark.parametrize(
    ("kernel_bytes", "command_bytes", "verdict"),
    [
        (2 << 30, 2 << 30, "ok"),
        (4 << 30, 2 << 30, "doubt"),
        # 4 KiB changed in a folio of 2 MiB count as 2 MiB: another writer may hide.
        (4 << 20, 2 << 30, "unknown"),
    ],
)
def test_other_writers_are_judged_by_what_the_command_can_have_written(
    kernel_bytes: int, command_bytes: int, verdict: str
) -> None:
    quiet = cast(DriveCounters, SimpleNamespace(host=None, flash=None))
    checks = run_checks(
        quiet,
        quiet=quiet,
        kernel_bytes=kernel_bytes,
        command_bytes=command_bytes,
        is_settled=True,
    )
    assert {check.name: check.verdict for check in checks}["other writers"] == verdict


def facts(**counts: int) -> CounterFacts:
    return CounterFacts("x", raws=tuple(counts.items()))


@pytest.fixture
def counting(tmp_path: Path) -> Iterator[Path]:
    """Give a drive of an unknown family, whose attribute 241 counts MiB written to a folder."""
    (tmp_path / "mounted").mkdir()
    with tools(tmp_path, "smartctl"):
        yield drive(
            tmp_path, "sda", model="UNKNOWN", attributes={"241": 1000, "9": 5, "242": 77},
            counts={"241": [str(tmp_path / "mounted"), MIB]},
        )  # fmt: skip


def test_a_unit_is_learned_by_a_file_that_is_removed(counting: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mounted"
    found = in_process.document("measure calibrate", f"{counting} --in {folder} {WRITE}")
    (counter,) = found["counters"]
    assert (counter["label"], counter["unit"]) == ("attribute 241", "1 MiB")
    assert not list(folder.iterdir())


def test_a_file_on_another_drive_is_found_by_what_the_kernel_sent(
    counting: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "mounted"
    with patch("writeamp.drives.devices.source.bytes_sent_to", lambda _device: 1000):
        said = in_process.refusal("measure calibrate", f"{counting} --in {folder} {WRITE}")
    assert "another drive" in said
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("counts", "unit", "words"),
    [
        (100, "GiB", ""),
        (3200, "32 MiB", ""),
        (209_715_200, "512 B", ""),
        (107, "GB", ""),
        (150, None, "no known unit fits"),
        (3, None, "--write of at least"),
        (1, None, "--write of at least"),
    ],
)
def test_a_unit_is_given_only_where_one_fits(counts: int, unit: str | None, words: str) -> None:
    before, after = facts(a=7, time=3), facts(a=7 + counts, time=3)
    (found,) = calibration_of(before, after, 100 * GIB, is_exact=True).counters
    assert found.unit == unit
    assert words in found.reason
    assert found.bytes_per_count_low <= 100 * GIB / counts


def test_gb_and_gib_are_not_told_apart_by_few_counts_or_beside_other_writers() -> None:
    for counts, size, is_exact in ((11, 11 * GIB, True), (110, 100 * GIB, False)):
        found = calibration_of(facts(a=0), facts(a=counts), size, is_exact=is_exact)
        assert found.counters[0].unit is None
        assert "GB" in found.counters[0].reason
        assert "GiB" in found.counters[0].reason


def test_two_snapshots_and_what_was_written_between_them_are_enough(tmp_path: Path) -> None:
    for name, raw in (("before", 5000), ("after", 5330)):
        table = [{"id": 241, "name": "", "value": 90, "raw": {"value": raw}}]
        log = {"device": {"protocol": "ATA"}, "ata_smart_attributes": {"table": table}}
        (tmp_path / f"{name}.json").write_text(json.dumps(log))
    files = f"{tmp_path}/before.json {tmp_path}/after.json"
    found = in_process.document("measure calibrate", f"{files} --written 10GiB")
    assert [one["unit"] for one in found["counters"]] == ["32 MiB"]
    done = in_process.run("measure calibrate", files)
    assert (done.status, "--written" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("/dev/no-such", ["/dev/no-such"]),
        ("{0}/sda --in {0}/nowhere", ["nowhere"]),
        ("{0}/sda", ["mounted", "--in"]),
        ("{0}/sda --in {0} --write 900PB", ["free", "--write"]),
        ("{0}/sda --write much", ["--write", "much"]),
        ("a b c", ["3 targets"]),
    ],
)
def test_what_cannot_be_calibrated_is_refused(
    counting: Path, tmp_path: Path, arguments: str, words: list[str]
) -> None:
    assert counting.exists()
    said = in_process.refusal("measure calibrate", arguments.format(tmp_path))
    assert all(one in said for one in words)
