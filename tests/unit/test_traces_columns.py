"""Any text trace is read with its columns and units stated, and nothing guessed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

import writeamp as wa
from in_process import run
from places import TINY
from refusals import refusal
from trace_files import CASES, read_as
from writeamp import traces
from writeamp.errors import WriteampError
from writeamp.traces.columns import parse_columns
from writeamp.traces.format import ReadOptions
from writeamp.traces.reading import read_pieces
from writeamp.traces.registry import find_format

BYTES = "columns:time=1:ms,device=2,offset=3:bytes,length=4:bytes,op=5:0=read/1=write"
NO_TIME = "columns:offset=1:bytes,length=2:bytes,op=3:R=read/W=write"


# Columns of many cases, alone and with a date.
TWO = "offset=1:bytes,length=2:bytes,op=write"
PLAIN = f"columns:{TWO}"
DATED = f"columns:time=3:datetime,{TWO}"


def requests(tmp_path: Path, text: str, columns: str) -> list[tuple[object, ...]]:
    return read_as(tmp_path, text, columns).requests.rows()


def test_a_five_column_cut_in_bytes_reads_as_the_trace_that_it_was_cut_from(tmp_path: Path) -> None:
    whole = traces.read(TINY / "tiny.spc")
    cut = "0,0,4096,8192,1\n0.01,0,512,1024,0\n1e3,1,4096,4096,1\n"
    assert read_as(tmp_path, cut, BYTES).requests.equals(whole.requests)


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
    found = read_as(tmp_path, text, columns).requests
    assert found["op"].to_list() == ["read", "write", "write", "trim", "flush"]
    assert found.row(4)[3:] == (0, 0)


def test_rows_after_a_header_keep_their_line_numbers_across_blocks(tmp_path: Path) -> None:
    rows = 500_000  # several blocks
    text = "# made by hand\no,n,k\n" + "4096,512,W\n" * rows + "4096,512,X\n"
    columns = "columns:offset=o:bytes,length=n:bytes,op=k:W=write,comment=#"
    with pytest.raises(WriteampError, match=rf"trace\.txt:{rows + 3}: op is 'X', valid are W"):
        read_as(tmp_path, text, columns)


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
        ("columns:time=1:filetime,offset=2:bytes,length=3:bytes,op=write", "5,0,512", "since 1601"),
        ("columns:offset=1:4KiB,length=2:bytes,op=3:{=write", "0,0,}", "valid are { (write)"),
        ("columns:offset=1:4KiB,length=4KiB,op=write", "9223372036854775807", "units of 4096"),
        (
            "columns:offset=1:hex-bytes,length=2:bytes,op=write",
            "0xg,1",
            ":1: offset is '0xg', valid is a hex",
        ),
        (
            "columns:offset=1:hex-bytes,length=2:bytes,op=write",
            "1" * 17 + ",1",
            "at most 16 digits",
        ),
        ("columns:offset=1:hex-bytes,length=2:bytes,op=write", "-1,1", "offset is '-1'"),
        ("columns:offset=1:hex-bytes,length=2:bytes,op=write", "f" * 16 + ",1", "is too large"),
        (PLAIN, "ff,1", "offset is 'ff', valid is a whole"),
        (PLAIN, "0x,1", "offset is '0x'"),
        (PLAIN, "4096.5,1", "offset is '4096.5'"),
        (PLAIN, "1.6e4,1", "offset is '1.6e4'"),
        (f"columns:time=3:s,{TWO}", "1,1,12::", "time is '12::'"),
        (DATED, "1,1,1.5", "valid is a date"),
        (DATED, "1,1,2021-02-30 1:00", "2021-02"),
        (DATED, "1,1,03/08/2021 1:00", "2021-03"),
        (DATED, "1,1,2021-02-03 1:00 PDT", "Z or"),
        (DATED, "1,1,1969-02-03 1:00", "from 1970"),
        (DATED, "1,1,2300-02-03 1:00", "to 2262"),
        (
            "columns:date=2,time=3:datetime,offset=1:bytes,length=4k,op=write",
            "1,x,1:00",
            "date is 'x' and",
        ),
    ],
)
def test_a_row_that_does_not_fit_names_its_line_and_what_is_valid(
    tmp_path: Path, columns: str, row: str, words: str
) -> None:
    sentence = refusal(read_as, tmp_path, row + "\n", columns)
    assert sentence.startswith(f"{tmp_path / 'trace.txt'}:1: ")
    assert words in sentence


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("columns", "offset, length, op are missing"),
        ("columns:", "needed are offset=COLUMN:UNIT"),
        ("columns:offset=3", "offset=3 has no unit"),
        ("columns:offset=3:bytes", "length, op are missing"),
        ("columns:offset=3:bytes,length=4:bytes", "op is missing"),
        ("columns:offset=3:blocks,length=4:bytes,op=write", "has the unit 'blocks'"),
        ("columns:offset=3:4096,length=4:bytes,op=write", "has the unit '4096'"),
        ("columns:offset=3:bytes,length=8,op=write", "length=8 has no unit"),
        ("columns:offset=3:bytes,length=many,op=write", "or one size for all rows"),
        ("columns:time=1,offset=3:bytes,length=4:bytes,op=write", "time=1 has no unit"),
        ("columns:time=1:h,offset=3:bytes,length=4:bytes,op=write", "ms (milliseconds)"),
        ("columns:offset=0:bytes,length=4:bytes,op=write", "columns are numbered from 1"),
        ("columns:offset=-1:bytes,length=4:bytes,op=write", "columns are numbered from 1"),
        ("columns:offset=3:bytes,length=99999:bytes,op=write", "columns are numbered from 1"),
        ("columns:offset=3:bytes,length=3:bytes,op=write", "are both column 3"),
        ("columns:offset=3:bytes,offset=4:bytes", "offset is given twice"),
        ("columns:ofset=3:bytes", "did you mean 'offset'?"),
        ("columns:offset", "offset has no value"),
        ("columns:offset=1:bytes,length=2:bytes,op=3", "op=3 does not define its words"),
        (
            "columns:offset=1:bytes,length=2:bytes,op=3:0=erase",
            "'0=erase'; valid is, for example, op=",
        ),
        ("columns:offset=1:bytes,length=2:bytes,op=3:0=read/0=write", "'0' twice"),
        ("columns:offset=1:bytes,length=2:bytes,op=write,separator=ab", "separator is 'ab'"),
        ("columns:offset=1:bytes,length=2:bytes,op=write,skip=-1", "skip is '-1'"),
        ("columns:offset=1:bytes,length=2:bytes,op=write,header=si", "header is 'si'"),
        (
            "columns:offset=o:bytes,length=2:bytes,op=write,header=no",
            "header=no excludes column names",
        ),
        ("columns:date=2,time=3:s,offset=1:bytes,length=4k,op=write", "needs the time of day"),
        ("columns:date=2,offset=1:bytes,length=4k,op=write", "date=2 needs the time of day"),
        ("columns:offset=1:hex,length=4k,op=write", "has the unit 'hex'"),
        ("columns:offset=1:hex-7,length=4k,op=write", "has the unit 'hex-7'"),
        (
            "columns:offset=1:bytes,length=4k,op=write,only=4",
            "only=4 does not select rows",
        ),
        ("columns:offset=1:bytes,length=4k,op=write,only=0:C", "only is column '0'"),
    ],
)
def test_what_is_not_stated_or_not_valid_is_one_sentence(
    tmp_path: Path, columns: str, words: str
) -> None:
    sentence = refusal(read_as, tmp_path, "1,2,3\n", columns)
    assert sentence.startswith("columns: ")
    assert words in sentence


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
        read_as(tmp_path, header + "\n", "columns:offset=o:bytes,length=4k,op=k:W=write")


def test_a_column_that_is_named_and_numbered_is_refused_as_two(tmp_path: Path) -> None:
    stated = "columns:offset=off:bytes,length=1:bytes,op=write"
    words = r"txt:1: offset and length are both column 1 \('off'\); each needs its own"
    with pytest.raises(WriteampError, match=words):
        read_as(tmp_path, "off,len\n0,4096\n", stated)
    with pytest.raises(WriteampError, match="offset and length are both column 1"):
        traces.of(pl.DataFrame({"off": [0], "len": [4096]}), stated)


def test_a_trace_tells_its_columns_in_one_spelling(tmp_path: Path) -> None:
    asked = "columns: op=write ,separator=;, length=4KiB,offset=2:bytes,header=yes,skip=0"
    text = "columns:offset=2:bytes,length=4KiB,op=write,separator=semicolon,header=yes"
    assert parse_columns(asked).text == text
    assert parse_columns(text).text == text
    assert read_as(tmp_path, "a;b\n1;2\n", asked).format == text


def test_traces_are_not_written_in_stated_columns(tmp_path: Path) -> None:
    trace = read_as(tmp_path, "0,512,W\n", NO_TIME)
    with pytest.raises(WriteampError, match="cannot be written as columns; choose another"):
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


BLKPARSE_F = "columns:time=1:s,offset=5:sectors,length=6:sectors,op=write"
FOURS = "columns:offset=2:bytes,length=4k,op=write"


@pytest.mark.parametrize(
    ("case", "columns", "first", "writes", "bytes_written"),
    [
        (
            "t02-leveldb-parsed.csv",
            "columns:offset=BLOCK:sectors,length=NUM:sectors,op=RD:WS=write,only=EVENT:Q",
            (0, "write", 20608 * 512, 512),
            59,
            59 * 512,
        ),
        (
            "t05-diskmon.txt",
            "columns:time=2:s,device=4,offset=6:sectors,length=7:sectors,"
            "op=5:Read=read/Write=write,separator=tab",
            (188_375_000, "read", 20496351 * 512, 4096),
            1051,
            35_819_520,
        ),
        (
            "t09-iotracer-ds.csv",
            "columns:time=timestamp:datetime,offset=sector:sectors,length=size:bytes,"
            "op=operation:write=write/read=read/flush=flush",
            (1_705_314_645_123_456_000, "write", 2048000 * 512, 8192),
            1,
            8192,
        ),
        (
            "t11-fio-lat.log",
            "columns:time=1:ms,offset=5:bytes,length=4:bytes,op=3:0=read/1=write/2=trim",
            (0, "read", 0, 4096),
            2,
            8192,
        ),
        (
            "t12-biotracer.txt",
            "columns:time=5:s,offset=1:sectors,length=3:bytes,"
            "op=4:0=read/1=write/4=read/5=write,separator=space",
            (1_402_101_234_000, "write", 1155088 * 512, 4096),
            1,
            4096,
        ),
        ("t13-blkparse-f.txt", f"{BLKPARSE_F},only=4:C", (0, "write", 123456 * 512, 4096), 2, 8192),
    ],
)
def test_a_public_table_of_no_format_reads_right_with_the_spec_of_the_docs(
    case: str, columns: str, first: tuple[object, ...], writes: int, bytes_written: int
) -> None:
    found = traces.read(CASES / case, columns).requests
    written = found.filter(pl.col("op") == "write")
    assert (found.row(0)[0], *found.row(0)[2:]) == first
    assert (written.height, int(written["length"].sum())) == (writes, bytes_written)


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ("offset=1:hex-bytes,length=2:hex-sectors,op=write", "0x2000,8\n"),
        ("offset=1:hex-sectors,length=2:bytes,op=write", "10,4096\n"),
        ("offset=1:hex-4KiB,length=2:hex-bytes,op=write", "0X2, 0x00001000\n"),
        (TWO, "0x2000,4096\n"),
        (TWO, "8192,4096,sync\n"),
        ("offset=1:bytes,length=2:sectors,op=write", "8192.0,8.00\n"),
        (TWO, "0x2000,4096\n8192,0x1000\n"),
        ("offset=3:bytes,length=4:bytes,op=write,only=2:C", "a,Q\nx,C,8192,4096\n"),
        ("offset=3:bytes,length=4:bytes,op=2:W=write,only=2:W/D", "x,W,8192,4096\nz,R,,\n"),
        ("offset=o:bytes,length=n:bytes,op=write,only=k:C D/C", "k,o,n\n C D ,8192,4096\nQ,1\n"),
        (
            "offset=3:bytes,length=4:bytes,op=write,only=2:C,separator=space",
            " x  C 8192\t4096\nZ\n",
        ),
        ("offset=3:bytes,length=4:bytes,op=write,only=2:C,separator=tab", "x\tC\t8192\t4096\nC\n"),
    ],
)
def test_hexadecimal_numbers_and_rows_to_pass_over(tmp_path: Path, columns: str, text: str) -> None:
    found = set(requests(tmp_path, text, f"columns:{columns}"))
    assert found == {(0, 0, "write", 8192, 4096)}


@pytest.mark.parametrize(
    ("columns", "time", "nanoseconds"),
    [
        ("time=1:s", "343996.918805:", 343_996_918_805_000),
        ("time=1:ms", "1e3:", 10**9),
        ("time=1:ns", "12:", 12),
        ("time=1:datetime", "2021-03-08 10:00:00.123", 1_615_197_600_123_000_000),
        ("time=1:datetime", "2021-03-08T10:00:00Z", 1_615_197_600_000_000_000),
        ("time=1:datetime", "2021/3/8 10:00", 1_615_197_600_000_000_000),
        ("time=1:datetime", "2021-03-08T12:00:00.123456789+02:00", 1_615_197_600_123_456_789),
        ("time=1:datetime", "2021-03-08 04:30:00 -0530", 1_615_197_600_000_000_000),
        ("time=1:datetime", "2021-03-08 10:00:00 UTC", 1_615_197_600_000_000_000),
        ("time=1:datetime", "1970-01-01T00:00:00.000000001", 1),
        ("time=1:datetime", "2262-04-11 23:47:16.854775807", 2**63 - 1),
        ("date=4,time=1:datetime", "10:00:00.123", 1_615_197_600_123_000_000),
    ],
)
@pytest.mark.parametrize("other", ["", "0.5:,512,512,2021-03-08\n", " "])
def test_times_with_a_colon_and_dates_with_times(
    tmp_path: Path, columns: str, time: str, nanoseconds: int, other: str
) -> None:
    text = f"{time}{' ' if other else ''},0,512,2021-03-08\n"
    spec = f"columns:{columns},offset=2:bytes,length=3:bytes,op=write"
    assert requests(tmp_path, text, spec) == [(nanoseconds, 0, "write", 0, 512)]
    if columns == "time=1:s":
        assert len(requests(tmp_path, text + "0.5:,512,512\n1.5,0,512\n", spec)) == 3


def test_a_date_and_a_time_in_columns_of_their_own_where_blanks_separate(tmp_path: Path) -> None:
    text = "Date Time Op Lba N\n2021-03-08 10:00:00.5 W 16 8\n"
    spec = "columns:date=Date,time=Time:datetime,offset=Lba:sectors,length=N:sectors,op=Op:W=write"
    found = requests(tmp_path, text, f"{spec},separator=space")
    assert found == [(1_615_197_600_500_000_000, 0, "write", 8192, 4096)]


def test_rows_passed_over_are_counted_and_keep_the_numbers_of_lines(tmp_path: Path) -> None:
    text = "# a\nn,k\n" + "1,Q\n1,C\n" * 300_000  # several blocks
    spec = "columns:offset=n:4k,length=4k,op=write,only=k:C,comment=#"
    trace = read_as(tmp_path, text, spec)
    assert trace.requests.height == 300_000
    assert "300000 rows without 'C' in column k are skipped" in trace.notes
    assert parse_columns(spec).text == trace.format
    with pytest.raises(WriteampError, match=r"trace.txt:600004: offset is 'x'"):
        read_as(tmp_path, text + "y,Q\nx,C\n", spec)
    for column in (3, 5):
        refused = refusal(read_as, tmp_path, "1,1,Q\n", f"{PLAIN},only={column}:C")
        assert f"no row has 'C' in column {column}" in refused


@pytest.mark.parametrize(
    ("columns", "rows", "words"),
    [
        (
            BLKPARSE_F,
            "0.1,1,fio,C,8,8\n0.2,1,fio,Q,16,8\n",
            "column 4 holds C, Q, stages of a requ",
        ),
        (
            "columns:offset=3:bytes,length=4k,op=1:W=write",
            "W,block_rq_issue:,0\nW,block_rq_complete:,0\n",
            "only=2:block_rq_issue:",
        ),
        (FOURS, "submit,0\ncomplete,0\n", "column 1 holds"),
        (FOURS, "R,0\nW,0\n", "state op=1:R=read/W=write"),
        (FOURS, "RA,0\nWS,0\n", "op=1:RA=read/WS=write"),
        (FOURS, "Read,0\n", "state op=1:Read=read"),
        (FOURS, "DiskRead,0\n", "state op=1:DiskRead=read"),
        ("columns:offset=2:bytes,length=4k,op=read", "Write,0\n", "op=read takes all rows for"),
        (FOURS, "flush,0\nwrite,0\n", "op=1:flush=flush"),
        (FOURS, "C,0\nC,4096\n", None),
        (FOURS, "D,0\nR,4096\n", None),
        (FOURS, "Write,0\nW,4096\n", None),
        (f"{FOURS},only=1:C/Q", "C,0\nQ,4096\n", None),
        (f"{FOURS},only=1:W", "R,0\nW,4096\n", None),
        ("columns:offset=2:bytes,length=4k,op=1:R=read/W=write", "R,0\nW,4096\n", None),
    ],
)
def test_rows_of_several_stages_or_operations_are_not_counted_without_a_word(
    tmp_path: Path, columns: str, rows: str, words: str | None
) -> None:
    cells = [line.split(",") for line in rows.split()]
    table = pl.DataFrame(cells, schema=[f"c{at}" for at in range(len(cells[0]))], orient="row")
    numbers = [name for name in table.columns if table[name].str.contains("^[0-9.]+$").all()]
    table = table.with_columns(pl.col(numbers).cast(pl.Float64))
    if words is None:
        from_text = read_as(tmp_path, rows, columns).requests
        assert from_text.equals(traces.of(table, columns).requests)
        return
    for refused in (
        refusal(read_as, tmp_path, rows, columns),
        refusal(traces.of, table, columns),
    ):
        sentence = re.sub(r" \('c[0-9]'\)", "", refused)
        assert sentence.startswith("columns: ")
        assert words in sentence


def test_text_pieces_and_tables_in_memory_read_stated_columns_alike(tmp_path: Path) -> None:
    spec = (
        "columns:date=d,time=t:datetime,device=v,offset=o:hex-sectors,length=n:hex-bytes,"
        "op=k:W=write/R=read,only=s:C"
    )
    lines = [
        f"2021-03-08,10:{at // 60 % 60:02}:{at % 60:02}.25,{at % 3},{at * 8:x},0x1000,"
        f"{'WR'[at % 2]},{'CQ'[at % 5 == 0]}\n"
        for at in range(3000)
    ]
    text = "d,t,v,o,n,k,s\n" + "".join(lines)
    whole = read_as(tmp_path, text, spec)
    assert whole.requests.height == 2400
    path = tmp_path / "trace.txt"
    readings = list(read_pieces(find_format(spec), path, ReadOptions()))
    pieces = pl.concat([reading().requests for reading in readings])
    assert pieces.drop("device").equals(whole.requests.drop("device"))
    table = pl.read_csv(text.encode(), infer_schema=False)
    assert traces.of(table, spec).requests.equals(whole.requests)
    typed = table.with_columns(pl.col("d").str.to_date(), pl.col("t").str.to_time())
    assert traces.of(typed, spec).requests.equals(whole.requests)
    moments = table.with_columns(t=(pl.col("d") + " " + pl.col("t")).str.to_datetime()).drop("d")
    assert traces.of(moments, spec.replace("date=d,", "")).requests.equals(whole.requests)
    damaged = table.with_columns(
        o=pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("xyz")).otherwise("o")
    )
    with pytest.raises(WriteampError, match="row 8 of the trace has o 'xyz', valid is the text of"):
        traces.of(damaged, spec)
    with pytest.raises(WriteampError, match="no request"):
        traces.of(table, spec.replace("s:C", "s:X"))
