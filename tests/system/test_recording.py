"""Recordings of the virtual drive, whose replays count and measure what the drive did."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import in_process
import writeamp as wa
from in_process import WRITEAMP, document, run
from recordings import DRIVE, FLUSH, PAGE, POLICY, Rows, checked, metadata, recorded, requests
from served import needs
from writeamp._engine import Load as EngineLoad
from writeamp._engine import Simulation as EngineSimulation
from writeamp.devices.policy import Policy
from writeamp.traces import recording
from writeamp.traces.formats.parquet import recorded_in


def served(rows: Rows, fill: int = 0, **policy: Any) -> dict[str, int]:
    """Return the counters of a new drive of the engine that served the requests, one by one."""
    first = rows["offset"] // PAGE
    end = -(-(rows["offset"] + rows["length"]) // PAGE)
    is_flush = rows["op"] == FLUSH
    head = rows["offset"] % PAGE
    tail = end * PAGE - rows["offset"] - rows["length"]
    load = EngineLoad.trace(
        ops=rows["op"].copy(),
        first_pages=np.where(is_flush, 0, first).astype(np.uint32),
        counts=np.where(is_flush, 0, end - first).astype(np.uint32),
        head_bytes=np.where(is_flush, 0, head).astype(np.uint32),
        tail_bytes=np.where(is_flush, 0, tail).astype(np.uint32),
        passes=1,
    )
    known = POLICY | policy
    by = Policy.of(known["manager"], known["victims"], known["wear_leveling"])
    simulation = EngineSimulation(by.drive(DRIVE), load, seed=known["seed"], batch_pages=1)
    simulation.fill(0, fill)
    while simulation.run(1):
        pass
    return simulation.counters()


def refusal(arguments: str) -> str:
    return in_process.refusal("simulate", arguments)


def counts(rows: Rows, begin: int, **more: Any) -> dict[str, int]:
    """Return what a drive counted of the requests from `begin` on."""
    after = served(rows, **more)
    before = served(rows[:begin], **more) if begin else dict.fromkeys(after, 0)
    return {name: after[name] - before[name] for name in after}


def of(result: wa.Result) -> dict[str, int]:
    """Return the counters of a result by the engine's names."""
    host = {f"host_{name}": count for name, count in result.host.items()}
    host["host_pages"], host["host_bytes"] = host["host_written_pages"], host["host_written_bytes"]
    return {**host, **result.causes, "erases": result.erases}


def assert_same(result: wa.Result, counted: dict[str, int]) -> None:
    found = of(result)
    common = counted.keys() & found.keys()
    assert {"host_pages", "host_trimmed_pages", "host_flushes", "gc", "erases"} <= common
    assert {name: found[name] for name in common} == {name: counted[name] for name in common}


@pytest.mark.parametrize("begin", [0, 7_000])
def test_a_replay_comes_to_the_counters_of_the_drive(begin: int, tmp_path: Path) -> None:
    rows = requests()
    trace = recorded(tmp_path, rows, count_from_request=begin)
    counted = counts(rows, begin)
    assert counted["gc"] > 10_000
    for given in (trace, str(trace), wa.traces.read(trace)):
        assert_same(wa.simulate(trace=given, spread=False), counted)


@pytest.mark.parametrize(
    "options",
    [
        "",
        "--manager sepgc --victims d-choices:d=3 --seed 5 --precondition random:2",
        "--precondition full --count-from start --wear-leveling static:threshold=2",
    ],
)
@needs("fio")
def test_a_replay_comes_to_the_counters_that_serve_printed(options: str, tmp_path: Path) -> None:
    trace = tmp_path / "t.parquet"
    fio = "fio --ioengine=nbd --uri=$uri --size=60m --norandommap --iodepth=8 --name"
    commands = (
        f"{fio}=fill --rw=randwrite --bs=4k --io_size=150m",
        f"{fio}=small --rw=randwrite --bs=512 --io_size=10m",
        f"{fio}=trim --rw=randtrim --bs=12k --io_size=20m",
        f"{fio}=mixed --rw=randrw --bsrange=512-64k --blockalign=512 --io_size=80m --fsync=50",
    )
    host = " && ".join(commands)
    drive = f"--device tlc-datacenter --size 64MiB {options}"
    done = subprocess.run(
        [WRITEAMP, "serve", *drive.split(), "--record", trace, "--json", "--run", host],
        stdout=subprocess.PIPE,
        check=True,
    )
    printed = json.loads(done.stdout)
    found = document("simulate", f"--trace {trace} --no-spread")
    assert found["causes"] == {cause: printed["causes"][cause] for cause in found["causes"]}
    assert found["host"] == {name: printed["host"][name] for name in found["host"]}
    assert (found["wa"], found["erases"]) == (printed["wa"], printed["erases"])
    assert printed["read_modify_write_pages"] > 1_000
    assert printed["host"]["trimmed_pages"] > 1_000
    assert printed["causes"]["gc"] > 1_000


