"""Recordings of timed virtual drives: replays that count and measure what the drive did."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from in_process import WRITEAMP, document, run
from recordings import metadata, recorded, requests
from served import needs

_FIO = "fio --ioengine=nbd --uri=$uri --size=12m --norandommap --iodepth=8 --name"
_HOST = " && ".join(
    (
        f"{_FIO}=mixed --rw=randrw --bsrange=512-16k --blockalign=512 --io_size=1m --fsync=20",
        f"{_FIO}=trim --rw=randtrim --bs=12k --io_size=200k --numjobs=2",
        f"{_FIO}=small --rw=randwrite --bs=4k --io_size=400k",
    )
)
# A write cache that loses its data with power: then flushes and FUA decide what is programmed.
_DRIVES = {
    "cached": "--device ssd-v --size 16MiB --precondition random:1 "
    "--set write_cache.power_safe=false",
    "aged": "--device tlc-client --size 16MiB --precondition random:0.5 --manager sepgc --seed 3",
}
_KEYS = ("wa", "causes", "erases", "seed", "precondition")


def _edges(capture: Path) -> list[str]:
    """Return the times and values of a capture: its lines but for those of the header."""
    return [line for line in capture.read_text().split("\n") if line[:1] in ("#", "0", "1")]


def _served(folder: Path, drive: str) -> dict[str, Any]:
    outputs = ("--record", "t.parquet", "--rb-capture", "live.vcd")
    done = subprocess.run(
        [WRITEAMP, "serve", *drive.split(), "--time-scale=0.2", "--json", *outputs, "--run", _HOST],
        stdout=subprocess.PIPE,
        cwd=folder,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@needs("fio")
@pytest.mark.parametrize("drive", _DRIVES.values(), ids=_DRIVES)
def test_a_timed_replay_is_the_drive_to_the_nanosecond(drive: str, tmp_path: Path) -> None:
    printed = _served(tmp_path, drive)
    trace, capture = tmp_path / "t.parquet", tmp_path / "replay.vcd"
    found = document("simulate", f"--trace {trace} --rb-capture {capture}")
    assert {key: found[key] for key in _KEYS} == {key: printed[key] for key in _KEYS}
    assert found["host"] == {name: printed["host"][name] for name in found["host"]}
    for direction, measured in printed["latency_us"].items():
        latency = found["latency_us"][direction]
        assert {name: latency[name] for name in measured} == measured
    # The drive serves on until it is stopped, and its capture then has more.
    edges = _edges(capture)[:-1]  # the last line tells when it ends
    assert len(edges) > 1_000
    assert _edges(tmp_path / "live.vcd")[: len(edges)] == edges
    assert printed["host"]["flushes"] > 10
    assert printed["host"]["trimmed_pages"] > 20


def test_what_a_recording_says_of_time_is_checked(tmp_path: Path) -> None:

    rows = requests(300)
    end = int(rows["at_ns"][-1]) + 10**6
    window = {"from_ns": 0, "until_ns": end, "unanswered": 0}
    trace = recorded(tmp_path, rows, timed=True, window=window)
    found = document("simulate", f"--trace {trace}")
    assert any("times of the recorded drive" in note for note in found["notes"])
    # An end that was asked for, a warm-up or other passes are those of any timed run.
    for asked in ("--time 1ms", "--warmup auto", "--repeat 2"):
        other = document("simulate", f"--trace {trace} {asked}")
        assert not any("times of the recorded drive" in note for note in other["notes"])
    for wrong in ({"from_ns": 1}, window | {"from_ns": end + 1}, window | {"unanswered": -1}, 3):
        trace = recorded(tmp_path, rows, timed=True, window=wrong)
        status, _, err = run("simulate", f"--trace {trace}")
        assert (status, err.count("\n")) == (2, 1)
        assert "have window" in err
    assert "window" not in metadata()["writeamp_recording"]


def test_converting_a_recording_keeps_what_had_to_be_durable(tmp_path: Path) -> None:

    trace, copy = recorded(tmp_path, requests(500)), tmp_path / "copy.parquet"
    assert run("trace convert", f"{trace} {copy}").status == 0
    durable = [pl.read_parquet(path)["fua"].to_list() for path in (trace, copy)]
    assert durable[0] == durable[1]
    assert any(durable[0])
