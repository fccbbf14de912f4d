"""Limits of what is read: special files, sizes, lines, declared rows, nesting."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import lzma
import os
import socket
import sqlite3
import struct
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import writeamp as wa
from in_process import refusal, run
from writeamp import system
from writeamp.custom.references import class_in
from writeamp.devices import toml_text
from writeamp.devices.profile import profile
from writeamp.differences.difference import result_document
from writeamp.drives.counters.document import load
from writeamp.drives.counters.families import families_in
from writeamp.drives.counters.reading import read_snapshots
from writeamp.drives.doctor.inputs import read_inputs
from writeamp.drives.histories.store import add, readings_in
from writeamp.drives.pins import capture
from writeamp.errors import WriteampError
from writeamp.files import inputs, pipes, tables
from writeamp.learn.blackbox import model_file
from writeamp.learn.blackbox.measurement_file import read_measurements, read_rows
from writeamp.learn.twin.chain import Chain
from writeamp.learn.twin.windows import read_windows, windows_of_csv
from writeamp.reports.embedding import report_in
from writeamp.results.documents import from_document, to_document
from writeamp.settings.experiment import Experiment
from writeamp.studies.sweep.plan import plan_of

MIB = 1 << 20
ROW = b"128166372003061629,hm,0,Write,4096,4096,100\n"


# Of each kind of file, its reader, and the limit in MiB; None if it is read in pieces.
READERS: dict[str, tuple[Callable[[Path], Any], int | None]] = {
    "trace": (wa.traces.read, None),
    "capture": (capture.read, None),
    "input of the doctor": (lambda path: read_inputs([path]), None),
    "experiment": (Experiment.from_toml, 4),
    "sweep": (plan_of, 4),
    "plan": (Chain.read, 4),
    "device profile": (profile, 4),
    "file of families": (families_in, 1),
    "Python file": (lambda path: class_in("managers", str(path), "Own"), 4),
    "report": (report_in, 4),
    "result": (result_document, 64),
    "counter document": (read_snapshots, 64),
    "file of windows": (read_windows, 64),
    "CSV of windows": (lambda path: windows_of_csv(path, None, None), 64),
    "measurements": (read_measurements, 256),
    "measurements so far": (read_rows, 256),
    "model": (model_file.load, 256),
}


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipes, "_PATIENCE_S", 0.0)


@contextmanager
def _memory_below(most_bytes: int) -> Iterator[None]:
    """Let a block allocate less memory than that at any time."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most_bytes
    finally:
        tracemalloc.stop()


def _sparse(path: Path, size: int) -> Path:
    """Write a file of zeros that take no space."""
    path.touch()
    os.truncate(path, size)
    return path


def _special(kind: str, folder: Path) -> Path:
    path = folder / "file.toml"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(path))
    else:
        path.symlink_to(kind)
    return path


@pytest.mark.parametrize("kind", ["/dev/zero", "/dev/null", "pipe", "socket"])
@pytest.mark.parametrize("name", READERS)
def test_a_special_file_is_refused_where_a_file_is_expected(
    name: str, kind: str, tmp_path: Path
) -> None:
    read, _ = READERS[name]
    with pytest.raises(WriteampError, match="not a regular file"):
        read(_special(kind, tmp_path))


@pytest.mark.parametrize("name", [name for name, (_, limit) in READERS.items() if limit])
def test_a_file_above_its_limit_is_refused_with_the_limit(name: str, tmp_path: Path) -> None:
    read, limit_mib = READERS[name]
    assert limit_mib is not None
    with pytest.raises(WriteampError, match=rf"larger than {limit_mib} MiB, the limit per "):
        read(_sparse(tmp_path / "file.toml", limit_mib * MIB + 1))


def test_the_files_of_one_snapshot_are_limited_together(tmp_path: Path) -> None:
    for name in ("a", "b"):
        _sparse(tmp_path / name, 33 * MIB)
    with pytest.raises(WriteampError, match="larger than 64 MiB"):
        read_snapshots(tmp_path)


def test_a_day_of_backblaze_may_be_larger_than_a_counter_document(tmp_path: Path) -> None:
    table = tmp_path / "2026-01-01.csv"
    table.write_bytes(b"date,serial_number,model\n")
    assert len(load(_sparse(table, 65 * MIB)).content) == 65 * MIB
    with pytest.raises(WriteampError, match="larger than 256 MiB"):
        load(_sparse(table, 256 * MIB + 1))


