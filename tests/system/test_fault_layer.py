"""The layer that lets calls to the file system fail, of which other tests make use."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from faults import DISK_FULL, EIO, KILLED_AMID, SHORT_WRITE, Fault, FaultLayer

# What each number is of the calls of the program: its log without descriptors that are only read.
CALLS = ["mkdir", "open", "pwrite64", "write", "fdatasync", "fsync", "ftruncate", "close", "rename"]
PROGRAM = """
import os
os.mkdir("new")
file = os.open("new/draft", os.O_CREAT | os.O_WRONLY)
done = os.pwrite(file, b"12345678", 0), os.write(file, b"abcd")
os.fdatasync(file)
os.fsync(file)
os.ftruncate(file, 8)
os.close(file)
os.replace("new/draft", "new/file")
print(*done)
"""
COMMAND = [sys.executable, "-I", "-S", "-c", PROGRAM]


def test_calls_that_write_are_counted(tmp_path: Path, fault_layer: FaultLayer) -> None:
    done = fault_layer.run(COMMAND, tmp_path)
    assert (done.returncode, done.stdout) == (0, "8 4\n")
    assert [call.name for call in fault_layer.calls] == CALLS
    assert [call.number for call in fault_layer.calls] == [*range(1, len(CALLS) + 1)]
    assert {call.written_bytes for call in fault_layer.calls} == {0, 4, 8}
    assert fault_layer.hits == 0


@pytest.mark.parametrize(
    ("number", "fault", "ends"),
    [
        *((CALLS.index(name) + 1, EIO, (1, "Errno 5")) for name in CALLS),
        (3, SHORT_WRITE, (0, "4 4")),
        (4, SHORT_WRITE, (0, "8 2")),
        (5, SHORT_WRITE, (0, "8 4")),
        (3, DISK_FULL, (1, "Errno 28")),
        (6, Fault("EDQUOT"), (1, "Errno 122")),
        (3, KILLED_AMID, (-9, "")),
    ],
)
def test_a_seeded_fault_is_hit(
    tmp_path: Path, fault_layer: FaultLayer, number: int, fault: Fault, ends: tuple[int, str]
) -> None:
    done = fault_layer.run(COMMAND, tmp_path, number, fault)
    assert done.returncode == ends[0]
    assert ends[1] in done.stdout + done.stderr
    failed = [call.number for call in fault_layer.calls if call.failed]
    assert len(failed) == fault_layer.hits
    assert failed[:1] == ([] if (number, fault) == (5, SHORT_WRITE) else [number])


def test_files_elsewhere_do_not_fail(tmp_path: Path, fault_library: Path) -> None:
    (tmp_path / "watched").mkdir()
    layer = FaultLayer(fault_library, tmp_path / "watched", tmp_path / "orders")
    assert layer.run(COMMAND, tmp_path, 1).returncode == 0
    assert layer.calls == []
