"""Answers and measurements by processes: virtual drives, programs as the load, Ctrl-C."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

import in_process
import writeamp as wa
from served import FIO, SMALL, needs, serve
from writeamp.answers.case import run_case
from writeamp.answers.question import Question
from writeamp.answers.settings import QuestionSettings
from writeamp.answers.way import Findings
from writeamp.answers.ways import SIMULATE, VIRTUAL
from writeamp.settings.experiment import Experiment

SHAPE: dict[str, Any] = {"blocks": 64, "pages_per_block": 32, "op": 0.2}


@needs()
@pytest.mark.parametrize(
    "load",
    [
        {"workload": "hot-cold:f=0.1,r=0.9"},
        {"workload": "uniform:trim=0.1"},
        {"trace": list(range(1000)) * 4 + list(range(0, 1600, 2)) * 9, "repeat": 4},
        {"workload": "jesd219", "mapping_unit": "16KiB"},
        {"workload": "uniform:trim=0.1", "mapping_unit": "16KiB"},
    ],
    ids=["pages", "trims", "trace", "units", "units of single pages"],
)
def test_a_virtual_drive_counts_what_the_simulation_of_its_requests_counts(
    load: dict[str, Any],
) -> None:
    question = Question.of(Experiment.of("simulate", **load, **SHAPE), QuestionSettings())
    findings = Findings()
    for way in (SIMULATE, VIRTUAL):
        [row] = way.rows(question, findings, lambda done, total: None)
        findings = findings.joined(row.findings)
    served, simulated = findings.served, findings.simulated
    again = run_case(simulated.windowed).result
    assert served.host_pages == again.host_pages > 0
    assert served.causes == again.causes
    assert row.wa == again.wa
    if "mapping_unit" in load:
        assert 0 < served.causes["read_modify_write"] == served.read_modify_write_pages
        assert served.causes["host"] + served.read_modify_write_pages == served.host_pages


@needs("fio")
def test_a_program_is_the_load_of_all_ways(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    fio = (
        "fio --name=w --ioengine=nbd --uri=$uri --rw=randwrite --bs=4k --size=6M --io_size=24M "
        "--norandommap --output=fio.txt"
    )
    line = f"--blocks 64 --pages-per-block 32 --op 0.2 --run {shlex.quote(fio)}"
    found = in_process.document("answer", line)
    rows = {row["way"].split()[0]: row for row in found["rows"]}
    assert rows["virtual"]["wa"] > 1.2
    # The recording is replayed exactly.
    assert rows["simulate"]["wa"] == rows["virtual"]["wa"]
    assert "fio --name=w" in rows["virtual"]["assumes"]
    assert "not uniform" in rows["formula"]["reason"]


def test_a_program_that_writes_nothing_is_no_load(tmp_path: Path) -> None:
    done = in_process.run("answer", "--blocks 64 --pages-per-block 32 --op 0.2 --run true")
    assert done.status == 2
    assert "wrote nothing" in done.err or "nbdkit" in done.err


def test_what_was_finished_is_printed_after_ctrl_c(tmp_path: Path) -> None:
    # The simulation of so large a drive does not end before the formulas are there.
    words = "answer --workload zipf:s=0.99 --blocks 65536 --op 0.1 --json"
    done = in_process.interrupted(words.split(), tmp_path, after_s=5)
    assert done.status == 130
    found = json.loads(done.out)
    assert [row["way"] for row in found["rows"]][:2] == ["formula markov", "mean-field greedy"]
    assert "simulate" in found["unfinished"]
    assert "not finished" in done.err
    assert list(tmp_path.iterdir()) == []


def test_the_library_raises_what_was_given_wrong() -> None:
    with pytest.raises(wa.WriteampError, match="--run is the load"):
        wa.answer(workload="uniform", run="true", **SHAPE)


WRITEAMP = f"{sys.executable} -m writeamp"


@needs("fio")
def test_a_run_equals_the_drive(tmp_path: Path) -> None:
    fill = "fio --name=f --ioengine=nbd --uri=$uri --rw=write --bs=64k --size=60M --output=f.txt"
    # The logs are written each second; the second time after the fill, they certainly have it.
    newer = "until [ logs/smart.json -nt filled ]; do sleep 0.1; done"
    logged = f"for _ in 1 2; do touch filled; {newer}; done"
    run = f"{WRITEAMP} measure run logs --settle 5s --json -- {FIO.format(size='240M')} > run.json"
    done = serve(f"{SMALL} --counters logs --json", tmp_path, run=f"{fill} && {logged} && {run}")
    assert done.status == 0, done.err
    whole = done.document
    found = json.loads((tmp_path / "run.json").read_text())
    filled = 60 << 20
    assert found["host_bytes"] == whole["host_bytes"] - filled
    assert found["wa"] == pytest.approx(
        (whole["flash_bytes"] - filled) / (whole["host_bytes"] - filled), rel=1e-9
    )
    assert found["wa"] > 1.1
    assert found["findings"] == []


def test_ctrl_c_ends_the_command_and_keeps_what_was_read(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "smart.json").write_text('{"critical_warning": 0, "data_units_written": 2000}')
    (logs / "ocp.json").write_text('{"Physical media units written": {"hi": 0, "lo": 3000000000}}')
    arguments = ["measure", "run", str(logs), "--settle", "100ms", "--out", "kept", "--json"]
    begun = tmp_path / "begun"
    command = ["--", "sh", "-c", f"touch {begun}; exec sleep 60"]
    done = in_process.interrupted([*arguments, *command], tmp_path, when=begun.exists)
    found = json.loads(done.out)
    assert done.status == 130
    assert (found["interrupted"], found["wa"]) == (True, None)
    assert "write at least" in found["reason"]
    assert sorted(one.name for one in (tmp_path / "kept").iterdir()) == [
        "after.json",
        "before.json",
    ]