def test_a_page_of_ours_may_be_larger_than_a_foreign_one(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run("predict", f"--op 0.28 --report {page}")
    report = report_in(page)
    page.write_bytes(page.read_bytes() + b" " * (5 * MIB))
    assert report_in(page) == report


def _zstd_of_one_line(start: bytes, line_bytes: int) -> bytes:
    """Return a frame of a block as it is, and of blocks that each repeat one byte."""
    block_bytes = 128 << 10
    blocks = [struct.pack("<I", len(start) << 3)[:3] + start]
    repeated = struct.pack("<I", block_bytes << 3 | 1 << 1)[:3] + b"x"
    last = struct.pack("<I", 1 << 3 | 1)[:3] + b"\n"
    head = b"\x28\xb5\x2f\xfd\x00\x58"  # with a window of 2 MiB
    return head + b"".join([*blocks, *[repeated] * (line_bytes // block_bytes), last])


PACKERS = {
    "gz": lambda text: gzip.compress(text, 1),
    "xz": lambda text: lzma.compress(text, preset=0),
    "bz2": lambda text: bz2.compress(text, 1),
    "csv": bytes,
}


@pytest.mark.parametrize("rows", [0, 3])
def test_a_line_of_gigabytes_in_a_small_trace_takes_no_memory(rows: int, tmp_path: Path) -> None:
    path = tmp_path / "trace.zst"
    path.write_bytes(_zstd_of_one_line(ROW * rows, 4 << 30))
    assert path.stat().st_size < 140_000
    too_long = pytest.raises(WriteampError, match=f":{rows + 1}: the line is longer than 1 MiB")
    with _memory_below(128 * MIB), too_long:
        wa.traces.read(path)


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("more_rows", [0, 10])
def test_a_line_above_its_limit_is_named_in_any_compression(
    packing: str, more_rows: int, tmp_path: Path
) -> None:
    path = tmp_path / f"trace.{packing}"
    path.write_bytes(PACKERS[packing](ROW * 3 + b"x" * (MIB + 1) + b"\n" + ROW * more_rows))
    with pytest.raises(WriteampError, match=":4: the line is longer than 1 MiB, the limit per"):
        wa.traces.read(path, "msr")


def test_a_line_of_the_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_bytes(ROW * 3 + b" " * (MIB + 1 - len(ROW)) + ROW + ROW)
    assert wa.traces.read(path, "msr").requests.height == 5


def test_zstd_of_several_frames_is_read_and_a_cut_end_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "trace.zst"
    whole = _zstd_of_one_line(ROW * 3, 0)[:-4]
    frame = whole[:6] + struct.pack("<I", len(ROW * 3) << 3 | 1)[:3] + ROW * 3
    path.write_bytes(frame * 400)
    assert wa.traces.read(path, "msr").requests.height == 1200
    path.write_bytes(frame * 400 + frame[:-1])
    with pytest.raises(WriteampError, match="damaged or cut"):
        wa.traces.read(path, "msr")


@pytest.mark.parametrize("name", ["vscsi", "blktrace"])
def test_zeros_are_not_unpacked_as_a_binary_trace(name: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.gz"
    path.write_bytes(gzip.compress(bytes(16 * MIB), 1))
    with pytest.raises(WriteampError, match="the same byte"):
        wa.traces.read(path, name)


def test_rows_that_do_not_fit_in_memory_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "free_memory_bytes", lambda: MIB)
    path = tmp_path / "trace.parquet"
    pl.select(wa=pl.repeat(1.5, 100_000)).write_parquet(path)
    refusal = r"100,000 rows need about 0\.0 GiB of memory"
    with pytest.raises(OSError, match=refusal):
        tables.read_parquet(path.read_bytes())
    with pytest.raises(WriteampError, match=refusal):
        read_measurements(path)


def test_a_table_of_very_many_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(",".join(["wa", *map(str, range(10_000))]))
    for read in (read_measurements, lambda path: windows_of_csv(path, None, None)):
        with pytest.raises(WriteampError, match=r"more than 10,000 columns"):
            read(path)


def test_free_memory_obeys_the_limit_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = system.free_memory_bytes()
    assert 0 < machine < 2**50
    monkeypatch.setattr(system.resource, "getrlimit", lambda _: (MIB, MIB))
    assert system.free_memory_bytes() == 0


@pytest.mark.parametrize("text", ["[" + "[]," * 5_000_001 + "0]", '{"a": {"b": [' + "0," * 10**7])
def test_json_of_too_many_values_is_refused_before_they_are_made(text: str, tmp_path: Path) -> None:
    path = tmp_path / "document.json"
    path.write_text(text)
    readers = [result_document] if text[0] == "[" else [read_snapshots, result_document]
    with _memory_below(150 * MIB):
        for read in readers:
            with pytest.raises(WriteampError, match=r"not a JSON result|more than 10 million"):
                read(path)


@pytest.mark.parametrize(
    "text",
    [
        ".".join(["a"] * 100_000) + " = 1",
        "[" + " . ".join(['"a"', "'b'"] * 50_000) + "]",
        "x = { " + ".".join(["a"] * 100_000) + " = 1 }",
        "a = " + "[" * 100_000 + "]" * 100_000,
        "a = " + "[" * 40 + "]" * 40,
        "a = " + "{a = " * 100 + "1" + "}" * 100,
    ],
)
def test_toml_that_is_nested_deeply_is_refused_at_once(text: str) -> None:
    with pytest.raises(WriteampError, match="nested too deeply"):
        toml_text.parse(text, "text")


def test_toml_may_have_long_lists_and_texts_with_dots() -> None:
    text = f"a = [{'0.5, ' * 1000}]\nb = '{'two words. ' * 100}'\nc.d.e = 1"
    assert toml_text.parse(text, "text")["c"] == {"d": {"e": 1}}


def test_a_reading_of_a_history_is_unpacked_up_to_a_limit(tmp_path: Path) -> None:
    db = tmp_path / "history.db"
    add(db, [], [])
    with sqlite3.connect(db) as connection:
        packer = zlib.compressobj(1)
        bomb = b"".join(packer.compress(bytes(MIB)) for _ in range(140)) + packer.flush()
        connection.execute("INSERT INTO readings VALUES ('x', 0.0, 'd', ?)", [bomb])
    with pytest.raises(WriteampError, match="larger than 128 MiB"):
        list(readings_in(db))


def test_an_array_is_unpacked_up_to_its_shape() -> None:
    array = np.arange(3.0)
    document = to_document(array)
    kind = np.ndarray[Any, np.dtype[np.float64]]
    assert from_document(kind, document).tolist() == [0.0, 1.0, 2.0]
    document["zlib"] = base64.b64encode(zlib.compress(bytes(64 * MIB), 1)).decode()
    with _memory_below(8 * MIB), pytest.raises(WriteampError):
        from_document(kind, document)


@pytest.fixture
def pipe() -> Iterator[tuple[Path, Callable[..., threading.Thread]]]:
    """Pipe as a shell makes it of `<(…)`, and what writes to it from another thread."""
    reader, writer = os.pipe()
    threads = []

    def write(content: bytes, after_s: float = 0.0) -> threading.Thread:
        def work() -> None:
            time.sleep(after_s)
            with suppress(BrokenPipeError), os.fdopen(writer, "wb") as file:
                file.write(content)

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        return threads[-1]

    yield Path(f"/proc/self/fd/{reader}"), write
    os.close(reader)
    for one in threads:
        one.join()


@pytest.mark.parametrize("after_s", [0.0, 0.2])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_trace_is_read_from_a_pipe_also_of_a_slow_writer(
    pipe: Any, pack: Callable[[bytes], bytes], after_s: float
) -> None:
    path, write = pipe
    write(pack(ROW * 5000), after_s)
    for _ in range(2):  # the second time nobody writes
        assert wa.traces.read(path).requests.height == 5000
        assert len(inputs.identity(str(path))) == 64


def test_a_pipe_whose_writer_has_ended_is_read(pipe: Any) -> None:
    path, write = pipe
    write(ROW * 5).join()
    assert wa.traces.read(path, "msr").requests.height == 5


@pytest.mark.parametrize("name", ["experiment", "result", "counter document"])
def test_a_document_is_read_from_a_pipe_up_to_its_limit(name: str, pipe: Any) -> None:
    path, write = pipe
    read, limit_mib = READERS[name]
    assert limit_mib is not None
    write(b"# \n" * (limit_mib * MIB // 3 + 1))
    with pytest.raises(WriteampError, match=f"larger than {limit_mib} MiB, the limit per "):
        read(path)


def test_a_named_pipe_is_read_anew_when_another_program_writes(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    for text in ("first", "second"):
        handle = os.open(path, os.O_RDWR)  # there is a writer, and what it wrote, until it is read
        os.write(handle, text.encode())
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        threading.Timer(0.05, os.close, [handle]).start()
        assert inputs.read_bytes(path, MIB, "text") == text.encode()
        os.close(reader)
    assert inputs.read_bytes(path, MIB, "text") == b"second"


def test_a_stream_of_one_byte_and_a_device_are_refused_on_standard_input(
    pipe: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, write = pipe
    write(b"x" * (2 * MIB))
    with pytest.raises(WriteampError, match="begins with 1 MiB of the same byte"):
        wa.traces.read(path)
    with open("/dev/zero", encoding="utf-8") as device:
        monkeypatch.setattr("sys.stdin", device)
        with pytest.raises(WriteampError, match="standard input is a device"):
            wa.traces.read("-")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\0" * 2 * MIB)))
    with pytest.raises(WriteampError, match="standard input begins with 1 MiB"):
        wa.traces.read("-")


@pytest.mark.parametrize("verb", ["simulate", "sweep --out x", "report", "diff /dev/zero"])
def test_verbs_refuse_a_device_with_a_sentence(verb: str) -> None:
    assert "it is a device, not a regular file" in refusal(verb, "/dev/zero")


@pytest.mark.parametrize(
    "verb", ["simulate --trace {}", "trace info {}", "trace convert {} --to msr o.csv"]
)
def test_a_file_that_is_no_trace_is_not_quoted(tmp_path: Path, verb: str) -> None:
    path = tmp_path / "secrets"
    path.write_text("root:hunter2:0:0\nmore:of:it\n")
    said = refusal(verb.format(path), "")
    assert f"{path}: its first line is not a row of a known format; name the format" in said
    assert "hunter2" not in said
