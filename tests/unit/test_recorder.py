"""The recorder without a kernel: trace pages, requests, owners of sectors, parts, refusals."""

from __future__ import annotations

import json
import os
import struct
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import in_process
import writeamp as wa
from places import ROOT
from samples import recorded
from writeamp.machine.signals import held_signals
from writeamp.recorder import disk as disks
from writeamp.recorder.disk import Disk
from writeamp.recorder.extents import NO_OWNER, Allocations, ExtentMap
from writeamp.recorder.fanotify import Deleted, Named, changes_in
from writeamp.recorder.files import RequestFile
from writeamp.recorder.identities import Identities
from writeamp.recorder.names import Names
from writeamp.recorder.parts import Parts, check_target, folder_of
from writeamp.recorder.processes import Process
from writeamp.recorder.recording import BlockRecording
from writeamp.recorder.requests import (
    ISSUED,
    QUEUED,
    REQUEUED,
    RequestReader,
    Requests,
    letters_of,
)
from writeamp.recorder.ring_buffer import EventLayout, Events, PageLayout, decode
from writeamp.recorder.rows import Counts, RowMaker, Totals
from writeamp.recorder.session import Session
from writeamp.recorder.settings import RecordSettings
from writeamp.recorder.split import pieces_of
from writeamp.text import Caution
from writeamp.traces.trace import OPERATIONS, SCHEMA
from writeamp.vssd.request_origins import RequestOrigins

DATA = ROOT / "tests/data/recorder"
PAGE = PageLayout.of_text((DATA / "header_page").read_text())
FIELDS = ("sector", "nr_sector", "rwbs", "common_pid", "comm")
KINDS = {
    name: EventLayout.of_text((DATA / f"{name.partition('/')[2]}.format").read_text(), FIELDS)
    for name in (ISSUED, QUEUED)
}
DISK = Disk("/dev/loop0", "loop0", 7 << 20, 7 << 20, 0, 1 << 20, has_requests=True)
# Above the most that a machine may allow, so that it is no thread of this machine.
THREAD = 5_000_000
WRITE, READ, FLUSH = (OPERATIONS.index(name) for name in ("write", "read", "flush"))


def page_of(entries: list[bytes], time_ns: int = 1000) -> bytes:
    """Return a page of a ring buffer."""
    content = b"".join(entries)
    return struct.pack("<QQ", time_ns, len(content)) + content.ljust(4080, b"\0")


def entry(number: int, delta_ns: int, data: bytes = b"") -> bytes:
    """Return an event of 12 words of data, whose first bytes are its number."""
    record = (struct.pack("<H", number) + data).ljust(48, b"\0")
    return struct.pack("<I", delta_ns << 5 | 12) + record


def test_a_page_that_a_kernel_wrote_is_decoded() -> None:
    events = decode([(DATA / "page.bin").read_bytes()], PAGE, KINDS)
    issued = events[ISSUED]
    assert issued.fields["sector"].tolist() == [0, 8, 16, 24, 0, 1104, 2128, 3152]
    assert issued.fields["rwbs"].tolist() == [b"WS"] * 4 + [b"R"] * 4
    assert set(issued.fields["comm"].tolist()) == {b"dd"}
    assert (np.diff(issued.time_ns) > 0).all()
    requests = RequestReader(DISK).read(events | {REQUEUED: events[ISSUED].take(slice(0))})
    # The reads are two bios, of which each is two requests.
    assert requests.thread.tolist() == issued.fields["common_pid"].tolist()
    assert requests.op.tolist() == [WRITE] * 4 + [READ] * 4


