"""Processes and files of requests: the formats that have them, and their sums."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
import test_traces_tools as tools

import writeamp as wa
from in_process import run
from trace_files import WRITE_C, WRITE_D, WRITE_Q, read_as, record
from writeamp import traces

# The kernel's record of a process name, without an event.
NAME_OF_PROCESS = 1 << 26


def origins(trace: traces.Trace) -> list[tuple[object, ...]]:
    return trace.requests.select(trace.origins).rows()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8,0 1 2 0.1 77 Q WS 8 + 8 [a b]c]\n", ("a b]c", 77)),
        ("8,0    1        2     0.100000000    77  Q   W 8 + 8 [fio]\r\n", ("fio", 77)),
        # This is what `traces.write` writes for requests without a process.
        ("8,0 1 2 0.1 0 Q W 8 + 8 [writeamp]\n", (None, None)),
        ("3000 4892 syslogd 90 8 W 6 0 531e779b39068b76bbe6e4d7a9d6b5b0\n", ("syslogd", 4892)),
        ("3000 4892 a b 90 8 W 6 0 531e779b39068b76bbe6e4d7a9d6b5b0\n", ("a b", 4892)),
        (tools.BIOSNOOP_HEAD + "0.1 a b 12 sda W 8 4096 0.7\n", ("a b", 12)),
        (tools.BIOSNOOP_HEAD + "0.1 ? 0 sda W 8 4096 0.7\n", (None, 0)),
        ("  a b 1.5: x-42 [009] ..... 3.5: block_rq_issue: 8,0 W 4096 () 8 + 8 [ab]\n", ("ab", 42)),
        ("  fio-44  (  12) [001] 3.5: block_bio_queue: 8,0 WS 2048 + 8 [fio]\n", ("fio", 44)),
        ("tokio  77/81 [000] 3.5: block:block_rq_issue: 8,0 W 4096 () 8 + 8 [t]\n", ("t", 77)),
        ("dd  12 3.5:          1 block:block_rq_issue: 8,0 W 4096 () 8 + 8 [dd]\n", ("dd", 12)),
        ("DiskWrite, 86, a, b (x).exe (39), 8, 0xfa, 0x100000, 0x1000, 2, 2, 0x06, 2, 3, "
         'Original, 0xfffff, "C:\\a, b.txt"\r\n', ("a, b (x).exe", 39, "C:\\a, b.txt")),
        (" DiskWrite, 36, 37, 9, 9, 0x1000, 0x100000, 3, 0, 0, 0, 0, 0, System (   4), 2, "
         "C:\\k (2), 9, .etl\n", ("System", 4, "C:\\k (2), 9, .etl")),
        (" DiskWrite, 36, 37, 9, 9, 0x1000, 0x100000, 3, 0, 0, 0, 0, 0, System (4), 2, Unknown\n",
         ("System", 4, None)),
        ("DiskWrite, 86, System ( 4), 8, 0xfa80, 0x100000, 0x1000, 283, 2\n", ("System", 4, None)),
    ],
)  # fmt: skip
def test_the_origin_of_a_request_is_read_from_the_formats_that_have_it(
    tmp_path: Path, text: str, expected: tuple[object, ...]
) -> None:
    trace = read_as(tmp_path, text, origins=True)
    assert trace.origins == list(traces.ORIGINS)[: len(expected)]
    assert origins(trace) == [expected]
    assert read_as(tmp_path, text).origins == []


def test_origins_stay_with_their_requests_over_left_out_lines_and_blocks(tmp_path: Path) -> None:
    lines = [
        f"  p{at % 7}-{at} [0] 1.{at:06}: block_{name}: 8,0 W {'' if 'bio' in name else '4096 () '}"
        f"{at * 8} + 8 [p{at % 7}]\n"
        for at in range(20_000)
        for name in ("bio_queue", "rq_issue")
    ]
    trace = read_as(tmp_path, "".join(lines), "ftrace", action="D", origins=True)
    numbers = (trace.requests["offset"] // 4096).to_list()
    assert origins(trace) == [(f"p{at % 7}", at) for at in numbers]
    assert numbers == list(range(20_000))


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("8,0 1 2 0.1 77 C WS 8 + 8 [0]\n", "C"),
        ("  fio-9 [000] 1.5: block_rq_complete: 8,0 W () 8 + 8 [0]\n", None),
        (record(50, WRITE_C), "C"),
    ],
)
def test_a_completion_has_no_origin_because_it_interrupts_any_process(
    tmp_path: Path, text: str | bytes, action: str | None
) -> None:
    assert read_as(tmp_path, text, action=action, origins=True).origins == []


@pytest.mark.parametrize("order", ["<", ">"])
def test_blktrace_names_processes_by_the_records_of_their_names(tmp_path: Path, order: str) -> None:
    content = (
        record(40, NAME_OF_PROCESS, order=order, data=b"fio\0\0\0\0\0\0\0\0\0\0\0\0\0")
        + record(50, WRITE_Q, order=order)
        + record(60, WRITE_D, order=order, data=b"12345678")
    )
    assert origins(read_as(tmp_path, content, origins=True)) == [("fio", 9)]
    assert origins(read_as(tmp_path, content[64:], action="D", origins=True)) == [(None, 9)]


FRAME = pl.DataFrame(
    {
        "timestamp_ns": [1, 2, 3, 4],
        "device": [0, 0, 0, 0],
        "op": ["write", "write", "read", "write"],
        "offset": [0, 8192, 0, 4096],
        "length": [4096, 8192, 65536, 4096],
        "process": ["a", "b", "r", None],
        "pid": [1, 2, 3, None],
        "file": ["x/y", None, "x/y", "[journal]"],
    }
)


def test_parquet_has_the_columns_and_conversion_keeps_them(tmp_path: Path) -> None:
    trace = wa.traces.of(FRAME)
    assert trace.notes == []
    assert trace.requests["process"].dtype == pl.Categorical
    path, copy = tmp_path / "t.parquet", tmp_path / "u.parquet"
    assert traces.write(trace, path) == []
    assert pl.read_parquet(path).schema["file"] == pl.String
    assert traces.read(path).requests.equals(trace.requests)
    assert traces.read(path, origins=False).requests.columns == list(traces.SCHEMA)
    assert run("trace convert", f"{path} {copy}").status == 0
    assert pl.read_parquet(copy).equals(pl.read_parquet(path))
    notes = traces.write(traces.read(path), tmp_path / "t.csv", "msr")
    assert "process, pid, file of the requests are not written; only parquet holds them" in notes


def test_columns_of_other_types_are_names_if_numbers_and_else_ignored(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    frame = FRAME.with_columns(file=pl.lit(7), pid=pl.lit(2.5), process=pl.lit(None))
    frame.write_parquet(path)
    trace = traces.read(path)
    assert trace.origins == ["process", "file"]
    assert set(origins(trace)) == {(None, "7")}
    assert "the column pid is ignored, because it is Float64; valid is UInt32" in trace.notes
    with pytest.raises(wa.WriteampError, match="need the columns"):
        traces.Trace(trace.requests.with_columns(pid=pl.lit("x")), "memory", "t", ["0"])


def test_info_has_written_bytes_by_name_and_the_share_without_a_name(tmp_path: Path) -> None:
    info = wa.traces.info(FRAME)
    assert info["written_by_process"] == [
        {"process": "b", "bytes_written": 8192, "share": 0.5},
        {"process": "a", "bytes_written": 4096, "share": 0.25},
    ]
    assert info["process_unknown_share"] == 0.25
    assert info["written_by_file"][0]["file"] == "[journal]"
    assert info["file_unknown_share"] == 0.5
    assert not [key for key in wa.traces.info(FRAME.drop("process", "file")) if "written_by" in key]
    many = pl.DataFrame({"page": range(12), "process": [f"p{at}" for at in range(12)]})
    assert len(wa.traces.info(many)["written_by_process"]) == 10
    FRAME.write_parquet(tmp_path / "t.parquet")
    printed = run("trace info", f"{tmp_path}/t.parquet")
    assert printed.status == 0
    assert "Written bytes by file" in printed.out
    assert "50.0% of the written bytes have no file" in printed.out


STATED = "columns:offset=3:bytes,length=4KiB,op=write,process=2,file=5,only=1:D,skip=1"


def test_stated_columns_name_the_origins_in_text_and_tables(tmp_path: Path) -> None:
    text = "?\nD, a b ,0,x,f\nQ,c,0,x,f\n\nD,,4096,x\n"
    trace = read_as(tmp_path, text, STATED)
    assert (trace.format, trace.origins) == (STATED, ["process", "file"])
    assert origins(trace) == [("a b", "f"), (None, None)]
    assert read_as(tmp_path, text, STATED, origins=False).origins == []
    named = "columns:offset=o:bytes,length=4KiB,op=write,process=who,pid=number,only=is:D"
    assert origins(read_as(tmp_path, "o,is,who,number\n0,D,a,7\n", named)) == [("a", 7)]
    frame = pl.DataFrame({"o": [0, 0, 0], "is": ["D", "Q", "D"], "who": ["a", "b", ""]})
    table = wa.traces.of(frame.with_columns(number=pl.Series([1, 2, 3])), named)
    assert origins(table) == [("a", 1), (None, 3)]


def test_batches_in_memory_may_lack_the_columns() -> None:
    trace = wa.traces.of(iter([FRAME, FRAME.drop("process", "pid", "file")]))
    assert origins(trace) == [*FRAME.select(*traces.ORIGINS).rows(), *4 * [(None, None, None)]]


def test_origins_do_not_change_the_identity_of_a_run() -> None:
    frame = FRAME.drop("process")
    first, second = (wa.traces.of(data) for data in (FRAME, frame))
    settings = {"op": 0.5, "blocks": 16, "pages_per_block": 4, "writes": 4, "warmup": 0}
    assert wa.simulate(trace=first, **settings) == wa.simulate(trace=second, **settings)
