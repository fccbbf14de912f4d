"""Public texts of drives that were read wrongly once, each with its right answer."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import pytest

from in_process import document as json_of
from in_process import refusal, run
from places import ROOT
from smart_documents import answer_to, ata
from writeamp.drives.counters.answer import life_answer
from writeamp.drives.counters.reading import read_snapshot
from writeamp.drives.devices.judging import require_counters
from writeamp.errors import WriteampError

DRIVES = ROOT / "tests" / "data" / "cases" / "drives"
PARTIAL = [("12-sandisk-plus-openwrt.txt", 1.02), ("12b-smi-no-246.txt", 1.12)]


def shown(verb: str, arguments: object) -> str:
    """Return what a verb prints, without the frames and the line breaks of tables."""
    return " ".join(run(verb, str(arguments)).out.replace("│", " ").split())


@pytest.mark.parametrize(("name", "wa_low"), PARTIAL)
def test_a_counter_of_a_part_of_the_flash_is_a_lower_bound(name: str, wa_low: float) -> None:
    fleet = json_of("measure fleet", DRIVES / name)
    for found in (json_of("measure counters", DRIVES / name), *fleet["drives"]):
        assert (found["class"], found["wa"], found["wa_high"]) == ("lower-bound", None, None)
        assert found["wa_low"] == pytest.approx(wa_low, abs=0.006)
        assert f"at least {wa_low}" in found["reason"]
    assert [(one["with_wa"], one["wa"]) for one in fleet["models"]] == [(0, None)]


def test_a_lower_bound_is_none_in_text_history_metrics_and_answers(tmp_path: Path) -> None:
    path = DRIVES / "12-sandisk-plus-openwrt.txt"
    for verb in ("measure counters", "doctor"):
        assert "at least 1.02" in shown(verb, path)
    db, metrics = tmp_path / "history.sqlite", tmp_path / "drive.prom"
    run("measure watch", f"{path} --db {db} --once")
    (kept,) = json_of("measure history", f"--db {db} --prometheus {metrics}")["drives"]
    assert kept["life"]["class"] == "lower-bound"
    assert "host_written_bytes{" in metrics.read_text()
    assert "write_amplification{" not in metrics.read_text()


def test_an_interval_and_a_life_by_a_counter_of_a_part_keep_the_bound(tmp_path: Path) -> None:
    later = tmp_path / "later.txt"
    text = (DRIVES / "12-sandisk-plus-openwrt.txt").read_text().replace("Apr 13", "May 13")
    text = (
        text.replace("136\n", "336\n")
        .replace("131\n", "231\n")
        .replace("-       9 20 9", "-       20")
    )
    later.write_text(text)
    both = f"{DRIVES / '12-sandisk-plus-openwrt.txt'} {later}"
    found = json_of("measure diff", both)
    assert (found["class"], found["wa"], found["wa_low"]) == ("lower-bound", None, 199 / 101)
    assert "at least 1.97" in shown("doctor", both)


WITHOUT_MODEL = [
    ("01-ustc-intel-attrs-indented.txt", "INTEL SSDSC2BX800G4", 5.021),
    ("02-blog-smartctl-A-intel-prompt.txt", "INTEL SSDSC2BB800G4", 1.381),
    ("16-hpe-intel-s4510-smartctl62.txt", "INTEL SSDSC2KB960G8", 1.237),
    ("22-rosewiki-mx500-snippet.txt", "CT1000MX500SSD1", 8.023),
]


@pytest.mark.parametrize(("name", "model", "wa"), WITHOUT_MODEL)
def test_a_text_without_a_model_asks_for_it_and_takes_it(name: str, model: str, wa: float) -> None:
    path = DRIVES / name
    found = json_of("measure counters", path)
    assert found["wa"] is None
    assert "`smartctl -x` prints it in its first lines; or pass --model" in (found["reason"])
    found = json_of("measure counters", f"{path} --model '{model}'")
    assert found["wa"] == pytest.approx(wa, abs=5e-4)
    assert (found["class"], found["model"]) == ("measured", model)


def test_a_stated_model_is_taken_by_the_library_and_refused_beside_another() -> None:
    assert read_snapshot(DRIVES / WITHOUT_MODEL[2][0], "INTEL  SSDSC2KB960G8").facts.family
    assert life_answer(read_snapshot(DRIVES / WITHOUT_MODEL[2][0])).wa is None
    said = DRIVES / "16b-hpe-intel-s4510-with-model.txt"
    assert read_snapshot(said, "intel ssdsc2kb960g8").facts.model == "INTEL SSDSC2KB960G8"
    for verb in ("measure counters", "lifetime"):
        sentence = refusal(verb, f"{said} --model MX500")
        assert "16b-hpe-intel-s4510-with-model.txt is of the drive model" in sentence
    with pytest.raises(WriteampError, match="the model is empty"):
        read_snapshot(said, " ")


@pytest.mark.parametrize("verb", ["measure counters", "doctor", "lifetime", "measure diff - "])
def test_standard_input_is_read_as_a_file_is(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = (DRIVES / "26-claudio-mx500" / "2021-01-31.txt").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    other = DRIVES / "26-claudio-mx500" / "2021-03-08.txt"
    ended = run(verb.removesuffix(" - "), f"- {other if 'diff' in verb else ''}")
    assert ended.status == 0, ended.err
    if verb == "doctor":
        assert ended.out.splitlines()[1] == "standard input: counter snapshots"
    assert run("measure counters", "-").err == (
        "writeamp: standard input is empty, or was already read; name it only once\n"
    )


def test_a_zero_that_stands_for_nothing_is_no_percentage_used() -> None:
    found = json_of("measure counters", DRIVES / "27-smartctl-exporter-161pct.prom")["snapshots"]
    assert [one["percentage_used"] for one in found] == [161, None, None]
    assert "hard disk" in found[1]["reason"]
    assert "prints 0 as the percentage used" in found[2]["reason"]
    found = json_of("measure counters", DRIVES / "09-centos-all-zero-nvme.txt")
    assert found["percentage_used"] is None
    assert "percentage used is 0, like all other counts of the log" in found["reason"]


NVME = {"data_units_written": 0, "percentage_used": 0, "power_on_hours": 0, "available_spare": 0}
METRICS = """smartctl_device{{device="sda",interface="{kind}",model_name="X"}} 1
smartctl_device_percentage_used{{device="sda"}} 0
smartctl_device_power_on_seconds{{device="sda"}} {seconds}
"""
ZEROS: list[tuple[str | dict[str, Any], float | None]] = [
    ({"critical_warning": 0, **NVME}, None),
    ({"critical_warning": 0, **NVME, "power_on_hours": 1}, 0),
    ({"nvme_smart_health_information_log": NVME, "smartctl": {}}, None),
    ({"nvme_smart_health_information_log": NVME | {"available_spare": 100}, "smartctl": {}}, 0),
    (ata("INTEL SSDSC2KB480G8", {225: 0, 233: (0, 0)}, hours=0), None),
    (ata("INTEL SSDSC2KB480G8", {225: 9, 233: (0, 100)}, hours=0), 0),
    (ata("ST4000VN008-2DR166", {241: 5}, used=0) | {"rotation_rate": 5980}, None),
    (METRICS.format(kind="sat", seconds=4e7), None),
    (METRICS.format(kind="nvme", seconds=4e7), 0),
    (METRICS.format(kind="nvme", seconds=0), None),
    ('nvme_percentage_used_ratio{controller="nvme0"} 0.07\n', 7),
    ('nvme_percentage_used_ratio{device="nvme0"} 0\nnvme_data_units_written_total'
     '{device="nvme0"} 5\n', 0),
]  # fmt: skip


@pytest.mark.parametrize(("document", "used"), ZEROS)
def test_0_is_used_only_of_a_log_that_is_alive(
    document: str | dict[str, Any], used: float | None
) -> None:
    assert answer_to(document).facts.percentage_used == used


EXPORTED = DRIVES / "27-smartctl-exporter-161pct.prom"


@pytest.mark.parametrize(
    ("drive", "sentence"),
    [
        ("no such", "no drive matches --drive 'no such'; valid drives: SAMSUNG MZVPW256HEGL-000H1"),
        ("S", "several drives match: SAMSUNG MZVPW256HEGL-000H1"),
    ],
)
def test_a_drive_of_several_is_chosen_or_the_choices_are_listed(
    drive: str, sentence: str, tmp_path: Path
) -> None:
    db = tmp_path / "history.sqlite"
    run("measure watch", f"{EXPORTED} --db {db} --once")
    for where in (EXPORTED, f"--db {db}"):
        assert sentence in refusal("lifetime", f"{where} --drive '{drive}'")
    for name in ("MZVPW", "mzvpw256", "MADEUPnvme0"):
        for where in (EXPORTED, f"--db {db}"):
            assert json_of("lifetime", f"{where} --drive {name}")["years"] == 0
    assert "the drive rotates" in refusal("lifetime", f"{EXPORTED} --drive MG07")
    assert "valid drives: " in refusal("measure history", f"--db {db} --drive nothing")


PRO = DRIVES / "25-packet-850pro"


def test_erases_and_capacity_bound_an_interval_as_they_do_a_life(tmp_path: Path) -> None:
    found = json_of("measure diff", f"{PRO / 'a.txt'} {PRO / 'c.txt'}")
    assert (found["wa"], found["class"], found["wa_definition"]) == (None, "estimated", "erases")
    # 364 erases, to one of them, of the user's capacity or the raw one; 378.58 TB of the host.
    assert found["wa_low"] == pytest.approx(363 * 1_024_209_543_168 / 378_577_440_300_544)
    assert found["wa_high"] == pytest.approx(365 * 2**40 / 378_577_440_300_544)
    assert "0.98 to 1.07, estimated" in shown("measure diff", f"{PRO / 'a.txt'} {PRO / 'c.txt'}")
    found = json_of("measure diff", f"{PRO / 'a.txt'} {PRO / 'b.txt'}")
    assert (found["class"], found["wa_low"]) == ("none", None)
    assert "gives bounds of WA, but host writes are missing" in found["reason"]
    assert (
        "but mean erases are missing"
        in json_of("measure counters", _without_177(tmp_path))["reason"]
    )
    db = tmp_path / "history.sqlite"
    for at, name in ((1e9, "a.txt"), (2e9, "c.txt")):
        copy = tmp_path / "read.txt"
        copy.write_text((PRO / name).read_text())
        os.utime(copy, (at, at))
        run("measure watch", f"{copy} --db {db} --once")
    (kept,) = json_of("measure history", f"--db {db}")["drives"]
    assert [one["class"] for one in kept["intervals"]] == ["estimated"]


def _without_177(folder: Path) -> Path:
    path = folder / "without.txt"
    text = (PRO / "a.txt").read_text()
    path.write_text("".join(one for one in text.splitlines(True) if not one.startswith("177")))
    return path


def test_a_run_is_refused_on_a_drive_that_counts_a_part_of_its_flash() -> None:
    with pytest.raises(WriteampError, match="cannot show the WA of a run: this drive's flash c"):
        require_counters(read_snapshot(DRIVES / PARTIAL[1][0]), "a run")


def test_a_log_that_lacks_one_of_the_counts_it_sums_up_gives_none() -> None:
    counts = "".join(f"{at}_nand_bytes_written : {10 + at}\n" for at in range(3))
    found = answer_to(counts)
    assert found.flash is None
    assert "Inspur vendor log lacks 3 nand bytes written" in found.reason
    found = answer_to(f"{counts}3_nand_bytes_written : 13\n")
    assert found.flash is not None
