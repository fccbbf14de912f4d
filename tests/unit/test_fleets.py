"""Fleets of real drives: what wears out first, what stands out, and why WA is missing."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

import in_process
import writeamp as wa
from smart_documents import ata, intel
from writeamp.drives.histories.watching import watch_once
from writeamp.errors import WriteampError
from writeamp.text import hashed_serial, short_hash

NVME = {"device": {"protocol": "NVMe"}, "nvme_smart_health_information_log": {
    "data_units_written": 4000, "percentage_used": 40, "power_on_hours": 40}}  # fmt: skip


def written(folder: Path, **documents: dict[str, Any]) -> Path:
    """Write each document to a file of its name, with a serial number of its own."""
    for name, document in documents.items():
        log = {"serial_number": f"SERIAL {name}", **document}
        (folder / f"{name}.json").write_text(json.dumps(log))
    return folder


def drive(number: int, host: int, flash: int, **more: Any) -> dict[str, Any]:
    return {**intel(host, flash, **more), "serial_number": f"S{number}"}


def test_a_fleet_begins_with_its_answer_and_groups_what_has_none(tmp_path: Path) -> None:
    disk = {**ata("WDC WD40", {}), "rotation_rate": 7200}
    folder = written(
        tmp_path,
        a=drive(1, 10_000, 20_000),
        b=drive(2, 10_000, 30_000),
        **{f"disk{at}": {**disk, "serial_number": f"D{at}"} for at in range(3)},
        **{f"nvme{at}": {**NVME, "model_name": f"N {at}"} for at in range(2)},
        unknown1=ata("X 1", {241: 5}) | {"serial_number": "U1"},
        unknown2=ata("Y 22", {241: 5}) | {"serial_number": "U2"},
        scan={"smartctl": {}, "devices": [{"name": "/dev/sda"}]},
    )
    document = in_process.document("measure fleet", str(folder))
    groups = [(reason["group"], reason["drives"]) for reason in document["reasons"]]
    assert groups == [
        ("hard disks", 3),
        ("NVMe drives whose smartctl output has no flash counter", 2),
        (None, 2),
    ]
    assert document["reasons"][2]["examples"] == ["X 1", "Y 22"]
    assert [file["reason"].rpartition(": ")[2] for file in document["skipped"]] == [
        "the file is a list of devices (smartctl --scan) without their counters"
    ]
    page = tmp_path / "fleet.html"
    done = in_process.run("measure fleet", f"{folder} --report {page}")
    first = re.search("N 0.*", done.out)
    assert first is not None
    assert "40%" in first[0]
    # The table of lifetimes has the same interval.
    lifetimes = in_process.document("lifetime", " ".join(map(str, folder.glob("nvme*.json"))))
    life = lifetimes["lifetimes"][0]
    years = f"{life['years_low']:.3g} to {life['years_high']:.3g}"
    assert years in first[0]
    assert "…, so the units of its attributes are unknown" in document["reasons"][2]["reason"]
    assert f"N 0 9f77817e has {years} years left" in page.read_text()
    assert (
        "9 drives: 2 with WA, median 2.5, highest 3 (INTEL SSDSC2KB960G8 "
        f"{short_hash(hashed_serial('S2'))}); none stands out; 2 may wear out within a year; "
        "7 without: "
        "3 hard disks, 2 NVMe drives whose smartctl output has no flash counter, 2 for other "
        "reasons."
    ) in in_process.run("report", str(page)).out


def test_a_single_drive_has_no_quartiles(tmp_path: Path) -> None:
    fleet = wa.measure.fleet([written(tmp_path, a=drive(1, 10_000, 20_000))])
    (model,) = fleet.models
    assert (model.wa, model.wa_low, model.wa_high) == (2, None, None)
    written(tmp_path, **{f"b{at}": drive(2 + at, 10_000, 10_000 * (3 + at)) for at in range(3)})
    (model,) = wa.measure.fleet([tmp_path]).models
    assert (model.wa, model.wa_low, model.wa_high) == (3.5, 2.75, 4.25)
    rows = wa.measure.fleet([tmp_path]).card().parts[0].rows
    assert rows == [("INTEL SSDSC2KB960G8", "4", "4", "3.5", "2.75 to 4.25", "2 to 5")]


def test_no_table_of_a_large_fleet_is_long(tmp_path: Path) -> None:
    for at in range(150):
        model = f"INTEL SSDSC2KB{at}G8"
        log = drive(at, 10_000, 20_000 + at, model_name=model, power_on_time={"hours": 9000})
        (tmp_path / f"{at}.json").write_text(json.dumps(log))
    lines = in_process.run("measure fleet", str(tmp_path)).out.splitlines()
    assert len(lines) <= 120
    assert sum(line.startswith("… and 130 more") for line in lines) == 2
    db = tmp_path / "history.sqlite"
    watch_once([tmp_path], db)
    for verb in ("lifetime", "measure history"):
        shown = in_process.run(verb, f"--db {db}")
        assert len(shown.out.splitlines()) <= 120
        assert len(shown.err.splitlines()) <= 5
        assert "… and 130 more" in shown.out


def test_fleets_are_sorted_by_what_wears_out_first_and_name_what_stands_out(
    tmp_path: Path,
) -> None:
    for at in range(9):
        flash = 90_000 if at == 4 else 20_000 + 100 * at
        log = intel(10_000, flash, power_on_time={"hours": 10_000})
        log["serial_number"] = f"S{at}"
        table = log["ata_smart_attributes"]["table"]
        next(one for one in table if one["id"] == 233)["value"] = 95 - at
        (tmp_path / f"{at}.json").write_text(json.dumps(log))
    (tmp_path / "README").write_text("no snapshot")
    serve = tmp_path / "drive"
    serve.mkdir()
    (serve / "smart.json").write_text('{"critical_warning": 0, "data_units_written": 2000}')
    (serve / "ocp.json").write_text('{"physical_media_units_written": {"hi": 0, "lo": 3072000000}}')
    found = wa.measure.fleet([tmp_path])
    assert [os.path.basename(one.name) for one in found.drives[:3]] == [
        "8.json", "7.json", "6.json",
    ]  # fmt: skip
    assert len(found.drives) == 10
    assert [os.path.basename(found.drives[at].name) for at in found.outliers] == ["4.json"]
    assert [reason.partition(" is")[0].rpartition("/")[2] for _, reason in found.skipped] == [
        "README"
    ]
    assert wa.measure.fleet([tmp_path], runner=wa.runners.Threads(2)).to_dict() == found.to_dict()
    unknown = wa.measure.fleet([serve / "ocp.json"])
    with pytest.raises(WriteampError, match="no model has a drive with a known WA"):
        unknown.figure()
    with pytest.raises(WriteampError, match="among 1 files"):
        wa.measure.fleet([tmp_path / "README"])
    with pytest.raises(WriteampError, match="does not exist"):
        wa.measure.fleet([tmp_path / "nothing"])


def test_a_fleet_has_the_last_snapshot_of_each_drive_in_all_files(tmp_path: Path) -> None:
    db = tmp_path / "history.sqlite"
    for at in (1, 2):
        for name in ("a", "b"):
            log = intel(10_000 * at, 30_000 * at**2)
            log["serial_number"] = name
            log["local_time"] = {"time_t": 1_700_000_000 + at}
            (tmp_path / f"{name}.json").write_text(json.dumps(log))
        watch_once([tmp_path / "a.json", tmp_path / "b.json"], db)
    found = wa.measure.fleet([db, tmp_path / "a.json"])
    assert [one.wa for one in found.drives] == [6.0, 6.0]
    assert found.skipped == ()
