"""Any text trace is read with its columns and units stated, and nothing guessed."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
import writeamp as wa
from in_process import run
from places import TINY
from writeamp import traces
from writeamp.errors import WriteampError
from writeamp.traces.columns import parse_columns

BYTES = "columns:time=1:ms,device=2,offset=3:bytes,length=4:bytes,op=5:0=read/1=write"
NO_TIME = "columns:offset=1:bytes,length=2:bytes,op=3:R=read/W=write"


def read_text(tmp_path: Path, text: str, columns: str) -> traces.Trace:
    path = tmp_path / "trace.txt"
    path.write_bytes(text.encode())
    return traces.read(path, columns)


def requests(tmp_path: Path, text: str, columns: str) -> list[tuple[object, ...]]:
    return read_text(tmp_path, text, columns).requests.rows()


def test_a_five_column_cut_in_bytes_reads_as_the_trace_that_it_was_cut_from(tmp_path: Path) -> None:
    whole = traces.read(TINY / "tiny.spc")
    cut = "0,0,4096,8192,1\n0.01,0,512,1024,0\n1e3,1,4096,4096,1\n"
    assert read_text(tmp_path, cut, BYTES).requests.equals(whole.requests)


@pytest.mark.parametrize(
    ("unit", "text", "nanoseconds"),
    [
        ("s", "1.000000001", 1_000_000_001),
        ("ms", "1.23457e+06", 1_234_570_000_000),
        ("us", "2.5", 2_500),
        ("ns", "1577808144360767123", 1_577_808_144_360_767_123),
        ("100ns", "7", 700),
        ("filetime", "128166372003061629", 1_172_163_600_306_162_900),
    ],
)
def test_times_of_every_unit_are_exact_to_the_nanosecond(
    tmp_path: Path, unit: str, text: str, nanoseconds: int
) -> None:
    columns = f"columns:time=1:{unit},offset=2:bytes,length=3:bytes,op=write"
    assert requests(tmp_path, f"{text},0,512\n", columns) == [(nanoseconds, 0, "write", 0, 512)]
    # A blank within a field makes the slow, exact parser read it.
    assert requests(tmp_path, f" {text} ,0,512\n", columns)[0][0] == nanoseconds


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ("offset=2:sectors,length=3:sectors,op=1:W=write", "W,8,16\n"),
        ("offset=2:4KiB,length=3:4k,op=1:W=write", "W,1,2\n"),
        ("offset=2:4096B,length=8KiB,op=write", "x,1\n"),
        ("offset=lba:sectors,length=n:sectors,op=kind:W=write", "kind,lba,who,n\nW,8,,16\n"),
        ("offset=2:bytes,length=1:bytes,op=write,header=yes", "n,o\n8192,4096\n"),
        ("offset=2:bytes,length=1:bytes,op=write,skip=2", "by\nhand\n8192,4096\n"),
        ("offset=2:bytes,length=1:bytes,op=write,comment=#", "# 1\n8192,4096\n\n #end\n"),
        ("offset=o:bytes,length=n:bytes,op=write,comment=//,skip=1", "a\n//b\nn,o\n8192,4096\n"),
        ("offset=2:bytes,length=1:bytes,op=write,separator=tab", "8192\t4096\ta name\n"),
        ("offset=3:bytes,length=1:bytes,op=write,separator=tab", "8192\t\t4096\n"),
        ("offset=3:bytes,length=1:bytes,op=write,separator=space", " 8192 \t x  4096\r\n"),
        ("offset=2:bytes,length=1:bytes,op=write,separator=pipe", "8192|4096\n"),
        ("offset=2:bytes,length=1:bytes,op=write,separator=semicolon", "8192;4096;\n"),
        ("offset=2:bytes,length=1:bytes,op=write,separator=!", "8192!4096!!\n"),
    ],
)
def test_units_names_separators_and_lines_that_are_no_rows(
    tmp_path: Path, columns: str, text: str
) -> None:
    assert requests(tmp_path, text, f"columns:{columns}") == [(0, 0, "write", 4096, 8192)]


def test_columns_that_are_not_named_may_be_empty_or_missing_at_the_end(tmp_path: Path) -> None:
    text = "0,,512,W\n512,x,512,W,more\n"
    columns = "columns:offset=1:bytes,length=3:bytes,op=4:W=write"
    assert [row[3] for row in requests(tmp_path, text, columns)] == [0, 512]


def test_every_operation_has_words_and_a_flush_touches_nothing(tmp_path: Path) -> None:
    columns = "columns:offset=1:bytes,length=2:bytes,op=3:r=read/w=write/W=write/d=trim/f=flush"
    text = "0,8,r\n0,8,w\n0,8,W\n0,8,d\n9,8,f\n"
    found = read_text(tmp_path, text, columns).requests
    assert found["op"].to_list() == ["read", "write", "write", "trim", "flush"]
    assert found.row(4)[3:] == (0, 0)


def test_rows_after_a_header_keep_their_line_numbers_across_blocks(tmp_path: Path) -> None:
    rows = 500_000  # several blocks
    text = "# made by hand\no,n,k\n" + "4096,512,W\n" * rows + "4096,512,X\n"
    columns = "columns:offset=o:bytes,length=n:bytes,op=k:W=write,comment=#"
    with pytest.raises(WriteampError, match=rf"trace\.txt:{rows + 3}: op is 'X', valid are W"):
        read_text(tmp_path, text, columns)


@pytest.mark.parametrize(
    ("columns", "row", "words"),
    [
        (NO_TIME, "0,512", "the row has 2 columns"),
        (NO_TIME, "0,512,r", "op is 'r', valid are R (read), W (write)"),
        (NO_TIME, "0,512,", "op is missing"),
        (NO_TIME, "1.5,512,W", "offset is '1.5', valid is a whole number"),
        (NO_TIME, "0,-512,W", "length is '-512'"),
        (NO_TIME, "0,4294967296,W", "at most 4294967295 bytes"),
        (BYTES, "noon,0,0,512,1", "time is 'noon', valid is a decimal number"),
        (BYTES, "-1,0,0,512,1", "time '-1' is out of range"),
        (BYTES, "1,,0,512,1", "device is missing"),
        (
            "columns:time=1:filetime,offset=2:bytes,length=3:bytes,op=write",
            "5,0,512",
            "since 1601",
        ),
        ("columns:offset=1:4KiB,length=2:bytes,op=3:{=write", "0,0,}", "valid are { (write)"),
        ("columns:offset=1:4KiB,length=4KiB,op=write", "9223372036854775807", "units of 4096"),
    ],
)
def test_a_row_that_does_not_fit_names_its_line_and_what_is_valid(
    tmp_path: Path, columns: str, row: str, words: str
) -> None:
    with pytest.raises(WriteampError) as error:
        read_text(tmp_path, row + "\n", columns)
    assert str(error.value).startswith(f"{tmp_path / 'trace.txt'}:1: ")
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("columns", "offset, length, op are missing"),
        ("columns:", "needed are offset=COLUMN:UNIT"),
        ("columns:offset=3", "offset=3 does not say its unit"),
        ("columns:offset=3:bytes", "length, op are missing"),
        ("columns:offset=3:bytes,length=4:bytes", "op is missing"),
        ("columns:offset=3:blocks,length=4:bytes,op=write", "has the unit 'blocks'"),
        ("columns:offset=3:4096,length=4:bytes,op=write", "has the unit '4096'"),
        ("columns:offset=3:bytes,length=8,op=write", "length=8 does not say its unit"),
        ("columns:offset=3:bytes,length=many,op=write", "or a size that all rows have"),
        ("columns:time=1,offset=3:bytes,length=4:bytes,op=write", "time=1 does not say its unit"),
        ("columns:time=1:h,offset=3:bytes,length=4:bytes,op=write", "ms (milliseconds)"),
        ("columns:offset=0:bytes,length=4:bytes,op=write", "columns count from 1"),
        ("columns:offset=-1:bytes,length=4:bytes,op=write", "columns count from 1"),
        ("columns:offset=3:bytes,length=99999:bytes,op=write", "columns count from 1"),
        ("columns:offset=3:bytes,length=3:bytes,op=write", "are both column 3"),
        ("columns:offset=3:bytes,offset=4:bytes", "offset is given twice"),
        ("columns:ofset=3:bytes", "did you mean 'offset'?"),
        ("columns:offset", "offset has no value"),
        ("columns:offset=1:bytes,length=2:bytes,op=3", "op=3 does not say what its words mean"),
        ("columns:offset=1:bytes,length=2:bytes,op=3:0=erase", "'0=erase'; valid is such as op="),
        ("columns:offset=1:bytes,length=2:bytes,op=3:0=read/0=write", "'0' twice"),
        ("columns:offset=1:bytes,length=2:bytes,op=write,separator=ab", "separator is 'ab'"),
        ("columns:offset=1:bytes,length=2:bytes,op=write,skip=-1", "skip is '-1'"),
        ("columns:offset=1:bytes,length=2:bytes,op=write,header=si", "header is 'si'"),
        ("columns:offset=o:bytes,length=2:bytes,op=write,header=no", "header=no says are none"),
    ],
)
def test_what_is_not_stated_or_not_valid_is_one_sentence(
    tmp_path: Path, columns: str, words: str
) -> None:
    with pytest.raises(WriteampError) as error:
        read_text(tmp_path, "1,2,3\n", columns)
    assert str(error.value).startswith("columns: ")
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("o,n", r"trace\.txt:1: unknown column 'k'; valid: o, n"),
        ("o,k,k", r"2 columns are named 'k'; give its number"),
        ("\n", "no header line"),
    ],
)
def test_a_name_that_the_header_lacks_is_refused_with_those_it_has(
    tmp_path: Path, header: str, words: str
) -> None:
    with pytest.raises(WriteampError, match=words):
        read_text(tmp_path, header + "\n", "columns:offset=o:bytes,length=4k,op=k:W=write")


def test_a_column_that_is_named_and_numbered_is_refused_as_two(tmp_path: Path) -> None:
    stated = "columns:offset=off:bytes,length=1:bytes,op=write"
    words = r"txt:1: offset and length are both column 1 \('off'\), each has its own"
    with pytest.raises(WriteampError, match=words):
        read_text(tmp_path, "off,len\n0,4096\n", stated)
    with pytest.raises(WriteampError, match="offset and length are both column 1"):
        traces.of(pl.DataFrame({"off": [0], "len": [4096]}), stated)


def test_a_trace_tells_its_columns_in_one_spelling(tmp_path: Path) -> None:
    asked = "columns: op=write ,separator=;, length=4KiB,offset=2:bytes,header=yes,skip=0"
    text = "columns:offset=2:bytes,length=4KiB,op=write,separator=semicolon,header=yes"
    assert parse_columns(asked).text == text
    assert parse_columns(text).text == text
    assert read_text(tmp_path, "a;b\n1;2\n", asked).format == text


def test_traces_are_not_written_in_stated_columns(tmp_path: Path) -> None:
    trace = read_text(tmp_path, "0,512,W\n", NO_TIME)
    with pytest.raises(WriteampError, match="not written as columns; choose another"):
        traces.write(trace, tmp_path / "out.csv", NO_TIME)
    assert not (tmp_path / "out.csv").exists()


def test_the_command_and_the_library_read_stated_columns_alike(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("".join(f"{i},0,{i * 7 % 640 * 4096},4096,1\n" for i in range(2000)))
    reading = f"--format '{BYTES}'"
    small = "--blocks 64 --pages-per-block 16 --op 0.1"
    ended = run("simulate", f"--trace {path} {reading} {small} --json")
    result = wa.simulate(trace=path, trace_format=BYTES, blocks=64, pages_per_block=16, op=0.1)
    assert json.loads(ended.out)["wa"] == result.wa
    assert json.loads(run("trace info", f"{path} {reading} --json").out)["writes"] == 2000
    out = tmp_path / "t.parquet"
    assert run("trace convert", f"{path} {out} --from '{BYTES}'").status == 0
    assert traces.read(out).requests.equals(traces.read(path, BYTES).requests)
