"""Refusals of timed runs, each a sentence that says which values are valid."""

from __future__ import annotations

from pathlib import Path

import pytest

from in_process import run

SMALL = "--blocks 64 --pages-per-block 32"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (f"{SMALL} --time 0", "time is '0'; it must be above 0"),
        (f"{SMALL} --time=-5s", "time is '-5s'; it must be above 0"),
        (f"{SMALL} --time '10 parsecs'", "such as 10s, 500ms, 2min or 1.5h"),
        (f"{SMALL} --time nan", "time is 'nan'"),
        (f"{SMALL} --time 1e30", "time is '1e30'"),
        (f"{SMALL} --time 1s --host-bytes 1MiB --writes 3", "host_bytes and writes"),
        (f"{SMALL} --time 1s --time-scale 0", "time_scale is 0"),
        (f"{SMALL} --time-scale 2 --writes 100", "time_scale is for timed runs"),
        (f"{SMALL} --time 1s --precision 0.1", "precision ends untimed runs"),
        (f"{SMALL} --time 1s --replicas 7", "replicas are for untimed runs"),
        (f"{SMALL} --time 1s --warmup 7", "it must be auto"),
        (f"{SMALL} --host-bytes 100", "an untimed run writes whole pages of 4096 bytes"),
        (f"{SMALL} --rb-rate 10MHz", "give rb_capture too"),
        (f"{SMALL} --rb-capture a.vcd --rb-jitter 5ns", "give its rb_rate too"),
        (f"{SMALL} --rb-capture a.vcd --rb-rate 10furlongs", "such as 10MHz"),
        (f"{SMALL} --rb-capture a.vcd --rb-rate 1MHz --rb-missed 1", "rb_missed is 1"),
        (f"{SMALL} --rb-capture .", "is a directory"),
        (f"{SMALL} --rb-capture a.png --plot a.png --time 1s", "are one file"),
        (f"{SMALL} --timed --workload io:write=0,qd=2 --host-bytes 1MiB", "never writes"),
        (f"{SMALL} --timed --set timing.read_us=-3", "read_us"),
        (f"{SMALL} --timed --set timing.reed_us=3", "reed_us"),
        (f"{SMALL} --timed --set collection.paced=true", "scheduling.copies_yield must be true"),
        (f"{SMALL} --timed --set scheduling.most_wait_us=5", "scheduling.reads_first must be true"),
        ("--device spinpoint-m7 --time 1s --rb-capture a.vcd", "no Ready/Busy pins"),
        ("--device spinpoint-m7 --workload uniform --writes 10", "serves timed runs only"),
        (
            "--device raid0:x25-m,x25-m --size 1GiB --time 1s --precondition random",
            "is for one flash drive",
        ),
    ],
)
def test_a_timed_run_that_cannot_be_is_refused(
    arguments: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("simulate", arguments)
    assert (done.status, done.out) == (2, "")
    assert words in done.err.splitlines()[-1]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("verb", ["compare --managers single", "endurance --w-max 5"])
def test_other_verbs_have_no_time(verb: str) -> None:
    done = run(*verb.split(" ", 1)[:1], f"{verb.split(' ', 1)[1]} {SMALL} --time 1s")
    assert done.status == 2
    assert "No such option" in done.err
