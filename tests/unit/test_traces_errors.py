"""Every fault of a trace file is one sentence with its file, its line, and what is valid."""

from __future__ import annotations

import dataclasses
import errno
import gzip
import io
import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from refusals import refusal
from trace_files import read_as, written
from writeamp import traces
from writeamp.errors import WriteampError
from writeamp.files import inputs
from writeamp.traces.formats.parquet import write

pytestmark = pytest.mark.usefixtures("plain_messages")

MSR = b"128166372003061629,hm,0,Write,4096,8192,2833\n"
SPC = b"0,8,8192,W,0.5\n"
NS = b"1000 0 8 16 0\n"
MS = b"0.001 0 8 16 0\n"
BLK = b"8,0 0 1 0.5 5 Q W 8 + 16 [x]\n"
GOOD = {"msr": MSR, "spc": SPC, "mqsim": NS, "ssdsim": NS, "disksim": MS, "blkparse": BLK}
GOOD |= {"alibaba": b"33333333333,W,40960000000,512,1\n", "tencent": b"1538323200,8,16,1,3\n"}

# A faulty row stands on line 3, after two good ones; the words are in the sentence.
FAULTY_ROWS = [
    ("msr", MSR.replace(b",2833", b""), "6 columns, valid are 7"),
    ("msr", MSR.replace(b",2833", b","), "ResponseTime is missing"),
    ("msr", MSR.replace(b"\n", b",1\n"), "8 columns, valid are 7"),
    ("msr", MSR.replace(b"4096", b"-4096"), "Offset is '-4096'"),
    ("msr", MSR.replace(b"8192", b"-1"), "Size is '-1'"),
    ("msr", MSR.replace(b"8192", b"8k"), "Size is '8k'"),
    ("msr", MSR.replace(b"8192", b"1.5"), "Size is '1.5'"),
    ("msr", MSR.replace(b"8192", b"1e3"), "Size is '1e3'"),
    ("msr", MSR.replace(b"8192", b"1_000"), "Size is '1_000'"),
    (
        "msr",
        MSR.replace(b"4096", b"18446744073709551616"),
        "valid is a whole number from 0 to 2^64",
    ),
    ("msr", MSR.replace(b"4096", b"9" * 5000), "Offset is '999"),
    ("msr", MSR.replace(b"4096", b"9223372036854775807"), "(8 EiB)"),
    ("msr", MSR.replace(b"8192", b"4294967296"), "at most 4294967295 bytes"),
    ("msr", MSR.replace(b"Write", b"Trim"), "Type is 'Trim', valid are Read (read) and Write"),
    ("msr", MSR.replace(b"Write", b"1"), "Type is '1'"),
    ("msr", MSR.replace(b"128166372003061629", b"1"), "ticks of 100 ns"),
    ("msr", MSR.replace(b"128166372003061629", b"9" * 19), "ticks of 100 ns"),
    ("msr", b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n", "Timestamp is"),
    ("spc", b"0,8,8192,W\n", "4 columns, valid are 5 or more"),
    ("spc", b"0,8,8192,X,0.5\n", "Opcode is 'X'"),
    ("spc", b"0,8,8192,,0.5\n", "Opcode is missing"),
    ("spc", b"0,8,8192,W,noon\n", "Timestamp is 'noon', valid is a decimal number"),
    ("spc", b"0,8,8192,W,nan\n", "Timestamp is 'nan'"),
    ("spc", b"0,8,8192,W,-0.5\n", "Timestamp '-0.5' is out of range"),
    ("spc", b"0,8,8192,W,1e30\n", "Timestamp is '1e30'"),
    ("spc", b"0,8,8192,W,9999999999999\n", "out of range, valid are 0 to 2^63 - 1 ns"),
    ("spc", b"0,36028797018963968,8192,W,0.5\n", "LBA '36028797018963968' is too large"),
    ("mqsim", b"1000 0 8 16\n", "4 columns, valid are 5: time device address size type"),
    ("mqsim", b"1000 0 8 16 0 0\n", "6 columns, valid are 5"),
    ("mqsim", b"1000 0 8 16 2\n", "type is '2', valid are 1 (read) and 0 (write)"),
    ("mqsim", b"1000 0 8 16 W\n", "type is 'W'"),
    ("mqsim", b"0.5 0 8 16 0\n", "time is '0.5', valid is a whole number"),
    ("mqsim", b"9223372036854775808 0 8 16 0\n", "valid are 0 to 2^63 - 1 ns"),
    ("mqsim", b"1000 0 8 8388608 0\n", "at most 8388607 sectors of 512 bytes"),
    ("ssdsim", b"1000 0 -8 16 0\n", "address is '-8'"),
    ("disksim", b"0.001 0 8 16 R\n", "flags is 'R', valid is a hexadecimal number"),
    ("disksim", b"11E3076000 0 8 16 0\n", "valid is a number below 10^28"),
    ("disksim", b"-0.001 0 8 16 0\n", "time '-0.001' is out of range"),
    pytest.param("disksim", b"1" * 1_000_001 + b" 0 8 16 0\n", "a number below 10^28", id="digits"),
    ("disksim", b"0.001\t0\t8\t16\n", "4 columns"),
    ("alibaba", b"3,W,4096,512\n", "4 columns, valid are 5: device_id,opcode,offset,length"),
    ("alibaba", b"3,D,4096,512,1\n", "opcode is 'D', valid are R (read) and W (write)"),
    ("alibaba", b"3,W,4096,512,9223372036854776\n", "timestamp '9223372036854776' is out of range"),
    ("tencent", b"1538323200,8,16,2,3\n", "io_type is '2', valid are 0 (read) and 1 (write)"),
    ("tencent", b"9223372037,8,16,1,3\n", "timestamp '9223372037' is out of range"),
    ("tencent", b"1,8,8388608,1,3\n", "at most 8388607 sectors of 512 bytes"),
    ("blkparse", b"8,0 0 1 0.5 5\n", "major,minor cpu sequence time pid action rwbs"),
    ("blkparse", b"8,0 0 1 0.5 5 Q W 8 +\n", "major,minor"),
    ("blkparse", b"8,0 0 1 0.5 5 Q W 8\n", "major,minor"),
    ("blkparse", b"8,0 0 1 0.5 5 Q W 8 + 1x [x]\n", "major,minor"),
    ("blkparse", b"8,0 0 1 0.5 5 Q W -8 + 16 [x]\n", "major,minor"),
    ("blkparse", b"8,0 0 1 0.5.5 5 Q W 8 + 16 [x]\n", "time is '0.5.5'"),
    ("blkparse", b"8,0 0 1 0.5 5 Q XY 8 + 16 [x]\n", "RWBS is 'XY'"),
    ("blkparse", b"8,0 0 1 0.5 5 Q W + 16 [x]\n", "the sector is"),
    ("blkparse", b"8,0 0 1 0.5 5 Q W 36028797018963968 + 16 [x]\n", "the sector is"),
    ("blkparse", b"8,0 0 1 0.5 5 Q W 8 + 8388608 [x]\n", "valid are 0 to 8388607"),
    ("blkparse", b"sda 0 1 0.5 5 Q W 8 + 16 [x]\n", "the row is 'sda 0 1"),
]


def fault_of(path: Path, format: str | None = None) -> str:
    sentence = refusal(traces.read, path, format)
    assert str(path) in sentence
    return sentence


@pytest.mark.parametrize(("name", "row", "words"), FAULTY_ROWS)
def test_a_faulty_row_names_file_line_and_what_is_valid(
    tmp_path: Path, name: str, row: bytes, words: str
) -> None:
    path = written(tmp_path, GOOD[name] * 2 + row + GOOD[name])
    sentence = fault_of(path, name)
    assert sentence.startswith(f"{path}:3: ")
    assert words in sentence


@pytest.mark.parametrize("name", GOOD)
def test_the_line_is_right_in_a_later_block_and_after_blank_lines(
    tmp_path: Path, name: str
) -> None:
    good_rows = 5 * 2**20 // len(GOOD[name])
    path = written(tmp_path, b"\n" + GOOD[name] * good_rows + b"\n\n" + b"1,2 3\n" + GOOD[name])
    assert f"{path}:{good_rows + 4}: " in fault_of(path, name)


@pytest.mark.parametrize("name", GOOD)
def test_a_trace_cut_within_its_last_row_says_so(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, (GOOD[name] * 2)[: -(len(GOOD[name]) // 2)])
    sentence = fault_of(path, name)
    assert sentence.startswith(f"{path}:2: ")
    if name != "blkparse":
        assert "the file ends within it" in sentence


NO_TRACES: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (str, "no such file"),
    "directory": (Path.mkdir, "is a directory"),
    "pipe without a writer": (os.mkfifo, "not a regular file"),
    "empty": (Path.touch, "is empty"),
    "binary": (lambda path: path.write_bytes(bytes(range(256)) * 64), ""),
    "blank lines only": (lambda path: path.write_bytes(b"\n \n\t\n"), ""),
}


@pytest.mark.parametrize("name", [None, *traces.FORMATS])
@pytest.mark.parametrize(("make", "words"), NO_TRACES.values(), ids=NO_TRACES)
def test_a_file_that_is_no_trace_is_refused(
    tmp_path: Path, make: Callable[[Path], object], words: str, name: str | None
) -> None:
    make(tmp_path / "trace")
    assert words in fault_of(tmp_path / "trace", name)


@pytest.mark.parametrize("name", [None, *traces.FORMATS])
def test_a_name_with_a_nul_is_refused(name: str | None) -> None:
    assert "not a file name" in refusal(traces.read, "a\0b", name)


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"\0\n", "the line has a NUL byte"),
        (b"caf\xe9\n", "byte 0xe9 is not valid UTF-8"),
        (b"1" * (6 * 2**20), "the line is longer than 1 MiB"),
    ],
    ids=["NUL", "Latin-1", "without end"],
)
def test_bytes_that_are_no_text_name_their_line(
    tmp_path: Path, line: bytes, fault: str, name: str
) -> None:
    path = written(tmp_path, GOOD[name] + line + GOOD[name])
    assert f"{path}:2: {fault}" in fault_of(path, name)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\x03\x04rest", "unpack"),
        (b"\x07taerest of the event", "ends within the record"),
        (b"\x28\xb5\x2f\xfdrest", "the zstd file is damaged or cut"),
        (b"\xfd7zXZ\x00rest", "the xz file is damaged or cut"),
        (b"BZh91AYrest", "the bzip2 file is damaged or cut"),
        (bytes(257) + b"ustar\0", "unpack it first with tar"),
        (gzip.compress(b"", mtime=0), "all lines are blank"),
        (
            "DiskWrite, 8612, x (4), 8\n".encode("utf-16"),
            "is UTF-16 text: convert it first with ico",
        ),
        (b"PERFILE2h\0\0\0", "is a binary file of perf: print it with perf script"),
        (b"\x17\x08Dtracing6\0", "is a binary file of trace-cmd: print it with trace-cmd report"),
    ],
)
def test_packed_and_binary_traces_say_how_to_make_them_readable(
    tmp_path: Path, content: bytes, words: str
) -> None:
    assert words in fault_of(written(tmp_path, content))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("msr", "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n"),
        ("blkparse", "CPU0 (8,0):\n Reads Queued: 0, 0KiB\n"),
    ],
)
def test_a_header_or_a_summary_alone_holds_no_request(
    tmp_path: Path, name: str, content: str
) -> None:
    assert "holds no request" in fault_of(written(tmp_path, content), name)


