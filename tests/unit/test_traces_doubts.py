"""Formats, clocks and files of CPUs that a trace does not support are refused or doubted."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from in_process import document, run
from places import TINY
from refusals import refusal
from trace_files import CASES, WRITE_C, WRITE_D, WRITE_Q, record, written
from writeamp import traces
from writeamp.traces.clocks import clock_of, in_words


@pytest.mark.parametrize(
    ("row", "name", "why"),
    [
        # Another layout with the operation in the same place; of each row, its number is `at`.
        ("{epoch},R,8192,4096,15", "alibaba", "would be dates, such as 1577808000"),
        ("{epoch}000,R,8192,4096,15", "alibaba", "would be dates"),
        ("{late},R,{lba},4096,15", "alibaba", "there would be 9 devices for 9 requests"),
        ("1,W,{lba},4096,{late}", "alibaba", "9 of 9 offsets are not multiples of 512 bytes"),
        ("1,W,{byte},8,{late}", "alibaba", "9 of 9 sizes are not multiples of 512 bytes"),
        ("1,W,{byte},{long},{late}", "alibaba", "9 of 9 sizes are above 64 MiB"),
        ("1,W,{far},4096,{late}", "alibaba", "9 of 9 offsets are beyond 256 TiB"),
        ("1,W,{byte},4096,{noise}", "alibaba", "of 8 times would run backwards"),
        ("1,W,{byte},0,{late}", "alibaba", "all sizes would be 0"),
        ("1,W,4096,{byte},{late}", "alibaba", "1 offset(s) with 9 sizes"),
        ("1,W,{byte},4096,{at}", "msr", ""),
        (
            "{late},{lba},8,W,52",
            "spc",
            "there would be 9 devices for 9 requests, and their numbers rise",
        ),
        ("0,{byte}00,4096,W,{at}.5", "spc", "all offsets would be multiples of 256 KiB"),
        ("{epoch},h,0,Write,{byte},4096,1", "msr", "9 requests would come within 8e-7 s"),
        ("{at},bash,{noise},Write,{lba},8,1", "msr", "not multiples of 512 bytes"),
        ("{at}.5,3,W,{byte},4096,120", "systor", "not multiples of 512 bytes"),
        ("{at}00000 1 x {far} 8 W 8 0", "fiu", "9 of 9 offsets are beyond 256 TiB"),
    ],
)
def test_rows_that_look_like_a_format_are_refused_if_the_consequences_are_absurd(
    tmp_path: Path, row: str, name: str, why: str
) -> None:
    rows = [
        row.format(
            at=at, epoch=1577808000 + at, late=100 * at, lba=123456 + 9 * at,
            byte=4096 * (at + 1) * 2, far=2**50 + 4096 * at, long=2**30, noise=at * 7 % 5,
        )
        for at in range(9)
    ]  # fmt: skip
    path = written(tmp_path, "\n".join([*rows, ""]))
    if not why:
        assert traces.detect(path) == "alibaba"
        return
    sentence = refusal(traces.detect, path)
    assert f"it has the form of {name}, but " in sentence
    assert why in sentence
    assert "--format" in sentence
    doubts = traces.read(path, name).doubts
    assert any(f"another format than {name}" in doubt for doubt in doubts)


def test_rows_that_no_reading_as_a_format_survives_are_refused_as_one(tmp_path: Path) -> None:
    path = written(tmp_path, "1,W,4096,1125899906842624,1\n1,W,8192,1125899906842624,2\n")
    sentence = refusal(traces.detect, path)
    assert "has the form of alibaba, but length '1125899906842624' is too large" in sentence


@pytest.mark.parametrize(
    "rows",
    [
        # Several volumes, sorted by volume, times that restart, and one damaged row.
        ["419,W,8792731648,16384,1577808144360767", "725,R,59110326272,360448,1577808144360813"],
        [f"{at // 8},W,{at * 4096},4096,{at % 8}" for at in range(64)],
        [f"{at * 7 % 5},W,{at * 4096},512,{at}" for at in range(64)] + ["0,W,1,1,1"],
        [f"0,{at * 8},4096,W,0" for at in range(64)],
        [f"0,{at * 2048},1048576,W,{at}.5" for at in range(64)],
    ],
)
def test_ordinary_rows_are_detected_and_not_doubted(tmp_path: Path, rows: list[str]) -> None:
    trace = traces.read(written(tmp_path, "\n".join([*rows, ""])))
    assert trace.format in ("alibaba", "spc")
    assert trace.doubts == []


@pytest.mark.parametrize("path", sorted(TINY.iterdir()), ids=lambda path: path.name)
def test_no_sample_is_doubted(path: Path) -> None:
    sample_of = traces.FORMATS[path.name.split(".")[1]]
    name = traces.detect(path) if sample_of.certain else sample_of.name
    assert traces.read(path, name).doubts == []


def test_a_clock_that_is_40_years_off_is_named_with_its_row() -> None:
    arguments = f"'{CASES / 't02-leveldb-blkparse-C.txt'}' --action C"
    sentence = "times jump by 1.27e9 s at row 24: the duration is unknown"
    found = document("trace info", arguments)
    assert sentence in found["warnings"]
    assert (found["duration_s"], found["writes"]) == (None, 840)
    assert f"writeamp: warning: {sentence}\n" in run("trace info", arguments).err


def frame(times_ns: list[int], devices: list[int] | None = None) -> pl.DataFrame:
    return pl.DataFrame(
        {"timestamp_ns": times_ns, "device": devices or [0] * len(times_ns)},
        schema_overrides={"device": pl.UInt32},
    )


S = 10**9


@pytest.mark.parametrize(
    ("times_ns", "duration_s", "doubt"),
    [
        ([5], 0, ""),
        ([0, S, 3 * S], 3, ""),
        ([0, S, 3 * S, 3 * S - 1000, 90 * S], 90, ""),  # completions overtake each other
        ([0, 90 * 86_400 * S], None, "times jump by 7.78e6 s at row 2"),
        ([0, S, 7201 * S, 7202 * S, 2 * S, 3 * S], None, "times jump by 7,200 s at row 3"),
        ([0, S, 2 * S, 0, S, 2 * S], None, "times jump back by 2 s at row 4"),
        ([7 * S] * 5, None, "all 5 requests have the time 7 s: the duration is unknown"),
        ([0] * 5, None, "all 5 requests have the time 0 s"),
        ([at * 100 for at in range(1001)], None, "1,001 requests would come within 0.0001 s"),
        ([at * S for at in range(0, 10**9, 2_000_000)], None, "unit is doubtful"),
        ([at * 7919 % 101 for at in range(101)], None, "times run backwards"),
        ([-(2**63), 2**63 - 1], None, "times jump by"),
    ],
)
def test_a_duration_that_the_times_do_not_support_is_unknown_with_its_reason(
    times_ns: list[int], duration_s: float | None, doubt: str
) -> None:
    found = clock_of(frame(times_ns))
    assert found.duration_s == duration_s
    assert doubt in " ".join(found.doubts)
    assert bool(doubt) == bool(found.doubts)


def test_a_file_sorted_by_device_has_a_duration() -> None:
    sorted_by_device = frame([0, S, 2 * S, 0, S, 2 * S], [0, 0, 0, 1, 1, 1])
    assert clock_of(sorted_by_device).duration_s == 2
    interleaved = frame([0, S, 2 * S, 3 * S, 0, 4 * S], [0, 1, 0, 1, 0, 1])
    assert "jump back by 2 s at row 5" in clock_of(interleaved).doubts[0]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0"), (0.02134, "0.0213"), (7200, "7,200"), (1_266_874_889.67, "1.27e9"), (3e-7, "3e-7")],
)
def test_seconds_are_short_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


def info_of(path: Path) -> str:
    done = run("trace info", f"'{path}'")
    assert done.status == 0
    lines = [line.removeprefix("writeamp: ") for line in done.err.splitlines()]
    warnings = [line for line in lines if line.startswith("warning: ")]
    in_json = document("trace info", f"'{path}'")["warnings"]
    assert [f"warning: {one}" for one in in_json] == warnings
    return "\n".join(warnings)


@pytest.mark.parametrize(
    ("cpus", "asked", "missing"),
    [
        ([0, 1, 2], 1, []),
        ([0, 2], 0, [1]),
        ([3], 3, [0, 1, 2]),
        ([0, 1, 40], 40, range(2, 10)),
    ],
)
def test_files_of_cpus_that_are_missing_are_named(
    tmp_path: Path, cpus: list[int], asked: int, missing: list[int]
) -> None:
    for cpu in cpus:
        content = record(cpu, WRITE_Q, cpu=cpu) + record(cpu + 9, WRITE_C, cpu=cpu)
        (tmp_path / f"sda.blktrace.{cpu}").write_bytes(content)
    (tmp_path / "sdb.blktrace.60").write_bytes(record(1, WRITE_Q))
    warnings = info_of(tmp_path / f"sda.blktrace.{asked}")
    assert ("missing" in warnings) == bool(missing)
    assert all(f"sda.blktrace.{cpu}" in warnings for cpu in missing)
    assert ("and 30 more" in warnings) == (len(missing) == 8)


def test_an_empty_file_of_a_cpu_is_not_missing(tmp_path: Path) -> None:
    for cpu in (0, 2):
        (tmp_path / f"t.blktrace.{cpu}").write_bytes(record(5 + cpu, WRITE_Q) + record(9, WRITE_C))
    (tmp_path / "t.blktrace.1").touch()
    assert info_of(tmp_path / "t.blktrace.0") == ""


def test_gaps_in_sequence_numbers_and_one_renamed_file_are_missing_events(tmp_path: Path) -> None:
    rows = [record(at, WRITE_Q, cpu=3, sequence=at) for at in (4, 5, 9)]
    (tmp_path / "renamed").write_bytes(b"".join([*rows, record(10, WRITE_C, cpu=3, sequence=10)]))
    warnings = info_of(tmp_path / "renamed")
    assert "3 events of CPU 3 are missing, by their sequence numbers" in warnings
    assert "only the file of CPU 3 is given" in warnings


def test_events_that_cannot_be_all_are_doubted(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(record(1, WRITE_Q) + record(5, WRITE_D) + record(7, WRITE_D))
    rows = ("8,0 0 1 0.1 5 Q W 8 + 8 [x]", *["8,0 0 1 0.2 5 D W 8 + 8 [x]"] * 2)
    written(tmp_path, "\n".join([*rows, ""]))
    for name in ("binary", "trace.txt"):
        warnings = info_of(tmp_path / name)
        assert "no event has action C" in warnings
        assert "more requests were issued (2 D) than queued (1 Q)" in warnings
    summary = "Events (8,0): 3 entries", "Skips: 12 forward (1,234 - 9.1%)"
    written(tmp_path, "\n".join([*rows, *summary]))
    assert "1234 events were lost while recording" in info_of(tmp_path / "trace.txt")


def test_what_is_doubtful_comes_with_a_conversion_and_with_the_doctor(tmp_path: Path) -> None:
    path = CASES / "t02-leveldb-blkparse-C.txt"
    done = run("trace convert", f"{path} {tmp_path / 'out.parquet'} --action C")
    assert done.status == 0
    assert "times jump by 1.27e9 s" in " ".join(done.err.split())
    done = run("doctor", f"{path} --action C")
    assert "times jump by 1.27e9 s" in " ".join(done.out.split())


def test_what_is_doubtful_comes_with_a_simulation_too(tmp_path: Path) -> None:
    rows = [record(at, WRITE_Q, cpu=1, sequence=at) for at in range(1, 300)]
    path = tmp_path / "t.blktrace.1"
    path.write_bytes(b"".join(rows))
    done = run("simulate", f"--trace {path} --mapping as-is --blocks 64 --pages-per-block 16")
    assert "missing: t.blktrace.0" in done.out + done.err
