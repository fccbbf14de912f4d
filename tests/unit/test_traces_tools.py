"""Tables that tracing tools print for people: each version of a tool reads the same."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest

import writeamp as wa
from in_process import run
from refusals import refusal
from trace_files import CASES, read_as
from writeamp import traces
from writeamp.errors import WriteampError
from writeamp.traces.format import ReadOptions
from writeamp.traces.reading import read_pieces

WRITE = (0, "write", 2048 * 512, 4096)
FTRACE_HEAD = "# tracer: nop\n#\n#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"


def rows(trace: traces.Trace) -> list[tuple[object, ...]]:
    return [row[1:] for row in trace.requests.rows()]


def notes(trace: traces.Trace) -> str:
    return "; ".join([*trace.warnings, *trace.notes])


def test_the_public_ftrace_file_has_five_writes_of_4096() -> None:
    trace = traces.read(CASES / "t07-ftrace-block.txt")
    assert trace.format == "ftrace"
    assert Counter((row[1], row[3]) for row in rows(trace)) == {("write", 4096): 5}
    assert trace.requests["offset"].to_list()[:2] == [2048 * 512, 10560 * 512]
    assert trace.requests["timestamp_ns"][0] == 343_996_918_805_000
    assert trace.devices == ["259,0"]


@pytest.mark.parametrize(
    "line",
    [
        "  sync-4844  [001] .... 3.918805: block_rq_issue: 259,0 WS 4096 () 2048 + 8 [sync]",
        "  sync-4844  [001] d..2. 3.918805: block_rq_issue: 259,0 WS 0 () 2048 + 8 [sync]",
        "  sync-4844  (  4800) [001] .... 3.918805: block_rq_issue: 259,0 WS 0 () 2048 + 8 [sync]",
        "  xfs_io-42 [009] .... 3.918805: block_rq_issue: 259,0 WFSU 4096 () 2048 + 8 none,0,0 [x]",
        "  kworker/u16:0-7 [009] ..... 3.918805: block_rq_issue: 8,0 W 4096 () 2048 + 8 be,0,4 [k]",
        "  a b 1.5: x-42 [009] ..... 3.918805: block_rq_issue: 8,0 W 4096 () 2048 + 8 [a b [c] ]",
        "  <idle>-0   [001] d.h. 3.918805: block_rq_complete: 259,0 WSM () 2048 + 8 [0]",
        "  <idle>-0   [001] d.h1. 3.918805: block_rq_complete: 259,0 WFS () 2048 + 8 none,0,0 [0]",
        "  <idle>-0   [001] 3.918805: block_rq_complete:      259,0 FWFS () 2048 + 8 [0]",
        "  fio-4844   [001] 3.918805: block_bio_queue:      259,0 WS 2048 + 8 [fio]",
        "  fio-4844   [001] .... 3.918805: block_rq_insert: 259,0 WS 4096 () 2048 + 8 [fio]",
        "swapper     0 [000] 3.918805: block:block_rq_complete: 202,1 W () 2048 + 8 [0]",
        "tokio worker  77/81 [000] 3.918805: block:block_rq_issue: 202,1 W 4096 () 2048 + 8 [t]",
        "dd  1234 3.918805:          1 block:block_rq_issue: 8,0 W 4096 () 2048 + 8 [dd]",
        "dd  1234 [002] 3.918805000: block:block_rq_issue: 8,0 WS 4096 (2a 00) 2048 + 8 [dd]\r",
    ],
)
def test_a_block_event_reads_the_same_from_every_kernel_and_tool(tmp_path: Path, line: str) -> None:
    trace = read_as(tmp_path, f"{FTRACE_HEAD}{line}\n")
    assert trace.format == "ftrace"
    assert rows(trace) == [WRITE]
    assert trace.requests["timestamp_ns"].to_list() == [3_918_805_000]


def event(rest: str, name: str = "block_rq_complete", time: str = "1.5") -> str:
    return f"  fio-9 [000] d.h. {time}: {name}: 8,0 {rest}\n"


STAGES = (
    event("W 100 + 16 [fio]", "block_bio_queue")
    + event("W 8192 () 100 + 16 [fio]", "block_rq_insert")
    + event("W 8192 () 100 + 16 [fio]", "block_rq_issue")
    + event("W () 100 + 8 [0]")
    + event("W () 108 + 8 [0]")
)


@pytest.mark.parametrize(
    ("kept", "asked", "event_name", "lengths"),
    [
        (range(5), None, "block_rq_complete; events by stage: 2 block_rq_complete", [4096, 4096]),
        (range(3), None, "block_rq_issue;", [8192]),
        (range(2), None, "block_bio_queue;", [8192]),
        ([1], None, "block_rq_insert;", [8192]),
        (range(5), "D", "block_rq_issue;", [8192]),
        (range(5), "Q", "block_bio_queue;", [8192]),
    ],
)
def test_each_request_counts_once_at_one_stage_that_the_notes_name(
    tmp_path: Path, kept: range, asked: str | None, event_name: str, lengths: list[int]
) -> None:
    lines = STAGES.splitlines(keepends=True)
    more = {} if asked is None else {"action": asked}
    trace = read_as(tmp_path, "".join(lines[at] for at in kept), **more)
    assert trace.requests["length"].to_list() == lengths
    assert event_name in notes(trace)


def test_completions_late_in_a_file_count_and_the_missing_ones_are_a_warning(
    tmp_path: Path,
) -> None:
    issued = event("W 4096 () 8 + 8 [fio]", "block_rq_issue") * 70_000  # more than a block
    trace = read_as(tmp_path, issued + event("W () 2048 + 8 [0]"))
    assert rows(trace) == [WRITE]
    assert "70000 requests were issued but only 1 completed" in trace.warnings[0]


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("CPU:1 [LOST 234 EVENTS]", "234 events were lost"),
        ("CPU:1 [234 EVENTS DROPPED]", "234 events were lost"),
        ("perf 1 [000] 1.2: PERF_RECORD_LOST lost 234", "234 events were lost"),
        ("# entries-in-buffer/entries-written: 66/300   #P:4", "234 events were lost"),
        (event("W 0 () 8 + 8 [x]", "block_rq_issue"), ""),
        (
            event("W 0 () 8 + 8 [x]", "block_rq_issue") * 2,
            "2 requests were issued but only 1 completed",
        ),
        ("cpus=8", ""),
        ("##### CPU 1 buffer started ####", ""),
        ("bash-7 [000] d... 1.0: sched_switch: prev_comm=bash prev_pid=7 lost", ""),
        ("bash-7 [000] d... 1.0: block_plug: [bash]", ""),
        ("        ffffffff8160 blk_mq_start_request+0x1 ([kernel.kallsyms])", ""),
    ],
)
def test_other_lines_are_no_requests_and_lost_events_are_told(
    tmp_path: Path, line: str, note: str
) -> None:
    trace = read_as(tmp_path, f"{line}\n" + event("W () 2048 + 8 [0]"))
    assert rows(trace) == [WRITE]
    assert note in notes(trace)
    assert note or "lost" not in notes(trace)


def test_a_stage_that_a_file_lacks_is_refused_with_those_it_has(tmp_path: Path) -> None:
    with pytest.raises(WriteampError, match=r"no event is block_bio_queue .* from D \(block_rq_is"):
        read_as(tmp_path, event("W 0 () 8 + 8 [x]", "block_rq_issue"), action="Q")
    with pytest.raises(WriteampError, match="has no events of block requests"):
        read_as(tmp_path, event("W 8 + 8 [x]", "block_getrq"))


def test_devices_packed_files_and_every_verb_take_block_events(tmp_path: Path) -> None:
    lines = [
        f" x-1 [0] {at / 1e3:.6f}: block_rq_complete: 8,{at % 2} W () {at * 37 % 400 * 8} + 8 [0]"
        for at in range(2000)
    ]
    path = tmp_path / "t.txt.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode() + b"\n"))
    trace = traces.read(path)
    assert trace.devices == ["8,0", "8,1"]
    result = wa.simulate(trace=path, trace_device="8,1", blocks=64, pages_per_block=16, op=0.1)
    assert result.wa is not None
    assert result.host_pages % 1000 == 0
    ended = run("trace convert", f"{path} {tmp_path / 'out.parquet'}")
    assert ended.status == 0
    assert rows(traces.read(tmp_path / "out.parquet")) == rows(trace)


BIOSNOOP_HEAD = "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES   LAT(ms)\n"
BIOSNOOP_ROW = "0.000004    supervise      1950   sda     W 2048       4096       0.74\n"


def test_the_public_biosnoop_table_has_fifteen_writes_on_three_disks() -> None:
    trace = traces.read(CASES / "t01-biosnoop.txt")
    assert trace.format == "biosnoop"
    assert {row[1] for row in rows(trace)} == {"write"}
    assert trace.requests["length"].sum() == 127_488
    assert trace.devices == ["xvda1", "xvdb", "xvdc"]
    assert trace.requests.row(0) == (4_000, 0, "write", 13_092_560 * 512, 4096)


@pytest.mark.parametrize(
    "text",
    [
        BIOSNOOP_HEAD + BIOSNOOP_ROW,
        "TIME(s) COMM PID DISK T SECTOR BYTES QUE(ms) LAT(ms)\n"
        "0.000004001 ext4 lazy 12 init 1950 sda WS 2048 4096 -1.000 0.74\n",
        "TIME(s) COMM PID DISK T SECTOR BYTES P QUE(ms) LAT(ms)\n"
        "0.000004 x 1950 sda W 2048 4096 S 0.01 0.74\n",
        "TIME(s) COMM PID DISK T SECTOR BYTES P LAT(ms)\n0.000004 x 1 sda W 2048 4096   0.74\n",
        "TIME     TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n"
        "10:00:01 0.000004 x 1950 sda W 2048 4096 0.74\n",
        "Tracing block I/O... Hit Ctrl-C to end\n" + BIOSNOOP_HEAD + BIOSNOOP_ROW + "^C\n",
        "warning: cc1 of the compiler\n" + BIOSNOOP_HEAD + BIOSNOOP_ROW + "\n" + BIOSNOOP_HEAD,
        BIOSNOOP_ROW,
        "0.000004 kworker/0:1H 26040 sda WFS 2048 4096 0.250 0.74\n",
    ],
)
def test_a_completed_write_reads_the_same_from_every_version_of_biosnoop(
    tmp_path: Path, text: str
) -> None:
    trace = read_as(tmp_path, text)
    assert trace.format == "biosnoop"
    assert rows(trace) == [WRITE]
    assert trace.requests["timestamp_ns"][0] // 1000 == 4
    assert trace.devices == ["sda"]
    assert ("no header" in notes(trace)) == ("COMM" not in text)


def test_a_few_rows_of_several_disks_are_a_table_of_biosnoop(tmp_path: Path) -> None:
    rows_of_disks = [f"0.{at} x 1 sd{'abc'[at]} W {at * 512} 4096 0.7\n" for at in range(3)]
    assert read_as(tmp_path, BIOSNOOP_HEAD + "".join(rows_of_disks)).devices == [
        "sda",
        "sdb",
        "sdc",
    ]


DUMPER_HEAD = """BeginHeader
   DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap,         FileObject, FileName
  DiskWrite,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap,         FileObject, FileName