def test_an_unknown_format_names_the_nearest() -> None:
    with pytest.raises(WriteampError, match=r"'mqsmi' \(did you mean 'mqsim'\?\)") as error:
        traces.read("any", "mqsmi")
    assert all(name in str(error.value) for name in traces.FORMATS)


def test_an_action_is_one_that_the_format_has(tmp_path: Path) -> None:
    with pytest.raises(WriteampError, match=r"unknown action 'X'.*Q, D, C"):
        read_as(tmp_path, BLK, "blkparse", action="X")
    with pytest.raises(WriteampError, match="does not apply to the format msr, only to blkparse"):
        read_as(tmp_path, MSR, action="Q")


def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, MSR)
    path.chmod(0)
    was_root = os.geteuid() == 0
    if was_root:  # root may read everything
        os.seteuid(65534)
    try:
        assert "cannot be read (Permission denied)" in fault_of(path, "msr")
    finally:
        if was_root:
            os.seteuid(0)


class FailingFile(io.FileIO):
    """A file on a disk of which one read fails."""

    def __init__(self, path: Path, reads: Iterator[int], failing: int) -> None:
        super().__init__(path)
        self._reads, self._failing = reads, failing

    def readinto(self, buffer: Any) -> int:
        self._count()
        return super().readinto(buffer) or 0

    def readall(self) -> bytes:
        self._count()
        return super().readall()

    def _count(self) -> None:
        if next(self._reads) == self._failing:
            raise OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.mark.parametrize("name", ["trace.csv", "trace.csv.gz", "trace.parquet"])