def test_all_kinds_of_entries_of_a_page_are_decoded() -> None:
    text = "ID: 7\nfield:char word[8];\toffset:2;\tsize:8;\tsigned:0;\n"
    kinds = {"event": EventLayout.of_text(text, ["word"])}
    stamp = 1 << 40
    entries = [
        entry(7, 5, b"old\0rest"),
        struct.pack("<II", 3 << 5 | 30, 2),  # more time than 27 bits have
        entry(9, 1),
        struct.pack("<II", 1 << 5 | 29, 4),  # a discarded entry
        struct.pack("<II", 4 << 5, 12) + b"\7\0long".ljust(8, b"\0"),  # with its length in a word
        struct.pack("<II", (stamp & (1 << 27) - 1) << 5 | 31, stamp >> 27),
        entry(7, 2, b"last"),
    ]
    events = decode([page_of(entries), page_of([entry(7, 1, b"next")], stamp + 9)], PAGE, kinds)
    later = 1005 + (3 | 2 << 27) + 1 + 4
    assert events["event"].time_ns.tolist() == [1005, later, stamp + 2, stamp + 10]
    assert events["event"].fields["word"].tolist() == [b"old", b"long", b"last", b"next"]


def test_a_field_that_the_kernel_lacks_is_named() -> None:
    with pytest.raises(wa.WriteampError, match="has no speed"):
        EventLayout.of_text("ID: 7\n", ["speed"])


def events_of(kind: str, rows: list[tuple[int, int, int, bytes, int]]) -> Events:
    """Return events of time, sector, sectors, RWBS and thread."""
    dtype = KINDS[ISSUED if kind == REQUEUED else kind].dtype
    fields = np.zeros(len(rows), dtype)
    for place, (_, sector, count, rwbs, thread) in enumerate(rows):
        fields[place] = (sector, count, rwbs, thread, b"kworker/0:1" if thread < 9 else b"app")
    return Events(np.array([row[0] for row in rows], np.int64), fields)


def read(reader: RequestReader, *, queued: list, issued: list, requeued: list = ()) -> list:  # type: ignore[type-arg,assignment]
    """Return sector and thread of each request."""
    events = {QUEUED: queued, ISSUED: issued, REQUEUED: requeued}
    requests = reader.read({kind: events_of(kind, list(rows)) for kind, rows in events.items()})
    return list(zip(requests.sector.tolist(), requests.thread.tolist(), strict=True))


def test_a_request_is_of_the_thread_that_queued_its_bio() -> None:
    reader = RequestReader(DISK)
    # Merged bios, and a bio that an earlier one of the same place is not taken for.
    queued = [(1, 80, 8, b"W", 11), (2, 88, 8, b"W", 12), (3, 500, 8, b"W", 14)]
    issued = [(5, 80, 16, b"W", 1), (6, 900, 8, b"W", 2), (7, 0, 0, b"FF", 1)]
    assert read(reader, queued=queued, issued=issued) == [(80, 11), (900, 0), (0, 0)]
    later = [(11, 500, 8, b"R", 15), (12, 500, 8, b"W", 16)]
    rows = [(13, 500, 8, b"W", 1), (14, 500, 8, b"R", 1)]
    assert read(reader, queued=later, issued=rows) == [(500, 16), (500, 15)]


def test_parts_of_a_bio_are_issued_later_and_a_request_twice() -> None:
    reader = RequestReader(DISK)
    assert read(reader, queued=[(1, 0, 2048, b"W", 20)], issued=[(2, 0, 1024, b"W", 1)]) == [
        (0, 20)
    ]
    rows = [(3, 1024, 1024, b"W", 1), (5, 1024, 1024, b"W", 1)]
    again = read(reader, queued=[], issued=rows, requeued=[(4, 1024, 1024, b"W", 1)])
    assert again == [(1024, 20)]


def test_bios_that_were_issued_do_not_hide_others() -> None:
    reader = RequestReader(DISK)
    journal = [(time, 1000 + 8 * time, 136 - 128 * (time % 2), b"W", 11) for time in range(1, 90)]
    again = [(time + 100, sector, 8, b"W", 11) for time, sector, *_ in journal]
    read(reader, queued=[*journal, *again], issued=[*journal, *again])
    assert reader._waiting is not None
    assert not len(reader._waiting.events.time_ns)
    queued, issued = (
        [(300, 0, 4096, b"W", 12)],
        [(301, 0, 2048, b"W", 1), (302, 2048, 2048, b"W", 1)],
    )
    assert read(reader, queued=queued, issued=issued) == [(0, 12), (2048, 12)]