@needs()
def test_the_recording_of_a_drive_that_was_kept_says_so(tmp_path: Path) -> None:
    trace = tmp_path / "t.parquet"
    found = []
    for _ in range(2):
        with wa.VirtualSsd(size="64MiB", backing=tmp_path / "drive", record=trace):
            pass
        told = recorded_in(trace)
        found.append(told.precondition)
    assert found == ["none", "kept"]


def test_a_filled_drive_is_filled_again(tmp_path: Path) -> None:
    rows = requests(20_000)
    trace = recorded(tmp_path, rows, precondition="full", count_from_request=3)
    counted = counts(rows, 3, fill=DRIVE.logical_pages)
    assert_same(wa.simulate(trace=trace, spread=False), counted)


def test_the_command_takes_drive_and_policy_from_the_recording(tmp_path: Path) -> None:
    rows = requests(20_000)
    trace = recorded(tmp_path, rows, count_from_request=100)
    found = document("simulate", f"--trace {trace} --no-spread")
    same = document("simulate", f"--trace {trace} --device tlc-datacenter --no-spread")
    keys = ("wa", "causes", "erases", "host", "capacity_bytes", "blocks", "manager", "seed")
    assert {key: found[key] for key in keys} == {key: same[key] for key in keys}
    assert (found["manager"], found["seed"], found["mapping"]) == ("sepgc", 7, "as-is")
    assert found["capacity_bytes"] == DRIVE.capacity_bytes
    assert found["causes"] == {name: counts(rows, 100)[name] for name in found["causes"]}


def test_what_is_given_counts_and_not_what_was_recorded(tmp_path: Path) -> None:
    rows = requests(20_000)
    trace = recorded(tmp_path, rows)
    # A manager that is given brings its own victims.
    other = wa.simulate(trace=trace, manager="single", spread=False)
    assert_same(other, served(rows, manager="single", victims=None))
    assert_same(wa.simulate(trace=trace, seed=3, spread=False), served(rows, seed=3))
    roomier = wa.simulate(trace=trace, op=0.5, spread=False)
    assert roomier.device.capacity_bytes == DRIVE.capacity_bytes
    assert roomier.device.op == pytest.approx(0.5, rel=0.02)
    another = wa.simulate("ssd-v", trace=trace, spread=False)
    assert another.device.name == "ssd-v"
    assert another.device.capacity_bytes == DRIVE.capacity_bytes
    ordinary = wa.simulate(trace=trace, mapping="compact", spread=False)
    assert (ordinary.device.name, ordinary.plan.policy.manager) == ("generic", "single")


def test_time_passes_only_if_it_did_when_recorded_or_is_asked_for(tmp_path: Path) -> None:
    assert DRIVE.is_timed_by_default
    trace = recorded(tmp_path, requests(3_000), count_from_request=10)
    assert isinstance(wa.simulate(trace=trace, spread=False), wa.Result)
    timed = wa.simulate(trace=trace, timed=True)
    assert isinstance(timed, wa.TimedResult)
    assert timed.host_pages == wa.simulate(trace=trace, spread=False).host_pages
    trace = recorded(tmp_path, requests(3_000), timed=True)
    assert isinstance(wa.simulate(trace=trace), wa.TimedResult)


def test_compare_and_endurance_take_a_recording_too(tmp_path: Path) -> None:
    rows = requests(20_000)
    trace = recorded(tmp_path, rows, count_from_request=1_000)
    found = wa.compare(trace=trace, managers="sepgc,single", replicas=1)
    assert_same(found.rows[0].results[0], counts(rows, 1_000, victims=None))
    life = wa.endurance(trace=trace, w_max=20, replicas=2, manager="single")
    assert life.plan.device.capacity_bytes == DRIVE.capacity_bytes


def test_a_saved_experiment_replays_the_recording_alike(tmp_path: Path) -> None:
    trace = recorded(tmp_path, requests(5_000), count_from_request=100)
    asked = wa.Experiment.of("simulate", trace=trace, manager="single", spread=False)
    asked.to_toml(tmp_path / "e.toml")
    read = wa.Experiment.from_toml(tmp_path / "e.toml")
    assert (read, read.hash) == (asked, asked.hash)
    short = wa.Experiment.from_dict({"verb": "simulate", "load": {"trace": str(trace)}})
    assert short == wa.Experiment.of("simulate", trace=trace)


def test_converting_a_recording_keeps_what_it_says(tmp_path: Path) -> None:
    trace = recorded(tmp_path, requests(500), count_from_request=5)
    assert run("trace convert", f"{trace} {tmp_path}/copy.parquet").status == 0
    copy, original = (wa.traces.read(path) for path in (tmp_path / "copy.parquet", trace))
    assert copy.recorded == original.recorded is not None
    assert copy.requests.equals(original.requests)