def test_a_read_that_fails_is_an_error_of_the_trace(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, text = tmp_path / name, tmp_path / "text"
    text.write_bytes(MSR * 100)
    path.write_bytes(gzip.compress(text.read_bytes()) if ".gz" in name else text.read_bytes())
    if ".parquet" in name:
        with path.open("wb") as file:
            write(traces.read(text), file)

    def read(failing: int) -> int:
        reads = count()
        monkeypatch.setattr(
            inputs, "opened", lambda path: io.BufferedReader(FailingFile(path, reads, failing))
        )
        traces.read(path)
        return next(reads)

    whole = read(-1)
    assert whole > 1
    for failing in range(whole):
        with pytest.raises(WriteampError) as error:
            read(failing)
        assert str(error.value) == f"{path}: cannot be read (Input/output error)"


GOOD_ROWS = pl.DataFrame(
    {"timestamp_ns": [1, 2], "device": 0, "op": ["write", "read"], "offset": 0, "length": 8},
    schema=traces.SCHEMA,
)


class TestParquet:
    def fault(self, tmp_path: Path, frame: pl.DataFrame, metadata: Any = None) -> str:
        path = tmp_path / "trace.parquet"
        frame.write_parquet(path, metadata=metadata)
        return fault_of(path)

    @pytest.mark.parametrize("column", list(traces.SCHEMA))
    def test_a_column_that_is_missing_or_of_another_type_is_named(
        self, tmp_path: Path, column: str
    ) -> None:
        assert f"no column {column};" in self.fault(tmp_path, GOOD_ROWS.drop(column))
        frame = GOOD_ROWS.with_columns(pl.lit(0.5).alias(column))
        assert f"column {column} is Float64" in self.fault(tmp_path, frame)

    @pytest.mark.parametrize(
        ("column", "value", "words"),
        [
            ("op", pl.lit(0, pl.UInt8), "0 could mean a read or a write"),
            ("op", pl.lit("erase"), "row 1 has op 'erase'"),
            ("op", pl.lit(None, pl.String), "row 1 has op 'None'"),
            ("offset", pl.lit(-512), "row 1 has offset '-512'"),
            ("offset", pl.lit(2**63 - 1), "row 1 has offset"),
            ("length", pl.lit(2**32), "row 1 has length '4294967296'"),
            ("device", pl.lit(-1), "row 1 has device '-1'"),
            ("timestamp_ns", pl.lit(None, pl.Int64), "row 1 has timestamp_ns"),
            ("op", pl.lit("flush"), "a flush must have offset and length 0"),
        ],
    )
    def test_a_value_that_is_not_valid_names_its_row(
        self, tmp_path: Path, column: str, value: pl.Expr, words: str
    ) -> None:
        assert words in self.fault(tmp_path, GOOD_ROWS.with_columns(value.alias(column)))

    @pytest.mark.parametrize(
        ("key", "value", "words"),
        [
            ("trace_schema", "2", "has the trace schema '2', this version reads 1"),
            ("devices", "nonsense", "JSON list"),
            ("devices", "[1]", "JSON list"),
            ("devices", '"sda"', "JSON list"),
            ("devices", '["sda"]', "valid are 0 to 0"),
        ],
    )
    def test_metadata_that_are_not_valid_are_refused(
        self, tmp_path: Path, key: str, value: str, words: str
    ) -> None:
        frame = GOOD_ROWS.with_columns(device=pl.lit(1, pl.UInt32))
        assert words in self.fault(tmp_path, frame, {f"writeamp.{key}": value})

    def test_no_rows_hold_no_request(self, tmp_path: Path) -> None:
        assert "holds no request" in self.fault(tmp_path, GOOD_ROWS.clear())

    @pytest.mark.parametrize("kept_bytes", [4, 12, 200])
    def test_a_cut_file_is_no_readable_parquet(self, tmp_path: Path, kept_bytes: int) -> None:
        path = tmp_path / "cut.parquet"
        GOOD_ROWS.write_parquet(path)
        path.write_bytes(path.read_bytes()[:kept_bytes])
        assert "is not a readable parquet file" in fault_of(path)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"requests": pl.DataFrame({"offset": [1]})},
            "need the columns timestamp_ns Int64, device UInt32",
        ),
        ({"requests": None}, "the requests of a trace need the columns timestamp_ns"),
        ({"requests": [1, 2]}, "the requests of a trace need the columns timestamp_ns"),
        ({"fua": [True]}, "fua must be a Polars series, one value per request"),
    ],
)
def test_a_trace_of_other_types_is_refused(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(WriteampError, match=words):
        dataclasses.replace(read_as(tmp_path, MSR), **changes)