DiskWriteInit,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr
  DiskFlush,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,                           ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri
EndHeader
OS Version: 6.0.6001, Trace Size: 8704KB, Events Lost: 0, Buffers lost: 0, Trace Length: 36 sec
"""  # noqa: E501 (as the tool prints it)
DETAIL_HEAD = """QD/I - Number of outstanding IOs at IO start time.

   IO Type, Start Time,   End Time,    IO Time,  Disk SrvT,    IO Size,  Byte Offset,  Pri, QD/I, QD/C, IBCB, IBCA, IACB,     Process Name ( PID), Disk, Filename
"""  # noqa: E501


@pytest.mark.parametrize(
    ("text", "time_us"),
    [
        (
            "DiskWrite,       8612,        xperf.exe (3984),      11844,   1, 0xffffe288b23f1b20, "
            '0x0000100000, 0x00001000,  283,  2, 0x060043,  283,  3, x, "C:\\$M"',
            8612,
        ),
        (
            "DiskWrite,  8612,  a, b (x).exe (3984),  11844, 0xfffffa80, 0x0000100000, 0x00001000, "
            '283,        2, 0x060043, 283, 3, Original, 0xfffff, "C:\\a, b.txt"\r',
            8612,
        ),
        (
            " DiskWrite,  368013044,  368013253,   209, 209, 0x00001000, 0x0000100000,  3,  0, "
            "   0,    0,    0,    0,           System (   4),    2, C:\\kernel (2), 9, .etl",
            368_013_044,
        ),
        ("DiskWrite, 8612, System ( 4), 8, 0xfffffa80, 0x0000100000, 0x00001000, 283, 2", 8612),
    ],
)
def test_a_disk_write_reads_the_same_from_every_table_of_xperf(
    tmp_path: Path, text: str, time_us: int
) -> None:
    for head in ("", DUMPER_HEAD, DETAIL_HEAD):
        trace = read_as(tmp_path, f"{head}{text}\n")
        assert trace.format == "xperf"
        assert rows(trace) == [WRITE]
        assert trace.requests["timestamp_ns"].to_list() == [time_us * 1000]
        assert trace.devices == ["2"]
        assert "lost" not in notes(trace)


XPERF_WRITE = "DiskWrite, 8612, x (4), 8, 0xfa80, 0x0000100000, 0x00001000, 283, 2, 0x06, 283\n"


ONE_EVENT = event("W () 2048 + 8 [0]")


# What comes behind a first write, and the request that it is or the note on it.
BLOCK_EVENTS = [
    ("R () 8 + 8 [0]", ("read", 4096, 4096)),
    ("RA () 8 + 8 [0]", ("read", 4096, 4096)),
    ("RSM () 8 + 8 [0]", ("read", 4096, 4096)),
    ("D () 8 + 8 [0]", ("trim", 4096, 4096)),
    ("DS () 8 + 8 [0]", ("trim", 4096, 4096)),
    ("DE () 8 + 8 [0]", ("trim", 4096, 4096)),
    ("FF () 18446744073709551615 + 0 none,0,0 [0]", ("flush", 0, 0)),
    ("F () 0 + 0 [0]", ("flush", 0, 0)),
    ("FWS () 0 + 0 [0]", ("flush", 0, 0)),
    ("WFS () 8 + 0 [0]", "left out: 1 events without sectors"),
    ("N () 18446744073709551615 + 0 [0]", "left out: 1 events with RWBS N"),
    ("NS () 8 + 80 be,0,4 [0]", "left out: 1 events with RWBS NS"),
    ("WZS () 8 + 80 [0]", "left out: 1 events with RWBS WZS"),
    ("ZAS () 8 + 80 [0]", "left out: 1 events with RWBS ZAS"),
    ("W () 8 + 8 [-5]", "left out: 1 requests that failed"),
]
BIOSNOOP_ROWS = [
    ("0.1 x 1 sda R 8 4096 0.7", ("read", 4096, 4096)),
    ("0.1 x 1 sda RA 8 4096 0.7", ("read", 4096, 4096)),
    ("0.1 x 1 sda DS 8 4096 0.7", ("trim", 4096, 4096)),
    ("0.1 x 1 sda FF -1 0 0.7", ("flush", 0, 0)),
    ("0.1 x 1 sda FF 18446744073709551615 0 0.7", ("flush", 0, 0)),
    ("-0.1 x 1 sda W 23437770752 4096 0.7", ("write", 23_437_770_752 * 512, 4096)),
    ("0.1 ?   0             R  -1        8          1.09", "1 commands without a sector"),
    ("0.1 x 1 sda R 18446744073709551615 36 1.1", "1 commands without a sector"),
    ("0.004578    ?              0              R 0          0         4.00", "1 commands"),
    ("0.1 x 1 sda N 8 4096 0.7", "1 commands without a sector or an operation"),
    ("Possibly lost 12 samples", "12 events were lost"),
    ("lost 12 events on CPU #3", "12 events were lost"),
]
XPERF_LINES = [
    ("DiskRead, 9, x (4), 8, 3, 0xfa80, 0x1000, 0x00001000, 283, 2, 0x", ("read", 4096, 4096)),
    ("DiskFlush, 9, x (4), 8, 3, 0xfa80, 283, 2, 0x0, 283, 3", ("flush", 0, 0)),
    ("DiskFlush, 9, x (4), 8, 0xfa80,    ,    , 283, 2, 0x0, 283, 3", ("flush", 0, 0)),
    ("DiskFlush, 9, 10, 1, 1", "1 flushes of an unknown disk"),
    ("DiskWriteInit, 9, x (4), 8, 0xfa80", ""),
    ("FileIoWrite, 9, x (4), 8, 0xfa80, 0x1000, 0x00001000, 283, 2", ""),
    ("OS Version: 6.1, Events Lost: 12, Buffers lost: 3, Trace Start: 1", "12 events were lost"),
    (
        "OS Version: 6.1, Events Lost: 0, Buffers lost: 3, Trace Start: 1",
        "3 buffers of events were",
    ),
]


@pytest.mark.parametrize(
    ("first", "row", "outcome"),
    [
        *((ONE_EVENT, event(rest), outcome) for rest, outcome in BLOCK_EVENTS),
        *((BIOSNOOP_HEAD + BIOSNOOP_ROW, f"{row}\n", outcome) for row, outcome in BIOSNOOP_ROWS),
        *((XPERF_WRITE, f"{line}\n", outcome) for line, outcome in XPERF_LINES),
    ],
)
def test_a_row_is_the_request_that_it_was_or_is_left_out_with_a_note(
    tmp_path: Path, first: str, row: str, outcome: str | tuple[object, ...]
) -> None:
    trace = read_as(tmp_path, first + row)
    if isinstance(outcome, str):
        assert rows(trace) == [WRITE]
        assert outcome in notes(trace)
    else:
        assert [one[1:] for one in rows(trace)] == [WRITE[1:], outcome]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ONE_EVENT + event("W () 8 + 8"), "trace.txt:2: the event is"),
        (ONE_EVENT + event("W () -8 + 8 [0]"), "trace.txt:2: sector is '-8'"),
        (ONE_EVENT + event("WQ8 () 8 + 8 [0]"), "trace.txt:2: the event is"),
        (ONE_EVENT + event("W () 8 + 8 [0]", time="12345"), "a count of an unknown clock"),
        (ONE_EVENT + event("W () 8 + 9000000 [0]"), "sectors '9000000' is too large"),
        (
            ONE_EVENT + "fio 9us : block_rq_complete: 8,0 W () 8 + 8 [0]\n",
            "trace.txt:2: the row is 'fio 9us",
        ),
        (
            ONE_EVENT + " fio-9 [0] 1.0: block_rq_complete: dev=8388608 sector=8\n",
            "trace.txt:2: the event",
        ),
        (
            ONE_EVENT + "0.5 fio/9 block:block_rq_complete:8,0 W () 8 + 8 [0]\n",
            "trace.txt:2: the row is",
        ),
        (BIOSNOOP_HEAD + "0.1 x 1 sda W -2147483648 4096 0.7\n", "txt:2: sector is '-2147483648'"),
        (BIOSNOOP_HEAD + BIOSNOOP_ROW + "0.1 x 1 sda W 8 40", "txt:3: the row is"),
        (BIOSNOOP_HEAD + BIOSNOOP_ROW + "rubbish\n", "txt:3: the row is 'rubbish'"),
        (BIOSNOOP_HEAD + "0.1 x 1 sda Q 8 4096 0.7\n", "txt:2: operation is 'Q'"),
        (BIOSNOOP_ROW + "0.1 x 1 sda W 8 8 0.7\n", "txt:2: bytes is '8', not a multiple of 512"),
        (
            "TIME(ms)     DISK    COMM             PID    LAT(ms)\n611 nvme0n1 bash 4179 10\n",
            "without T, SECTOR, BYTES: the written sectors are unknown (biosnoop of bcc",
        ),
        (
            XPERF_WRITE + "DiskWrite, 9, x (4), 8, 0xfa80, 0x1000\n",
            "txt:2: the event is 'DiskWrite, 9",
        ),
        (
            XPERF_WRITE + "DiskWrite, 9, x (4), 8, 0xfa80, 4096, 4096, 283, 2\n",
            "txt:2: the event is",
        ),
        (
            XPERF_WRITE + "DiskRead, 9, x (4), 8, 0xfa80, 0xffffffffffffffff, 0x1000, 283, 2\n",
            "txt:2: ByteOffset",
        ),
        (
            XPERF_WRITE + "DiskRead, TimeStamp, Process Name ( PID), IOSize, ByteOffset\n",
            "txt:2: the header is",
        ),
    ],
)
def test_a_damaged_row_names_its_line_and_what_is_missing_its_reason(
    tmp_path: Path, text: str, words: str
) -> None:
    assert words in refusal(read_as, tmp_path, text)


def test_tables_of_tools_are_read_in_pieces_and_by_device(tmp_path: Path) -> None:
    for name, head, row in (
        ("biosnoop", BIOSNOOP_HEAD, "{at}.5 x 1 sd{disk} W {sector} 4096 0.7\n"),
        ("xperf", DUMPER_HEAD, "DiskWrite, {at}, x (4), 8, 0xfa, 0x{byte:x}, 0x1000, 9, {disk}\n"),
    ):
        path = tmp_path / name
        lines = [
            row.format(
                at=at,
                disk="ab"[at % 2] if name == "biosnoop" else at % 2,
                sector=at * 8,
                byte=at * 4096,
            )
            for at in range(60_000)
        ]
        path.write_text(head + "".join(lines))
        pieces = list(read_pieces(traces.FORMATS[name], path, ReadOptions()))
        read = [piece() for piece in pieces]
        assert sum(piece.requests.height for piece in read) == 60_000
        trace = traces.read(path)
        assert len(trace.devices) == 2
        one = traces.to_pages(trace, 4096, device=trace.devices[1])
        assert int(one.count.sum()) == 30_000
