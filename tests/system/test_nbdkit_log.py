"""The converter of nbdkit logs into our Parquet schema, on logs made by hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from places import ROOT

SCRIPTS = ROOT / "scripts"
CONVERT = SCRIPTS / "nbdkit_log_to_parquet.py"

sys.path.insert(0, str(SCRIPTS))
from nbdkit_log_to_parquet import (  # noqa: E402
    SCHEMA,
    SCHEMA_METADATA,
    LogError,
    convert_log,
    write_trace,
)

HEADER = """\
2026-01-31 23:59:59.000000 Ready thread_model=3
2026-01-31 23:59:59.100000 Preconnect id=1 readonly=0 ...
2026-01-31 23:59:59.100007 ...Preconnect id=1 return=0
2026-01-31 23:59:59.100100 connection=1 Connect export="" tls=0 size=0x10000000 write=1 ...
"""


def log_of(*lines: str, head: str = "", every_us: int = 1) -> list[str]:
    """Return the lines of a log, at one time after the other, each of a numbered connection."""
    stamps = (f"2026-01-31 23:59:59.{200_000 + at * every_us:06}" for at in range(len(lines)))
    body = (f"{at} connection={line}\n" for at, line in zip(stamps, lines, strict=True))
    return [*head.splitlines(keepends=True), *body]


def converted(log: list[str]) -> list[tuple[int, str, int, int]]:
    return convert_log(log).frame.select("timestamp_ns", "op", "offset", "length").rows()


def test_each_verb_becomes_its_operation_with_offset_and_length_in_bytes() -> None:
    log = log_of(
        "1 Read id=1 offset=0x0 count=0x8000 ...",
        "1 ...Read id=1 return=0",
        "1 Write id=2 offset=0x1000 count=0x200 fua=0 ...",
        "1 ...Write id=2 return=0",
        "1 Trim id=3 offset=0x2000 count=0x80000000 fua=0 ...",
        "1 ...Trim id=3 return=0",
        "1 Flush id=4 ...",
        "1 ...Flush id=4 return=0",
        head=HEADER,
    )
    assert converted(log) == [
        (0, "read", 0, 32768),
        (2000, "write", 4096, 512),
        (4000, "trim", 8192, 1 << 31),
        (6000, "flush", 0, 0),
    ]


def test_write_zeroes_is_a_trim_only_where_the_server_may_punch_a_hole() -> None:
    log = log_of(
        "1 Zero id=1 offset=0x0 count=0x1000 trim=1 fua=0 fast=0 ...",
        "1 ...Zero id=1 return=0",
        "1 Zero id=2 offset=0x0 count=0x1000 trim=0 fua=0 fast=0 ...",
        "1 ...Zero id=2 return=0",
    )
    assert [op for _, op, _, _ in converted(log)] == ["trim", "write"]


def test_time_runs_on_from_one_day_to_the_next() -> None:
    log = [
        "2026-01-31 23:59:59.999999 connection=1 Flush id=1 ...\n",
        "2026-01-31 23:59:59.999999 connection=1 ...Flush id=1 return=0\n",
        "2026-02-01 00:00:00.000001 connection=1 Flush id=2 ...\n",
        "2026-02-01 00:00:00.000002 connection=1 ...Flush id=2 return=0\n",
    ]
    assert [timestamp_ns for timestamp_ns, *_ in converted(log)] == [0, 2000]


def test_answers_in_any_order_belong_to_their_connection_and_id() -> None:
    log = log_of(
        "1 Write id=1 offset=0x1000 count=0x1000 fua=0 ...",
        "2 Write id=1 offset=0x2000 count=0x1000 fua=0 ...",
        "1 Write id=2 offset=0x3000 count=0x1000 fua=0 ...",
        "1 ...Write id=2 return=0",
        "2 ...Write id=1 return=-1 error=EIO",
        "1 ...Write id=1 return=0",
    )
    conversion = convert_log(log)
    assert conversion.frame["offset"].to_list() == [0x1000, 0x3000]
    assert (conversion.failed_requests, conversion.unanswered_requests) == (1, 0)


def test_lines_that_the_server_wrote_out_of_order_are_sorted_by_time() -> None:
    first, second, *answers = log_of(
        "1 Write id=1 offset=0x1000 count=0x1000 fua=0 ...",
        "2 Write id=1 offset=0x2000 count=0x1000 fua=0 ...",
        "1 ...Write id=1 return=0",
        "2 ...Write id=1 return=0",
        every_us=10,
    )
    assert converted([second, first, *answers]) == [
        (0, "write", 0x1000, 4096),
        (10000, "write", 0x2000, 4096),
    ]


@pytest.mark.parametrize("kept_characters", [1, 30, 60, 72])
def test_a_cut_last_line_and_an_unanswered_request_are_counted(kept_characters: int) -> None:
    *log, last = log_of(
        "1 Flush id=1 ...",
        "1 ...Flush id=1 return=0",
        "1 Flush id=2 ...",
        "1 Write id=3 offset=0x1000 count=0x1000 fua=0 ...",
    )
    conversion = convert_log([*log, last[:kept_characters]])
    assert conversion.frame["op"].to_list() == ["flush"]
    assert conversion.unanswered_requests == 1
    assert conversion.last_line_cut


def test_lines_about_connections_and_block_status_are_counted_and_left_out() -> None:
    log = log_of(
        "1 Extents id=1 offset=0x0 count=0x1000 req_one=0 ...",
        "1 ...Extents id=1 extents=[{...}] return=0",
        "1 Flush id=2 ...",
        "1 ...Flush id=2 return=0",
        "1 Disconnect transactions=2",
        head=HEADER,
    )
    conversion = convert_log(log)
    assert (conversion.frame.height, conversion.other_lines) == (1, 7)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("\x7fELF\x02\x01", "log:5: not a line of nbdkit's log filter"),
        ("offset=0x1000 count=0x1000 fua=0 ...", "log:5: not a line"),
        ("2026-01-31 23:61:59.000000 connection=1 Flush id=1 ...", "log:5: '2026-01-31 23:61:59'"),
        (
            "2026-01-31 23:59:59.000000 connection=1 Write id=1 offset=0x10 ...",
            "log:5: Write without a hexadecimal offset= and count=",
        ),
        (
            "2026-01-31 23:59:59.000000 connection=1 Write id=1 offset=-4096 count=0x10 ...",
            "log:5: not a line",
        ),
        (
            "2026-01-31 23:59:59.000000 connection=1 Write id=1 offset=0x0 count=0x100000000 ...",
            "log:5: offset 0x0 or count 0x100000000 does not fit",
        ),
        (
            "2026-01-31 23:59:59.000000 connection=1 ...Write id=9 return=0",
            "log:5: an answer to id 9 without a request",
        ),
    ],
)
def test_a_line_that_makes_no_sense_is_refused_by_its_number(line: str, complaint: str) -> None:
    with pytest.raises(LogError) as refusal:
        convert_log((HEADER + line + "\n").splitlines(keepends=True))
    assert str(refusal.value).startswith(complaint)
    assert "\n" not in str(refusal.value)


def test_two_runs_in_one_log_are_refused() -> None:
    with pytest.raises(LogError, match="log:2: connection 1 issues id 1 while that id is in"):
        convert_log(log_of("1 Flush id=1 ...") * 2)


@pytest.mark.parametrize("log", ["", HEADER, HEADER[:-9]])
def test_a_log_without_an_answered_request_is_refused(log: str) -> None:
    with pytest.raises(LogError, match="no answered read, write, trim or flush"):
        convert_log(log.splitlines(keepends=True))


def test_the_converter_writes_a_file_of_the_schema(tmp_path: Path) -> None:
    log, out = tmp_path / "disk.log", tmp_path / "disk.parquet"
    write = ("1 Write id=1 offset=0x1000 count=0x1000 fua=0 ...", "1 ...Write id=1 return=0")
    log.write_text("".join(log_of(*write, head=HEADER)))
    subprocess.run([sys.executable, CONVERT, log, out], check=True, capture_output=True)
    frame = pl.read_parquet(out)
    assert frame.schema == SCHEMA
    assert frame.rows() == [(0, 0, "write", 4096, 4096)]
    assert SCHEMA_METADATA.items() <= pl.read_parquet_metadata(out).items()


def test_the_converter_refuses_binary_garbage_in_one_line_and_writes_nothing(
    tmp_path: Path,
) -> None:
    log, out = tmp_path / "disk.log", tmp_path / "disk.parquet"
    log.write_bytes(bytes(range(256)) * 4)
    result = subprocess.run(
        [sys.executable, CONVERT, log, out], check=False, capture_output=True, text=True
    )
    assert result.returncode == 2
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == [log]


def test_a_trace_that_cannot_be_written_leaves_no_partial_file(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    frame = pl.DataFrame(schema=SCHEMA)
    with pytest.raises(OSError, match="taken"):
        write_trace(frame, tmp_path / "taken", {})
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