def test_requests_outside_of_the_partition_and_other_commands_are_left_out() -> None:
    partition = Disk("/dev/sda1", "sda1", 0, 0, 100, 50, has_requests=True)
    reader = RequestReader(partition)
    issued = [(1, 99, 8, b"W", 30), (2, 149, 1, b"DS", 30), (3, 150, 8, b"W", 30)]
    issued += [(4, 120, 8, b"ZF", 30), (5, 120, 0, b"W", 30)]
    assert read(reader, queued=[], issued=issued) == [(149, 30)]
    assert +reader.left_out == {"events with RWBS ZF": 1, "requests without sectors": 1}
    assert read(reader, queued=[], issued=[(9, 100, 8, b"NS", 30)]) == [(100, 30)]
    assert (reader.zeroing_requests, reader.zeroed_bytes) == (1, 4096)
    assert letters_of(b"FWFSM") == (WRITE, 1, True, True, True, False)


@pytest.mark.parametrize("seed", range(5))
def test_each_sector_has_the_owner_of_its_time(seed: int) -> None:
    draws = np.random.default_rng(seed)
    owner = np.full((64,), NO_OWNER)
    extents = ExtentMap(Allocations.none())
    for turn in range(4):
        times = np.sort(draws.permutation(2000)[:1200]) + turn * 2000
        is_new = draws.random(1200) < 0.5
        first = draws.integers(0, 60, 1200)
        end = np.minimum(first + draws.integers(1, 12, 1200), 64)
        owners = draws.integers(0, 5, is_new.sum())
        new = Allocations(times[is_new], first[is_new], end[is_new], owners)
        asks = ~is_new
        pieces = pieces_of(times[asks], first[asks], end[asks], extents, new)
        expected, row = [], iter(owners)
        for low, high, allocates in zip(first, end, is_new, strict=True):
            if allocates:
                owner[low:high] = next(row)
            else:
                expected.append(owner[low:high].tolist())
        actual: list[list[int]] = [[] for _ in expected]
        for request, low, high, it in zip(*vars(pieces).values(), strict=True):
            actual[request] += [it] * (high - low)
        assert actual == expected
        sizes = np.bincount(pieces.request)
        changes = [1 + int((np.diff(each) != 0).sum()) for each in expected]
        assert sizes.tolist() == changes  # no piece more than there are owners


def test_a_request_without_sectors_is_one_piece() -> None:
    zero = np.zeros(2, np.int64)
    pieces = pieces_of(zero, zero, zero, ExtentMap(Allocations.none()), Allocations.none())
    assert pieces.request.tolist() == [0, 1]
    assert pieces.owner.tolist() == [NO_OWNER] * 2


def requests_of(*rows: tuple[int, str, int, int], **origins: list[str | None]) -> pl.DataFrame:
    """Return requests: time in ns, operation, and range in KiB."""
    time_ns, op, first, end = zip(*rows, strict=True)
    columns = {
        "timestamp_ns": time_ns,
        "op": op,
        "offset": [1024 * it for it in first],
        "length": [1024 * (end_ - it) for it, end_ in zip(first, end, strict=True)],
    }
    frame = pl.DataFrame(columns, {name: SCHEMA[name] for name in columns})
    if not origins:
        return frame
    names = pl.Series(origins["file"], dtype=pl.String)
    pid = pl.lit(1, pl.UInt32)
    return frame.with_columns(process=names + "er", pid=pid, file=names)


# The last request to a place counts; others come later, or to other places.
AT_THE_DEVICE = requests_of(
    (10, "write", 0, 64),
    (20, "write", 0, 8),
    (20, "write", 8, 12),
    (20, "write", 12, 30),
    (20, "write", 30, 31),
    (20, "write", 31, 40),
    (21, "flush", 0, 0),
    (90, "write", 0, 64),
    file=["old", "a", "b", "c", "d", "e", None, "later"],
)
OF_THE_DRIVE = requests_of(
    (1, "write", 0, 4), (19, "write", 4, 40), (20, "flush", 0, 0), (21, "read", 4, 40)
)


