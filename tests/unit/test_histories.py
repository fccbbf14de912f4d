"""Histories of drives: kept once, whole or not at all, and told by interval."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

import in_process
import writeamp as wa
from places import ROOT
from smart_documents import intel
from writeamp.drives.histories.store import StoredReading, add, readings_in
from writeamp.drives.histories.watching import watch_once, without_serials
from writeamp.drives.measure.history_metrics import DriveMetrics, HistoryCollector
from writeamp.errors import WriteampError
from writeamp.text import hashed_serial, short_hash
from writeamp.vssd.metrics_server import MetricsServer

DAY_S = 86_400


def watched(folder: Path, *documents: dict[str, Any]) -> Path:
    db, path = folder / "history.sqlite", folder / "drive.json"
    for document in documents:
        path.write_text(json.dumps(document))
        watch_once([path], db)
    return db


def test_a_reading_is_kept_once_and_without_its_serial_number(tmp_path: Path) -> None:
    db = watched(tmp_path, intel(10_000, 20_000, 0), intel(12_000, 24_000, 1))
    again = watch_once([tmp_path / "drive.json"], db)
    assert (again.read, again.added) == (1, 0)
    kept = list(readings_in(db))
    assert len(kept) == 2
    assert b"S1" not in kept[0].files[""].replace(b"SSDSC2KB960G8", b"")
    assert b'"serial_number": "sha256:' in kept[0].files[""]
    assert without_serials(kept[0].files[""]) == kept[0].files[""]


def test_reading_a_history_does_not_change_it(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    add(db, [StoredReading("x", 1.0, {"a": b"1"})], [])
    before = db.read_bytes()
    assert [reading.name for reading in readings_in(db)] == ["x"]
    assert db.read_bytes() == before


def test_a_history_with_nul_in_its_name_is_refused_before_a_file_is_made(tmp_path: Path) -> None:
    with pytest.raises(WriteampError, match="contains a NUL character"):
        wa.measure.watch("no-such", tmp_path / "a\0b")
    assert list(tmp_path.iterdir()) == []


def test_intervals_are_joined_until_their_counters_show_wa(tmp_path: Path) -> None:
    texts = [intel(10_000 + 10 * day, 20_000 + 30 * day, day) for day in range(21)]
    (drive,) = wa.measure.history(watched(tmp_path, *texts)).drives
    assert len(drive.snapshots) == 21
    assert 2 <= len(drive.intervals) < 20
    for one in drive.intervals[:-1]:
        low, high = one.answer.bounds or (0, 0)
        assert high - low <= 0.1 * (one.answer.wa or 0)
    assert drive.intervals[-1].ends_at == 1.7e9 + 20 * DAY_S
    assert {one.answer.wa for one in drive.intervals} == {3}


def test_a_cleared_counter_is_an_interval_of_its_own(tmp_path: Path) -> None:
    texts = [intel(9000, 20_000, 0), intel(10_000, 22_000, 1), intel(3, 9, 2), intel(2003, 6009, 3)]
    (drive,) = wa.measure.history(watched(tmp_path, *texts)).drives
    assert [one.is_break for one in drive.intervals] == [False, True, False]
    assert [one.answer.wa for one in drive.intervals] == [2, None, 3]
    assert "fell" in drive.intervals[1].answer.reason


def test_a_source_that_fails_does_not_keep_the_others_out(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(intel(1000, 2000)))
    bad.write_text("{")
    found = watch_once([bad, tmp_path / "none.json", good], tmp_path / "db")
    assert (found.read, found.added, len(found.failures)) == (1, 1, 2)
    done = in_process.run("measure watch", f"{bad} --db {tmp_path}/db --once")
    assert done.status == 2
    assert f"skipped in this round: {tmp_path}" in done.err
    refused = in_process.run("measure watch", str(good))
    assert "Missing option '--db'. For example: writeamp measure watch" in refused.err


def test_a_folder_of_many_drives_is_read_as_a_fleet_is(tmp_path: Path) -> None:
    many, single, db = tmp_path / "many", tmp_path / "single", tmp_path / "db"
    for folder in (many, many / "rack", single):
        folder.mkdir()
    for at in range(3):
        log = intel(1000, 2000 + at) | {"serial_number": f"SERIAL{at}"}
        (many / ("rack" * (at == 2)) / f"{at}.json").write_text(json.dumps(log))
    (single / "host.json").write_text('{"critical_warning": 0, "data_units_written": 2000}')
    (single / "flash.json").write_text(
        '{"physical_media_units_written": {"hi": 0, "lo": 3072000000}}'
    )
    assert wa.measure.watch([many, single], db)[:2] == (4, 4)
    assert len(wa.measure.history(db).drives) == 4
    # Without serial numbers, two documents of the same tool are of two drives, too.
    for name in ("0.json", "1.json"):
        log = intel(1000, 2000)
        del log["serial_number"]
        (many / name).write_text(json.dumps(log))
    done = in_process.run("measure watch", f"{many} --db {tmp_path}/other --once")
    assert "3 of 3 sources read" in done.out


def test_an_interrupted_watch_says_what_it_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "smart.json"
    source.write_text(json.dumps(intel(1000, 2000)))

    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", interrupted)
    done = in_process.run("measure watch", f"{source} --db {tmp_path}/db")
    assert (done.status, done.err) == (
        130, f"writeamp: interrupted; {tmp_path}/db has the readings of this run's 1 rounds\n"
    )  # fmt: skip


_ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
# What a stranger makes of the tables, which SQLite computes while they are read or written.
_COMPUTED = {
    "view": f"DROP TABLE readings; CREATE VIEW readings(name, taken_at, files) AS "
    f"SELECT 'a', x, x'' FROM ({_ENDLESS})",
    "failures": f"DROP TABLE failures; CREATE VIEW failures(name) AS {_ENDLESS}",
    "column": "DROP TABLE readings; CREATE TABLE readings (name TEXT, taken_at REAL, "
    "files BLOB AS (zeroblob(1000000000)))",
    "trigger": "CREATE TRIGGER t AFTER INSERT ON readings BEGIN DELETE FROM failures; END",
}


@pytest.mark.parametrize("what", _COMPUTED)
def test_a_history_whose_tables_are_computed_is_refused(what: str, tmp_path: Path) -> None:
    db = watched(tmp_path, intel(1000, 2000, 0))
    with sqlite3.connect(db) as connection:
        connection.executescript(_COMPUTED[what])
    with pytest.raises(WriteampError, match="its tables differ"):
        wa.measure.history(db)


def test_a_reading_that_is_nested_too_deep_is_damaged(tmp_path: Path) -> None:
    db = watched(tmp_path, intel(1000, 2000, 0))
    with sqlite3.connect(db) as connection:
        files = zlib.compress(b"[" * 100_000)
        connection.execute("UPDATE readings SET files = ?", (files,))
    with pytest.raises(WriteampError, match="is damaged"):
        wa.measure.history(db)


@pytest.mark.parametrize("what", ["text", "other", "later", "damaged", "names"])
def test_what_is_no_history_is_refused_and_left_as_it_is(what: str, tmp_path: Path) -> None:
    db = watched(tmp_path, intel(1000, 2000, 0))
    if what == "text":
        db.write_text("no database at all, but long enough to be taken for one" * 20)
    elif what == "names":
        with sqlite3.connect(db) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.write_bytes(
            db.read_bytes().replace(b"CREATE TABLE readings", b"CREATE TABLE \x99eadings")
        )
    else:
        with sqlite3.connect(db) as connection:
            command = {
                "other": "PRAGMA application_id = 7",
                "later": "PRAGMA user_version = 99",
                "damaged": "UPDATE readings SET files = x'00'",
            }[what]
            connection.execute(command)
    before = db.read_bytes()
    with pytest.raises(WriteampError, match="history"):
        wa.measure.history(db)
    if what != "damaged":
        with pytest.raises(WriteampError):
            add(db, [])
        assert db.read_bytes() == before
    with pytest.raises(WriteampError, match="does not exist"):
        wa.measure.history(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_watches_of_two_processes_share_a_history(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from writeamp.drives.histories.store import StoredReading, add\n"
        "for at in range(40):\n"
        "    add(Path(sys.argv[1]), [StoredReading(sys.argv[2], at, {'': b'x'})])\n"
    )
    db = tmp_path / "db"
    running = [subprocess.Popen([sys.executable, "-c", program, db, name]) for name in "ab"]
    assert [one.wait() for one in running] == [0, 0]
    assert len(list(readings_in(db))) == 80


def test_a_round_that_is_killed_leaves_what_was_reported(tmp_path: Path) -> None:
    program = (
        "import os, sys\nfrom pathlib import Path\n"
        "from writeamp.drives.histories.store import StoredReading, add\n"
        "def readings():\n"
        "    yield StoredReading('a', 2.0, {'': b'x'})\n"
        "    os.kill(os.getpid(), 9)\n"
        "add(Path(sys.argv[1]), [StoredReading('a', 1.0, {'': b'x'})])\n"
        "add(Path(sys.argv[1]), readings())\n"
    )
    db = tmp_path / "db"
    assert subprocess.run([sys.executable, "-c", program, db], check=False).returncode == -9
    assert [one.taken_at for one in readings_in(db)] == [1.0]
    assert add(db, [StoredReading("a", 3.0, {"": b"x"})]) == 1


def test_the_history_is_printed_drawn_and_exported(tmp_path: Path) -> None:
    texts = [intel(10_000 + 2000 * day, 20_000 + 5000 * day, day) for day in range(3)]
    db, figure, metrics = watched(tmp_path, *texts), tmp_path / "a.svg", tmp_path / "m.prom"
    asked = f"--db {db} --plot {figure} --prometheus {metrics} --json"
    (drive,) = json.loads(in_process.run("measure history", asked).out)["drives"]
    assert [one["wa"] for one in drive["intervals"]] == [2.5, 2.5]
    assert [one["days"] for one in drive["intervals"]] == [1, 1]
    assert "Host writes" in figure.read_text()
    assert 'model="INTEL SSDSC2KB960G8"} 2.5' in metrics.read_text()
    single = tmp_path / "single.json"
    single.write_text(json.dumps(intel(10_000, 20_000, 1) | {"serial_number": "OTHER"}))
    watch_once([single], db)
    page = tmp_path / "page.html"
    shown = in_process.run("measure history", f"--db {db} --report {page}").out
    assert shown.startswith("2 drives: the latest WA is 2.5 (1 drive); 1 with one snapshot so far.")
    names = [f"INTEL SSDSC2KB960G8 {short_hash(hashed_serial(of))}" for of in ("S1", "OTHER")]
    markdown = in_process.run("report", str(page)).out
    assert f"{names[0]}: WA is 2.5 over 2 days." in markdown
    assert re.search(rf"{names[1]} \|.*\| one snapshot so far \|", markdown)
    other = in_process.run("measure history", f"--db {db} --drive '{names[0]}'").out
    assert other.startswith(f"{names[0]}: WA was 2.5 in the last interval, and 2.143 since")


def test_metrics_of_a_watch_are_served_and_those_of_dashboard_and_alerts_are_among_them() -> None:
    numbers = (2.0, 2.5, 1e12, 2e12, 0.03, 0.1, 1.9e9, 1.8e9, 1.7e9)
    state = DriveMetrics("sha256:0", "DRIVE X", *numbers)
    unknown = DriveMetrics("sha256:1", "DRIVE Y", *(None,) * 9)
    collector = HistoryCollector()
    with MetricsServer(collector, "127.0.0.1:0") as server:
        collector.update([state, unknown])
        text = urlopen(server.url).read().decode()
    exported = dict(re.findall(r'^(\w+)\{drive="sha256:0",model="DRIVE X"\} (\S+)$', text, re.M))
    assert [float(value) for value in exported.values()] == list(numbers)
    assert "DRIVE Y" not in text
    for file in ("grafana-dashboard.json", "alerts.yml"):
        names = re.findall(r"writeamp_drive_\w+", (ROOT / "docs" / "drives" / file).read_text())
        assert set(names) <= set(exported)
        assert len(set(names)) > 4


def test_a_round_is_printed_with_the_last_state_of_each_drive(tmp_path: Path) -> None:
    db, path = watched(tmp_path, intel(10_000, 20_000, 0)), tmp_path / "drive.json"
    path.write_text(json.dumps(intel(11_000, 25_000, 1)))
    words = f"{path} {tmp_path}/none.json --db {db} --once --json"
    document = json.loads(in_process.run("measure watch", words).out)
    assert [document[key] for key in ("sources", "read", "added")] == [2, 1, 1]
    assert document["failures"][0]["name"] == f"{tmp_path}/none.json"
    (drive,) = document["watched"]
    assert (drive["interval_wa"], drive["host_bytes"]) == (5.0, 11_000 * 32 << 20)
    assert drive["life_used"] == pytest.approx(0.05)
