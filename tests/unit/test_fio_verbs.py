"""Fio jobs as loads of each subcommand: findings, warnings, notes and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import writeamp as wa
from blackbox_files import WORKLOAD, trained, trained_on_wa
from in_process import refusal, run
from places import ROOT
from writeamp.errors import WriteampError

JOB = ROOT / "examples" / "fio" / "looped-randwrite.fio"
_DRIVE = "--logical-pages 1200 --pages-per-block 16"
_SMALL = f"{_DRIVE} --op 0.4"
VERBS = {
    "simulate": f"{_SMALL} --writes 5000 --replicas 1",
    "simulate --sweep": f"{_DRIVE} --sweep op=0.3:0.5:2 --writes 5000 --replicas 1",
    "simulate --target-wa": f"{_DRIVE} --target-wa 1.5 --writes 5000 --replicas 1",
    "compare": f"{_SMALL} --managers single --writes 5000 --replicas 1",
    "endurance": f"{_SMALL} --w-max 5 --replicas 1",
    "answer": f"{_SMALL} --writes 2000 --replicas 1",
    "lifetime": "--device x25-m --cycles 5 --daily-writes 1TB",
}


def document(verb: str, arguments: str) -> tuple[dict[str, Any], str]:
    """Return the document and the messages of a verb."""
    status, out, err = run(verb, f"{arguments} --json")
    assert status == 0, err
    made: dict[str, Any] = json.loads(out)
    return made, err


@pytest.mark.parametrize("name", VERBS)
def test_each_verb_reports_mistakes_and_drive_writes_of_a_job(name: str) -> None:
    verb = name.split(maxsplit=1)[0]
    result, err = document(verb, f"--fio {JOB} {VERBS[name]}")
    assert [finding["id"] for finding in result["findings"]] == ["looped-permutation"]
    assert err.count("warning: looped-permutation: ") == 1
    assert "the fio jobs make 4 drive writes; they are run again and again" in err
    # The next command of the process has no job.
    other, err = document("compare", VERBS["compare"])
    assert "findings" not in other
    assert "looped-permutation" not in err


def test_a_command_line_has_the_findings_of_its_file(tmp_path: Path) -> None:
    for load in (f"--fio {JOB}", f"--fio-run 'fio {JOB}'"):
        result, _ = document("simulate", f"{load} {VERBS['simulate']}")
        assert [finding["id"] for finding in result["findings"]] == ["looped-permutation"]
    job = "fio --name=a --rw=randwrite --norandommap --randrepeat=0"
    result, err = document("simulate", f"--fio-run '{job}' {VERBS['simulate']}")
    assert result["findings"] == []
    # The capacity of the drive decides whether a job reaches all of it.
    assert "small-span" not in err
    part = f"--fio-run '{job} --filename=/dev/nvme0n1 --size=1m' {VERBS['simulate']}"
    assert document("simulate", part)[0]["findings"][0]["id"] == "small-span"


@pytest.mark.parametrize("verb", ["predict", "choose", "explain"])
def test_a_prediction_reports_mistakes_of_its_job(verb: str, blackbox_model: Path) -> None:
    bound = "--max-wa 3" if verb == "choose" else ""
    result, err = document(f"blackbox {verb}", f"{blackbox_model} --fio {JOB} {bound}")
    assert [finding["id"] for finding in result["findings"]] == ["looped-permutation"]
    assert "warning: looped-permutation: " in err
    result, _ = document(f"blackbox {verb}", f"{blackbox_model} --workload {WORKLOAD} {bound}")
    assert "findings" not in result


@pytest.fixture(scope="module")
def blackbox_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a model of WA."""
    folder = tmp_path_factory.mktemp("model")
    trained(folder, "fast")
    trained_on_wa(folder, "fast")
    return folder / "wa.model"


def test_notes_say_where_a_load_differs_from_its_job() -> None:
    jobs = (
        "fio --fdp=1 --ioengine=io_uring_cmd --rw=randwrite --name=a --size=48% --fdp_pli=1,2 "
        "--time_based --runtime=9 --name=b --stonewall --offset=48% --size=48% --fdp_pli=3"
    )
    for verb in ("simulate", "endurance", "compare"):
        result, err = document(verb, f"--fio-run '{jobs}' {VERBS[verb]}")
        handles = "job 'a' has fdp_pli=1,2, so fio gives its writes several placement handles"
        assert f"warning: {handles}; here, all of them get handle 1" in err
        one_pass = "job 'a' is followed by other jobs, so it makes one pass over its size"
        assert one_pass in result["notes"]
    unnamed = jobs.replace(" --fdp_pli=3", "").replace(" --fdp_pli=1,2", "")
    _, err = document("simulate", f"--fio-run '{unnamed}' {VERBS['simulate']}")
    assert "job 'b' has no fdp_pli" in err
    assert "get no handle" in err
    trims = "fio --name=a --rw=randtrimwrite --norandommap --iodepth=4"
    _, err = document("simulate", f"--fio-run '{trims}' {VERBS['simulate']}")
    assert "warning: job 'a' has rw=randtrimwrite and iodepth=4, so fio writes blocks" in err


def test_the_warning_says_how_often_jobs_are_run() -> None:
    drive: dict[str, Any] = {"logical_pages": 1200, "pages_per_block": 16, "op": 0.4}
    for settings, words in (
        ({}, "again and again until WA is steady"),
        ({"writes": 5000}, "again and again for the length of the run"),
        ({"repeat": 1}, "they are run once"),
        ({"repeat": 3}, "they are run 3 times"),
    ):
        result = wa.simulate(fio=JOB, replicas=1, **settings, **drive)
        assert words in result.warnings[-1]
    endless = "fio --name=a --rw=randwrite --time_based --runtime=9"
    warnings = wa.simulate(fio_run=endless, writes=5000, replicas=1, **drive).warnings
    assert "the fio jobs do not end by themselves" in warnings[-1]


def test_a_job_may_come_from_standard_input(tmp_path: Path) -> None:
    with JOB.open() as job, patch("sys.stdin", job):
        result, _ = document("simulate", f"--fio - {VERBS['simulate']}")
        assert result["workload"] == "standard input"
        saved = f"--save-config {tmp_path / 'a.toml'}"
        refused = run("simulate", f"--fio - {saved} {VERBS['simulate']}")
    assert refused.status == 2
    assert "its fio job is standard input, which cannot be read again" in refused.err


def test_an_output_does_not_replace_the_job(tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    job.write_text("[a]\nrw=write\n")
    arguments = f"--fio {job} --save-config {job} {VERBS['simulate']}"
    refusal("simulate", arguments, "job.toml", "it is the input")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--capacity 10GB", ["--capacity is for simulated loads", "give --size instead"]),
        ("--writes 5000", ["--writes is for simulated loads", "leave it out"]),
        ("--utilization 0.5", ["--utilization is for simulated loads"]),
        ("--replicas 2", ["--replicas is for simulated loads"]),
        ("--workload uniform", ["--run is the load", "--fio", "--trace"]),
        ("--fio-run 'fio --name=a --rw=randwrite --norandommap'", ["--run is the load"]),
    ],
)
def test_settings_of_a_simulated_load_do_not_apply_to_a_program(
    arguments: str, words: list[str]
) -> None:
    refusal("answer", f"{arguments} --run true", *words)


def test_jobs_without_writes_are_refused_with_what_to_do() -> None:
    for mode in ("read", "randread", "trim", "randtrim"):
        with pytest.raises(WriteampError, match="add a job that writes"):
            wa.simulate(fio_run=f"fio --name=a --rw={mode}", blocks=64)