def test_every_request_is_kept_with_its_time_in_the_order_it_was_served(tmp_path: Path) -> None:
    rows = requests(1_000)
    rows["at_ns"][500] = 3  # stamped by one connection, served after another
    read = wa.traces.read(recorded(tmp_path, checked(rows))).requests
    assert read["timestamp_ns"].to_list() == np.maximum.accumulate(rows["at_ns"]).tolist()
    words = np.array(["write", "trim", "read", "flush"])[rows["op"]]
    assert read["op"].to_list() == words.tolist()
    assert read["offset"].sum() == rows["offset"][rows["op"] != FLUSH].sum()
    columns = pl.read_parquet(tmp_path / "t.parquet")
    assert columns["fua"].to_list() == (rows["flags"] & 1).astype(bool).tolist()


def test_a_recording_longer_than_a_chunk_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "_CHUNK_ROWS", 64)
    rows = requests(1_000)
    rows["at_ns"][64] = 3
    read = wa.traces.read(recorded(tmp_path, checked(rows))).requests
    assert read["timestamp_ns"].to_list() == np.maximum.accumulate(rows["at_ns"]).tolist()
    assert read["length"].sum() == rows["length"][rows["op"] != FLUSH].sum()


@pytest.mark.parametrize("torn", [b"x" * 31, b"\0" * 32, b"\0" * 32 + b"x"])
def test_a_torn_last_row_is_left_out(torn: bytes, tmp_path: Path) -> None:
    raw, rows = tmp_path / "raw", requests(100)
    raw.write_bytes(rows.tobytes() + torn)
    assert recording.write_parquet(raw, tmp_path / "t.parquet", metadata()) == 100
    assert wa.traces.read(tmp_path / "t.parquet").requests.height == 100


@pytest.mark.parametrize("content", [b"", b"x" * 20, b"\0" * 32])
def test_nothing_recorded_is_a_trace_without_requests(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(content)
    assert recording.write_parquet(tmp_path / "raw", tmp_path / "t.parquet", metadata()) == 0
    with pytest.raises(wa.WriteampError, match="holds no request"):
        wa.simulate(trace=tmp_path / "t.parquet")


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    raw, target = tmp_path / "raw", tmp_path / "t.parquet"
    with pytest.raises(wa.WriteampError, match="cannot be read"):
        recording.write_parquet(raw, target, metadata())
    raw.write_bytes(b"no recording" * 1000)
    with pytest.raises(wa.WriteampError, match="checksum"):
        recording.write_parquet(raw, target, metadata())
    rows = requests(100)
    rows["op"][41] = 9
    checked(rows).tofile(raw)
    with pytest.raises(wa.WriteampError, match="row 42 has op 9, valid are 0 to 3"):
        recording.write_parquet(raw, target, metadata())
    assert not target.exists()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"version": 2}, "of version 2; this writeamp reads 1"),
        ({"count_from_request": -1}, "count_from_request -1"),
        ({"count_from_request": True}, "count_from_request True"),
        ({"count_from_request": 2_000}, "counting begins at request 2000"),
        ({"count_from_request": 999}, "no counted request"),
        ({"policy": {"manager": 3, "seed": 1}}, "have policy"),
        ({"policy": POLICY | {"manager": "nonsense"}}, "unknown"),
        ({"precondition": "nonsense"}, "unknown precondition"),
        ({"precondition": "kept"}, "initial state is unknown"),
        ({"precondition": None}, "have precondition"),
        ({"timed": "yes"}, "have timed"),
        ({"device": {"name": "x"}}, "not a valid flash drive"),
        ({"device": 3}, "have device"),
    ],
)
def test_broken_metadata_are_an_error_in_a_sentence(
    changes: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    trace = recorded(tmp_path, requests(1_000), **changes)
    assert sentence in refusal(f"--trace {trace} --no-spread")


@pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000])
def test_metadata_that_are_no_json_object_are_refused(text: str, tmp_path: Path) -> None:
    trace = recorded(tmp_path, requests(100))
    whole = pl.read_parquet(trace)
    whole.write_parquet(trace, metadata={"writeamp_recording": text})
    assert "the metadata of the recording" in refusal(f"--trace {trace}")


@pytest.mark.parametrize(
    ("drive", "sentence"),
    [
        ("--size 16MiB", "was recorded on a drive of 32 MiB"),
        ("--size 64MiB", "was recorded on a drive of 32 MiB"),
        ("--device raid0:ssd-v,ssd-v", "was recorded on a flash drive"),
    ],
)
def test_a_drive_that_is_not_the_recorded_one_is_refused(
    drive: str, sentence: str, tmp_path: Path
) -> None:
    trace = recorded(tmp_path, requests(100))
    assert sentence in refusal(f"--trace {trace} {drive}")
    assert document("simulate", f"--trace {trace} --size 32MiB --no-spread")["wa"] >= 1


def test_the_digest_of_a_trace_in_memory_tells_recordings_apart(tmp_path: Path) -> None:
    trace = wa.traces.read(recorded(tmp_path, requests(100)))
    other = replace(trace, recorded=replace(trace.recorded, count_from_request=5))
    one, two = (wa.Experiment.of("simulate", trace=held) for held in (trace, other))
    assert one.hash != two.hash
    assert json.loads(trace.recorded.to_text())["version"] == 1


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
