"""Bytes that a command passes to write() on a virtual drive: counts and unknown values."""

from __future__ import annotations

import re
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from served import MOUNTING, needs, serve
from writeamp.machine import bpf

PAGE = 4096
SPACE = {"ext4": "--device ssd-v --size 64MiB", "xfs": "--device ssd-v --size 320MiB"}


def _is_tracing_allowed() -> bool:
    try:
        with ExitStack() as undo:
            bpf.array_map(undo, 1)
    except OSError:
        return False
    return True


pytestmark = [
    needs(*MOUNTING, root=True),
    pytest.mark.skipif(not _is_tracing_allowed(), reason="needs a kernel that allows BPF"),
]

# 200 pages of a file that is in the page cache as one large folio, each synchronised.
ONE_PAGE_SYNCHRONISED = """
import os, random
file = os.open("mnt/file", os.O_RDWR | os.O_CREAT)
os.write(file, bytes(4 << 20)); os.fsync(file)
random.seed(2)
for _ in range(200):
    os.pwrite(file, b"x" * 4096, random.randrange(1024) * 4096); os.fsync(file)
"""
MAPPED = """
import mmap, os
file = os.open("mnt/file", os.O_RDWR | os.O_CREAT)
os.ftruncate(file, 4 << 20)
with mmap.mmap(file, 4 << 20) as memory:
    for page in range(1024):
        memory[page * 4096] = 1
os.write(file, b"x")
"""
# The parent is never told what the child wrote: the kernel drops it.
UNREAPED_CHILD = """
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork() == 0:
    open("mnt/file", "wb").write(bytes(1_000_000))
    os._exit(0)
try: os.wait()
except ChildProcessError: pass
"""
SENT = """
import os
out = os.open("mnt/file", os.O_WRONLY | os.O_CREAT)
os.sendfile(out, os.open("elsewhere", os.O_RDONLY), 0, 1_000_000)
"""
ELSEWHERE = "head -c 1000000 /dev/zero > elsewhere; "
FIO = (
    "fio --name=w --directory=mnt --rw=randwrite --bs=4k --size=1M --fallocate=none "
    "--create_on_open=1 --output=fio.txt"
)


def _layers(folder: Path, command: str, file_system: str = "ext4") -> dict[str, Any]:
    arguments = f"{SPACE.get(file_system, '--size 128MiB')} --mount mnt --fs {file_system} --json"
    done = serve(arguments, folder, run=command)
    assert done.status == 0, done.err
    layers: dict[str, Any] = done.document["layers"]
    return layers


def _python(folder: Path, program: str) -> str:
    (folder / "program.py").write_text(program)
    return f"{sys.executable} program.py"


class TestCounted:
    @pytest.mark.parametrize("file_system", ["ext4", pytest.param("xfs", marks=needs("mkfs.xfs"))])
    def test_synchronised_pages_count_as_such(self, folder: Path, file_system: str) -> None:
        layers = _layers(folder, _python(folder, ONE_PAGE_SYNCHRONISED), file_system)
        assert layers["application_bytes"] == (4 << 20) + 200 * PAGE
        assert layers["application_method"] == "tracepoints"
        assert layers["factors"]["file_system"] is not None
        # The kernel counts a folio of 2 MiB for each of the pages.
        assert layers["application_storage_bytes"] is None
        assert list(layers["unknown"]) == ["application_storage_bytes"]

    @pytest.mark.parametrize(
        ("program", "command", "written_bytes"),
        [
            ("", f"{ELSEWHERE} cat elsewhere elsewhere | cat | head -c 9000 > mnt/file", 9000),
            ("", "dd if=/dev/zero of=mnt/file bs=64K count=16 oflag=direct status=none", 1 << 20),
            (
                "",
                "dd if=/dev/zero of=mnt/file bs=64K count=1 oflag=direct status=none; "
                "dd if=mnt/file of=/dev/null bs=64K iflag=direct status=none",
                1 << 16,
            ),
            (UNREAPED_CHILD, f"{sys.executable} program.py", 1_000_000),
            (SENT, f"{ELSEWHERE} {sys.executable} program.py", 1_000_000),
            ("", ELSEWHERE, 0),
        ],
        ids=["pipes", "direct", "direct reads", "unreaped child", "sendfile", "elsewhere"],
    )
    def test_only_writes_to_the_drive_count(
        self, folder: Path, program: str, command: str, written_bytes: int
    ) -> None:
        _python(folder, program)
        layers = _layers(folder, command)
        assert layers["application_bytes"] == written_bytes
        assert (layers["factors"]["file_system"] is None) == (written_bytes == 0)

    @needs("fio")
    @pytest.mark.parametrize("engine", ["libaio --direct=1", "io_uring", "io_uring --direct=1"])
    def test_asynchronous_writes_count(self, folder: Path, engine: str) -> None:
        layers = _layers(folder, f"{FIO} --ioengine={engine} --iodepth=8")
        assert layers["application_bytes"] == 1 << 20


class TestUnknown:
    @pytest.mark.parametrize("file_system", ["ext4", pytest.param("xfs", marks=needs("mkfs.xfs"))])
    def test_stores_to_mapped_files_make_it_unknown(self, folder: Path, file_system: str) -> None:
        layers = _layers(folder, _python(folder, MAPPED), file_system)
        assert layers["application_bytes"] is None
        assert layers["factors"]["file_system"] is None
        assert "stored to mapped files" in layers["unknown"]["application_bytes"]
        assert layers["file_system_bytes"] >= 4 << 20

    def test_the_table_says_so(self, folder: Path) -> None:
        done = serve(f"{SPACE['ext4']} --mount mnt", folder, run=_python(folder, MAPPED))
        assert re.search(r"passed to write\(\) +│ +unknown", done.out)
        assert (
            "the ratio of file system to application bytes is unknown: the command stored to "
            "mapped files" in done.err
        )

    @needs("mkfs.btrfs")
    def test_a_file_system_without_tracepoints_has_no_factor(self, folder: Path) -> None:
        layers = _layers(folder, "head -c 2000000 /dev/zero | cat > mnt/file", "btrfs")
        # Both programs, one of which wrote to a pipe.
        assert layers["application_bytes"] >= 4_000_000
        assert layers["application_method"] == "wchar"
        assert layers["factors"]["file_system"] is None
        assert "not support the tracepoints of btrfs" in layers["unknown"]["factors.file_system"]