@pytest.mark.parametrize(
    ("settings", "rows", "shared_kib"),
    [
        # Pages are 16 KiB: the one from 0 is of a, that from 16 of c, and that from 32 of e.
        (
            {},
            [(0, 4, None), (4, 16, "a"), (16, 32, "c"), (32, 40, "e"), (0, 0, None), (4, 40, "a")],
            4 + 4 + 2,
        ),
        ({"page_bytes": None}, [(0, 4, None), (4, 40, "a"), (0, 0, None), (4, 40, "a")], 32),
        ({"first_counted": 2}, [(0, 4, None), (4, 40, "a"), (0, 0, None), (4, 40, "a")], 0),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 9])
def test_requests_of_a_drive_have_the_files_of_its_block_device(
    settings: dict[str, int | None],
    rows: list[tuple[int, int, str | None]],
    shared_kib: int,
    size: int,
) -> None:
    times = {"zero_ns": 2, "time_scale": 1.0, "page_bytes": 16 << 10, "first_counted": 0}
    blocks = [AT_THE_DEVICE[first : first + size] for first in range(0, 8, size)]
    origins = RequestOrigins(blocks, **{**times, **settings})  # type: ignore[arg-type]
    parts = [OF_THE_DRIVE[first : first + size] for first in range(0, 4, size)]
    named = pl.concat([origins.attributed(part) for part in parts])
    ends = (named["offset"] + named["length"]) // 1024
    found = list(zip(named["offset"] // 1024, ends, named["file"], strict=True))
    assert found == rows
    assert named["process"].to_list() == [file and f"{file}er" for _, _, file in rows]
    assert origins.shared_bytes == shared_kib * 1024


def allocations(*rows: tuple[int, int]) -> Allocations:
    """Return allocations of time and inode."""
    time_ns, inode = np.array(rows, np.int64).T
    return Allocations(time_ns, time_ns, time_ns + 1, inode)


def test_a_file_that_gets_the_inode_of_a_deleted_one_is_another_file() -> None:
    names = Names(2)
    names.add(11, 2, b"folder")
    names.add(12, 11, b"old")
    files = Identities(names)
    # The names are read after the second file was deleted, too.
    named = [(60, Named(12, 11, b"second", is_new=True)), (61, Named(12, 2, b"3", is_new=True))]
    freed = np.array([20, 40]), np.array([12, 12])
    files.advance(*freed, named, until_ns=50)
    owners = files.owners(allocations((10, 12), (30, 12), (45, 12), (46, 13))).owner.tolist()
    assert [files.path(it) for it in owners] == ["folder/old", "folder/second", "3", None]
    files.advance(*(np.empty(0, np.int64),) * 2, [(99, Named(12, 2, b"4", is_new=False))], 100)
    assert [files.path(it) for it in owners] == ["folder/old", "folder/second", "4", None]


def test_a_name_waits_for_the_end_of_the_file_of_before() -> None:
    names = Names(2)
    names.add(12, 2, b"old")
    files = Identities(names)
    none = np.empty(0, np.int64)
    files.advance(none, none, [(60, Named(12, 2, b"new", is_new=True))], until_ns=50)
    assert files.path(12) == "old"
    files.advance(np.array([55]), np.array([12]), [], until_ns=100)
    [owner] = files.owners(allocations((70, 12))).owner
    assert (files.path(12), files.path(int(owner))) == ("old", "new")


def test_a_late_rename_does_not_name_the_next_file() -> None:
    names = Names(2)
    names.add(12, 2, b"old")
    files = Identities(names)
    renamed = (60, Named(12, 2, b"renamed", is_new=False))
    files.advance(np.array([50]), np.array([12]), [renamed], until_ns=100)
    files.advance(np.array([150]), np.array([12]), [], until_ns=200)
    # The second file was deleted before its name was read.
    [owner] = files.owners(allocations((140, 12))).owner
    files.advance(*(np.empty(0, np.int64),) * 2, [(160, Named(12, 2, b"new", is_new=True))], 300)
    assert (files.path(12), files.path(int(owner))) == ("old", "new")


@pytest.mark.parametrize("seed", range(10))
def test_files_of_an_inode_have_only_their_own_names(seed: int) -> None:
    draws = np.random.default_rng(seed)
    millisecond = 1_000_000
    lives: list[tuple[int, str | None]] = []
    freed: list[int] = []
    changes: list[tuple[int, Named | Deleted]] = []
    now_ms = read_ms = 0

    def change(it: Named | Deleted) -> None:
        nonlocal read_ms
        read_ms = max(read_ms, now_ms + int(draws.integers(200) * draws.integers(2)))
        changes.append((read_ms * millisecond, it))

    for number in range(200):
        now_ms += 2
        name = f"file{number}" if draws.random() < 0.7 else None  # otherwise as by O_TMPFILE
        lives.append(((now_ms + 1) * millisecond, name))
        if name is not None:
            change(Named(12, 2, name.encode(), is_new=True))
        now_ms += int(draws.choice([2, 20, 400]))
        change(Deleted(12))
        now_ms += int(draws.choice([1, 1, 300]))
        freed.append(now_ms * millisecond)
    files = Identities(Names(2))
    owners: list[int] = []
    first_ns = 0
    for until_ms in [*range(0, now_ms, 100), None]:
        end_ns = freed[-1] + 1 if until_ms is None else until_ms * millisecond
        read_ns = end_ns + 250 * millisecond
        of_call = np.array([at for at in freed if first_ns <= at < end_ns], np.int64)
        taken = [each for each in changes if each[0] <= read_ns]
        del changes[: len(taken)]
        inodes = np.full(len(of_call), 12)
        files.advance(of_call, inodes, taken, None if until_ms is None else end_ns)
        rows = [(at, 12) for at, _ in lives if first_ns <= at < end_ns]
        owners += files.owners(allocations(*rows)).owner.tolist() if rows else []
        first_ns = end_ns
    assert [files.path(owner) for owner in owners] == [name for _, name in lives]


def test_a_hard_link_names_a_file_whose_first_name_is_gone() -> None:
    names = Names(2)
    names.add(12, 2, b"data")
    inodes = {"data": 12}
    files = Identities(names, inodes.get)
    none = np.empty(0, np.int64)
    files.advance(none, none, [(10, Named(12, 2, b"link", is_new=True))], until_ns=20)
    assert files.path(12) == "data"
    inodes.clear()  # as by `ln data link; rm data`
    files.advance(none, none, [(30, Named(12, 2, b"link", is_new=True))], until_ns=40)
    assert files.path(12) == "link"


def test_identities_of_very_many_files_stay_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("writeamp.recorder.identities._MOST_REUSED", 10)
    names = Names(2)
    names.add(12, 2, b"old")
    files = Identities(names)
    second = 1_000_000_000
    named = [(second + 2, Named(12, 2, b"new", is_new=True))]
    files.advance(np.array([second + 1]), np.array([12]), named, second + 10)
    [owner] = files.owners(allocations((second + 3, 12))).owner.tolist()
    for turn in range(2, 50):
        freed = np.arange(100 * turn, 100 * turn + 100)
        files.advance(np.full(100, turn * second), freed, [], turn * second + 10)
    assert files.path(owner) == "new"
    [owner] = files.owners(allocations((50 * second, 12))).owner.tolist()
    assert (files.path(owner), files.inode(owner)) == ("new", 12)
    assert len(files._current) == len(files._inodes) == 10
    assert len(files._ended) == 100
    assert len(files._dead) == 1


def test_names_are_read_from_fanotify() -> None:
    def info(kind: int, handle: bytes, handle_type: int, name: bytes = b"") -> bytes:
        length = 20 + len(handle) + len(name)
        head = struct.pack("=BBH8xIi", kind, 0, length, len(handle), handle_type)
        return head + handle + name

    folder = info(2, struct.pack("<II", 2, 9), 1, b"db-journal\0\0")
    infos = [
        folder + info(1, struct.pack("<QI", 2**33, 9), 0x81),
        folder,  # an event without the file
        folder + info(1, b"x" * 4, 0x55),  # a handle without an inode number
    ]
    events = [(0x100, each) for each in infos]
    events.append((0x400, info(1, struct.pack("<II", 12, 9), 1)))
    events.append((0x40000400, info(3, struct.pack("<II", 13, 9), 1)))  # a folder
    content = b"".join(
        struct.pack("=IBBHQii", 24 + len(each), 3, 0, 24, mask, -1, 1) + each
        for mask, each in events
    )
    changes = [Named(2**33, 2, b"db-journal", is_new=True), Deleted(12), Deleted(13)]
    assert list(changes_in(content)) == changes
    assert list(changes_in(content[:-30] + b"\0" * 30))  # a damaged end does not hang


def rows_of(*offsets: int) -> pl.DataFrame:
    """Return rows of writes."""
    requests = RequestReader(DISK).read(
        {
            QUEUED: events_of(QUEUED, [(9, at, 8, b"WFS", THREAD) for at in offsets]),
            ISSUED: events_of(ISSUED, [(9, at, 8, b"WFS", THREAD) for at in offsets]),
            REQUEUED: events_of(REQUEUED, []),
        }
    )
    return RowMaker(DISK.first_sector, None, is_anonymous=False).rows(requests, 0)


def test_parts_become_one_trace_and_the_oldest_are_removed(tmp_path: Path) -> None:
    target = tmp_path / "t.parquet"
    columns = rows_of(0).columns
    parts = Parts(target, "loop0", columns, None)
    for offset in (8, 16):
        path = parts.add(rows_of(offset)) or parts.write()
        assert path is not None
        assert wa.traces.read(path).requests["offset"].to_list() == [offset * 512]
    for may_replace in (False, True):
        with pytest.raises(wa.WriteampError, match="of a recording that still runs"):
            check_target(target, may_replace=may_replace)
    os.close(parts._lock)  # as the kernel does if the recorder is killed
    with pytest.raises(wa.WriteampError, match="was killed; each is a trace"):
        check_target(target, may_replace=False)
    parts._lock = os.open(tmp_path, os.O_RDONLY)
    parts.join(may_replace=False)
    trace = pl.read_parquet(target)
    assert trace["offset"].to_list() == [4096, 8192]
    assert trace["fua"].all()
    assert (trace["process"][0], trace["pid"][0]) == ("app", THREAD)
    assert wa.traces.read(target).devices == ["loop0"]
    assert not folder_of(target).exists()
    small = Parts(target, "loop0", columns, 1)
    for offset in (8, 16):
        small.add(rows_of(offset, offset + 100))
    assert small.removed_rows == 2


def test_names_are_hashed_differently_in_each_recording() -> None:
    first, second = (RowMaker(0, None, is_anonymous=True)._shown for _ in range(2))
    assert first("a/b") == first("a/b") != second("a/b")
    assert [len(piece) for piece in first("a/b").split("/")] == [12, 12]
    assert first("a/b").split("/")[0] == first("a/c").split("/")[0]


class Files:
    """Files of requests, each with the name and writer that were given for it."""

    def __init__(self, *files: tuple[str | None, str | None]) -> None:
        self._files = [
            RequestFile(name, None if writer is None else Process(THREAD, writer))
            for name, writer in files
        ]

    def attributed(
        self, requests: Requests
    ) -> tuple[Requests, list[RequestFile], np.ndarray[Any, np.dtype[np.int64]]]:
        """Return each request with its own file."""
        return requests, self._files, np.arange(requests.size)


def requests_of(*names: bytes) -> Requests:
    """Return a write of a thread for each name that the thread has."""
    count = len(names)
    columns = {name: np.zeros(count, bool) for name in ("is_fua", "is_metadata")}
    return Requests(
        time_ns=np.arange(count),
        op=np.full(count, WRITE, np.int8),
        sector=np.arange(count) * 8,
        sectors=np.full(count, 8),
        thread=np.full(count, THREAD, np.int32),
        comm=np.array(names, "S16"),
        **columns,
    )


def processes_of(names: list[bytes], files: Files | None) -> list[str]:
    """Return the processes in the rows of writes."""
    rows = RowMaker(0, files, is_anonymous=False).rows(requests_of(*names), 0)  # type: ignore[arg-type]
    return rows["process"].to_list()


def test_a_thread_that_changes_its_name_has_both() -> None:
    assert processes_of([b"bash", b"dd", b"bash"], None) == ["bash", "dd", "bash"]


def test_only_writers_for_others_give_their_writes_to_the_writer_of_the_file() -> None:
    names = [b"sync", b"syncthing", b"kworker/u8:1", b"btrfs-convert", b"jbd2/sda1-8", b"sync"]
    files = Files(*[("a", "app")] * 5, ("b", None))
    assert processes_of(names, files) == [
        *("app", "syncthing", "app", "btrfs-convert", "app", "sync")
    ]


def test_only_the_names_of_journal_and_metadata_are_not_hashed() -> None:
    files = Files(("[journal]", None), ("[metadata]", None), ("[Alice/salary]", None))
    maker = RowMaker(0, files, is_anonymous=True)  # type: ignore[arg-type]
    rows = maker.rows(requests_of(b"[app]", b"app", b"app"), 0)
    assert rows["file"].to_list()[:2] == ["[journal]", "[metadata]"]
    assert not {"[Alice", "salary]", "[app]"} & {*rows["file"][2].split("/"), *rows["process"]}


def test_totals_of_very_many_names_stay_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("writeamp.recorder.rows._MOST_NAMES", 3)
    monkeypatch.setattr("writeamp.recorder.rows._NAMES_AFTERWARDS", 1)
    totals = Totals()
    totals.add(["a", "b", "c", "d", None], np.array([1, 5, 2, 3, 7]))
    assert (dict(totals.bytes), totals.others_bytes, totals.unknown_bytes) == ({"b": 5}, 6, 7)


def test_the_picture_has_the_processes_and_files_that_wrote_most() -> None:
    figure = recorded().figure()
    assert figure.bars == ("sqlite3", "unknown", "db.sqlite", "[journal]")
    assert figure.sections == ("process", "process", "file", "file")
    assert figure.layers[0].values == (0.008192, 0.004096, 0.008192, 0.004096)
    assert replace(recorded(), has_files=False).figure().sections == ("process", "process")
    with pytest.raises(wa.WriteampError, match="nothing was written to nvme0n1"):
        replace(recorded(), counts=Counts()).figure()


def test_disks_of_disks_are_refused_by_name(tmp_path: Path) -> None:
    for name in ("dm", "slaves/sdb1", "slaves/sda2"):
        (tmp_path / name).mkdir(parents=True)
    with pytest.raises(wa.WriteampError, match=r"of device mapper; .*: /dev/sda2, /dev/sdb1"):
        disks._check_is_lowest("/dev/dm-0", tmp_path)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("/dev/null --out t.parquet", "/dev/null is not a block device"),
        ("/dev/no --out t.parquet", "cannot be opened (No such file or directory)"),
        ("/dev/no --out t.csv", "use the suffix .parquet"),
        ("/dev/no --out t.parquet --for 1s -- true", "exclude each other"),
        ("/dev/no --out t.parquet --for 1x", "--for is '1x'"),
        ("/dev/no --out t.parquet -- ''", "the command is empty"),
    ],
)
def test_what_cannot_be_recorded_is_refused(arguments: str, sentence: str) -> None:
    refused = in_process.run("trace record", arguments)
    assert refused.status == 2
    assert sentence in refused.err


