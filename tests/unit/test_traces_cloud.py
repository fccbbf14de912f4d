"""Formats of published traces that are only read, and what is told of others."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from places import SHARED
from refusals import refusal
from trace_files import WRITE_D, WRITE_Q, read_as, record
from writeamp import traces
from writeamp.errors import WriteampError

ROWS = [
    (0, 0, "write", 4096, 8192),
    (1_000_000, 0, "read", 512, 1024),
]


def relative(trace: traces.Trace) -> list[tuple[object, ...]]:
    first = trace.requests["timestamp_ns"][0]
    return [(row[0] - first, *row[1:]) for row in trace.requests.rows()]


SYSTOR = """Timestamp,Response,IOType,LUN,Offset,Size
1456095145.133076000,0.000806000,W,2,4096,8192
1456095145.133576000,,,2,0,512
1456095145.134076000,,R,2,512,1024
"""
FIU = """89968195792462 20782 gzip 8 16 W 6 0 56f11b711d91a065a2b6458eca924523
89968196792462 20782 Web Content 1 2 R 6 0 56f11b711d91a065a2b6458eca924523
"""
LIBCACHESIM = "version,time,op,size,lbn\n1,5,2a,8192,8\n1,5.001,28,1024,1\n"


def vscsi(version: int, *commands: tuple[int, int, int, int]) -> bytes:
    """Return records of command, sector, bytes and us."""
    if version == 1:
        return b"".join(
            struct.pack("<IIIHHQQ", at, length, 1, command, 0x100, sector, us)
            for at, (command, sector, length, us) in enumerate(commands)
        )
    return b"".join(
        struct.pack("<HHIIIQQQ", command, 0x200, at, length, 1, sector, us, 77)
        for at, (command, sector, length, us) in enumerate(commands)
    )


@pytest.mark.parametrize(
    ("name", "content", "devices"),
    [
        ("systor", SYSTOR, ["2"]),
        ("fiu", FIU, ["6,0"]),
        ("libcachesim", LIBCACHESIM, ["0"]),
        ("vscsi", vscsi(1, (0x2A, 8, 8192, 5000), (0x28, 1, 1024, 6000)), ["0"]),
        ("vscsi", vscsi(2, (0x8A, 8, 8192, 5000), (0x08, 1, 1024, 6000)), ["0"]),
        ("blktrace", record(50, WRITE_Q, 8, 8192) + record(1_000_050, 1 << 16 | 1, 1, 1024),
         ["8,16"]),
        ("blktrace", record(50, WRITE_Q, 8, 8192, order=">")
         + record(1_000_050, 1 << 16 | 1, 1, 1024, order=">"), ["8,16"]),
    ],
)  # fmt: skip
def test_two_requests_read_the_same_and_are_detected(
    tmp_path: Path, name: str, content: bytes | str, devices: list[str]
) -> None:
    found = read_as(tmp_path, content)
    assert (found.format, relative(found), found.devices) == (name, ROWS, devices)
    assert read_as(tmp_path, content, name).requests.equals(found.requests)
    with pytest.raises(WriteampError, match=f"cannot be written as {name}"):
        traces.write(found, tmp_path / "out", name)


def test_systor_rows_without_a_type_are_counted(tmp_path: Path) -> None:
    assert "left out: 1 rows without IOType" in read_as(tmp_path, SYSTOR).notes


def test_systor_without_a_header_reads_the_same(tmp_path: Path) -> None:
    bare = read_as(tmp_path, SYSTOR.partition("\n")[2])
    assert bare.requests.equals(read_as(tmp_path, SYSTOR).requests)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("systor", SYSTOR + "1.5,0.1,X,0,0,512\n", ":5: IOType is 'X'"),
        ("systor", SYSTOR + "1.5,0.1,W,0,512\n", ":5: the row has 5 columns"),
        ("fiu", FIU + "1 2 x 8 W 6 0 5\n", ":3: "),
        ("libcachesim", LIBCACHESIM + "1,6,35,0,0\n", ":4: op is '35'"),
        ("vscsi", vscsi(1, (0x2A, 8, 8192, 5000))[:-4] + b"", "not a VSCSI trace"),
        ("vscsi", vscsi(1, *[(0x2A, 8, 8192, 5000)] * 40) + b"\0" * 7, "ends within record 41"),
        ("vscsi", vscsi(1, *[(0x2A, 8, 8, 5)] * 40) + vscsi(2, (0x2A, 8, 8, 5))[:32],
         "record 41 has another version"),
        ("vscsi", vscsi(1, (0x2A, 1 << 63, 8, 5)), "record 1 has an lbn above"),
        ("blktrace", record(1, WRITE_Q, 8, 512)[:-1], "ends within the record at byte 0"),
        ("blktrace", record(1, WRITE_Q, 8, 512) + b"\7tae", "ends within the record at byte 48"),
        ("blktrace", record(1, WRITE_Q, 8, 512) + b"x" * 48, "at byte 48, there must be a record"),
        ("blktrace", record(1, WRITE_D, 8, 512), "no event has the default action Q"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(
    tmp_path: Path, name: str, content: bytes | str, words: str
) -> None:
    assert words in refusal(read_as, tmp_path, content, name)


def test_other_scsi_commands_are_counted_and_flushes_kept(tmp_path: Path) -> None:
    content = vscsi(1, (0x2A, 8, 512, 1), (0x42, 0, 24, 2), (0x35, 9, 0, 3))
    found = read_as(tmp_path, content)
    assert found.requests["op"].to_list() == ["write", "flush"]
    assert found.requests["offset"].to_list() == [4096, 0]
    assert any("1 of 0x42" in note for note in found.notes)


def test_the_files_of_all_cpus_are_merged_by_time(tmp_path: Path) -> None:
    notify = 1 << 26
    (tmp_path / "sda.blktrace.0").write_bytes(
        record(0, notify, 0, 0, data=b"bash\0\0\0\0")
        + record(10, WRITE_Q, 8, 512)
        + record(30, WRITE_Q, 24, 512)
    )
    (tmp_path / "sda.blktrace.1").write_bytes(record(20, WRITE_Q, 16, 512))
    (tmp_path / "sdb.blktrace.0").write_bytes(record(25, WRITE_Q, 80, 512))
    found = traces.read(tmp_path / "sda.blktrace.1")
    assert [offset // 512 for offset in found.requests["offset"]] == [8, 16, 24]
    assert "2 file(s), merged by time" in found.notes[0]


def test_discards_are_trims_and_flushes_without_sectors_flushes(tmp_path: Path) -> None:
    discard, flush = 1 << 29 | 2 << 16 | 1, 1 << 18 | 2 << 16 | 1
    records = record(1, discard), record(2, flush, 0, 0), record(3, flush)
    found = read_as(tmp_path, b"".join(records))
    assert found.requests["op"].to_list() == ["trim", "flush", "write"]


@pytest.mark.parametrize("name", ["trace", "w1.oracleGeneral"])
def test_oracle_general_is_refused_with_its_reason(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(
        b"".join(struct.pack("<IQIq", 5 + at, at % 3, 4096, at + 3) for at in range(9))
    )
    with pytest.raises(WriteampError, match="does not distinguish reads and writes"):
        traces.read(path)


@pytest.mark.skipif(not SHARED.exists(), reason="needs published traces")
def test_published_vscsi_and_its_csv_hold_the_same_requests() -> None:
    binary = traces.read(SHARED / "traces" / "libcachesim_cloudPhysicsIO.vscsi")
    text = traces.read(SHARED / "traces" / "libcachesim_cloudPhysicsIO.csv")
    assert (binary.format, text.format) == ("vscsi", "libcachesim")
    columns = ["op", "offset", "length"]
    assert binary.requests.select(columns).equals(text.requests.select(columns))
    with pytest.raises(WriteampError, match="does not distinguish reads and writes"):
        traces.read(SHARED / "traces" / "libcachesim_cloudPhysicsIO.oracleGeneral.bin")


@pytest.mark.skipif(not SHARED.exists(), reason="needs published traces")
def test_a_published_blktrace_is_read_whole() -> None:
    path = SHARED / "traces" / "blktrace_bin" / "keks.blktrace.3"
    found = traces.read(path, action="D")
    assert (found.requests.height, found.devices) == (1192, ["8,52"])
    assert found.requests["timestamp_ns"].is_sorted()