@pytest.mark.parametrize(
    ("lost", "exit_status", "options", "status"),
    [(20, 0, "", 0), (21, 0, "", 3), (21, 0, "--allow-loss", 0), (21, 7, "", 1)],
)
def test_the_status_says_what_failed(
    monkeypatch: pytest.MonkeyPatch, lost: int, exit_status: int, options: str, status: int
) -> None:
    result = replace(recorded(), events=19_999, lost_events=lost, run_exit_status=exit_status)
    monkeypatch.setattr("writeamp.recorder.functions.record", lambda *_, **__: result)
    done = in_process.run("trace record", f"/dev/x --out t.parquet --json {options}")
    assert done.status == status, done.err
    assert json.loads(done.out)["lost_share"] == lost / (19_999 + lost)
    assert ("at most 0.1% may be" in done.err) == (status == 3)


@pytest.mark.parametrize(
    ("written", "headline"),
    [(0, "Nothing was written to nvme0n1 in 2 s."), (12288, "12 KiB"), (1 << 20, "1 MiB")],
)
def test_a_recording_that_blame_cannot_use_has_no_next_command(
    monkeypatch: pytest.MonkeyPatch, written: int, headline: str
) -> None:
    counts = replace(recorded().counts, bytes=Counter(write=written))
    if not written:
        counts = Counts(requests=Counter(flush=1))
    result = replace(recorded(), counts=counts)
    monkeypatch.setattr("writeamp.recorder.functions.record", lambda *_, **__: result)
    done = in_process.run("trace record", "/dev/x --out t.parquet")
    assert done.status == 0
    assert done.out.startswith(headline)
    assert ("Written bytes by" in done.out) == (written > 0)
    assert ("next: writeamp blame" in done.out) == (written == 1 << 20)


def test_recording_needs_linux_and_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("writeamp.recorder.functions.disk_of", lambda _: DISK)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(wa.WriteampError, match="needs root"):
        wa.record("/dev/loop0", tmp_path / "t.parquet")
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(wa.WriteampError, match="needs Linux"):
        wa.record("/dev/loop0", tmp_path / "t.parquet")


def test_a_file_system_that_cannot_be_synced_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("writeamp.recorder.session.points_of", lambda _: ["/no"])
    session = Session(DISK, None, tmp_path / "t", RecordSettings(), "true", None, None)
    session._write_back("may be in the trace", None)
    [remark] = session.remarks
    assert isinstance(remark, Caution)
    assert remark.startswith("data of /no may be in the trace: sync failed")


def test_a_recording_that_fails_warns_at_once_and_the_command_ends_by_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Failed(BlockRecording):
        def __init__(self) -> None:
            self.error = wa.WriteampError("the disk is full")
            self.parts = Parts(tmp_path / "t.parquet", "loop0", [], None)

        def stop(self) -> None:
            self.check()

    monkeypatch.setattr("writeamp.recorder.session.points_of", lambda _: [])
    warnings: list[str] = []
    session = Session(
        DISK,
        None,
        tmp_path / "t",
        RecordSettings(),
        "sleep 0.1; exit 7",
        None,
        None,
        warnings.append,
    )
    recording = Failed()
    with held_signals() as signals:
        ended = session._wait(recording, signals)
    with pytest.raises(wa.WriteampError, match=r"Its parts are in .*; .* ended with status 7"):
        session._stop(recording, ended)
    assert len(warnings) == 1
    assert warnings[0].endswith("The command continues, but is no longer recorded")


def test_the_number_of_rows_is_without_removed_ones() -> None:
    counts = replace(recorded().counts, split_requests=4)
    document = replace(recorded(), counts=counts, removed_requests=5).to_dict()
    assert (document["requests"], document["trace_requests"]) == (3, 2)


def test_requests_that_the_statistics_count_and_the_trace_lacks_are_a_warning() -> None:
    result = replace(recorded(), lost_events=0, statistics_bytes=(1 << 20) + 12288)
    assert not [note for note in result.notes if isinstance(note, Caution)]
    result = replace(result, statistics_bytes=2 << 20, lost_events=3, remarks=["x"])
    assert [isinstance(note, Caution) for note in result.notes[:3]] == [True, True, False]
    assert result.notes[1].startswith("12 KiB of the 2 MiB that were written")
