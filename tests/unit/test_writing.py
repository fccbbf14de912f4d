"""Writes to real drives come from one package, whose places were checked and are held."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import writeamp as wa
from stand_in_drives import unchecked
from writeamp.drives.devices.writing import TargetPlace

ROOT = Path(wa.__path__[0])
WRITING = "writeamp.drives.devices.writing"
# Modules that start programs: those that read drives, and the command that a user gives.
STARTING = {"drives/devices/reading.py": "subprocess", "drives/devices/run.py": "run_command"}

WRITING_FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"}
WRITING_CALLS = {
    "copy_file_range", "fallocate", "ftruncate", "ioctl", "posix_fallocate", "pwrite", "pwritev",
    "sendfile", "setxattr", "truncate", "write_bytes", "write_text",
}  # fmt: skip
STARTERS = {
    "Popen", "create_subprocess_exec", "create_subprocess_shell", "popen", "posix_spawn",
    "posix_spawnp", "run_command", "subprocess", "system",
}  # fmt: skip
STARTING_PREFIXES = ("exec", "spawn")


def faults(source: str) -> Iterator[str]:
    """Give what of a source may write to a device, or start a program that does."""
    for node in ast.walk(ast.parse(source)):
        for name in _names(node):
            if name in WRITING_FLAGS | WRITING_CALLS | STARTERS:
                yield name
        if isinstance(node, ast.Call) and _opens_for_writing(node):
            yield "open"
        yield from _of_os(node)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{WRITING}."):
            yield str(node.module)
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name.startswith(WRITING))
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "TargetPlace":
            yield "TargetPlace"


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [one.name for one in node.names] + [getattr(node, "module", None) or ""]
    return []


def _of_os(node: ast.AST) -> Iterator[str]:
    is_of_os = isinstance(node, ast.Attribute) and ast.unparse(node.value) == "os"
    if is_of_os and (node.attr.startswith(STARTING_PREFIXES) or node.attr == "write"):
        yield node.attr


def _opens_for_writing(call: ast.Call) -> bool:
    """Return whether a call of `open`, as a function or a method, has a mode that writes."""
    called = call.func
    is_method = isinstance(called, ast.Attribute)
    if (called.attr if is_method else getattr(called, "id", "")) not in (
        "open",
        "fdopen",
        "FileIO",
    ):
        return False
    modes = [one.value for one in call.keywords if one.arg == "mode"] + call.args[:2]
    texts = [one.value for one in modes if isinstance(one, ast.Constant)]
    return any(
        isinstance(text, str) and set(text) <= set("rwxabt+") and set(text) & set("wxa+")
        for text in texts
    )


def test_one_package_writes_to_drives_and_starts_fio() -> None:
    found = {
        str(path.relative_to(ROOT)): sorted(set(faults(path.read_text())))
        for part in ("drives", "learn")
        for path in (ROOT / part).rglob("*.py")
        if WRITING not in ".".join(("writeamp", *path.relative_to(ROOT).with_suffix("").parts))
    }
    assert {name: one for name, one in found.items() if one} == {
        name: [what] for name, what in STARTING.items()
    }


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("import os\nos.open(path, os.O_RDWR)", "O_RDWR"),
        ("from os import O_WRONLY", "O_WRONLY"),
        ("import fcntl\nfcntl.ioctl(handle, 0x1277, bytes(16))", "ioctl"),
        ("from fcntl import ioctl as request", "ioctl"),
        ("open('/dev/sda', 'r+b')", "open"),
        ("open('/dev/sda', mode='wb')", "open"),
        ("Path('/dev/sda').open('wb')", "open"),
        ("Path('/dev/sda').write_bytes(b'')", "write_bytes"),
        ("os.posix_fallocate(handle, 0, 4096)", "posix_fallocate"),
        ("os.write(handle, b'')", "write"),
        ("import subprocess\nsubprocess.run(['fio', 'job.fio'])", "subprocess"),
        ("from subprocess import run", "subprocess"),
        ("import os\nos.system('mkfs.ext4 /dev/sda')", "system"),
        ("import os\nos.execvp('fio', ['fio'])", "execvp"),
        ("from writeamp.machine.command import run_command", "run_command"),
        (f"from {WRITING}.fio import reported", f"{WRITING}.fio"),
        (f"import {WRITING}.place", f"{WRITING}.place"),
        ("TargetPlace('device', '/dev/sda', 1 << 30, 512)", "TargetPlace"),
    ],
)
def test_a_module_that_writes_to_a_drive_is_found(source: str, fault: str) -> None:
    assert fault in set(faults(source))


@pytest.mark.parametrize(
    "source",
    [
        "open('/dev/sda', 'rb')",
        "Path('snapshot.json').open()",
        "os.open('/dev/sda', os.O_RDONLY)",
        f"from {WRITING} import TargetPlace, opened\nwith opened(name, None, None).held(): pass",
    ],
)
def test_reading_is_no_fault(source: str) -> None:
    assert list(faults(source)) == []


def test_only_checked_places_are_made() -> None:
    with pytest.raises(TypeError, match=r"only opened\(\) creates"):
        TargetPlace("device", "/dev/sda", 1 << 30, 512)
    with pytest.raises(TypeError, match=r"only opened\(\) creates"):
        replace(unchecked("file", "drive.img", 1 << 30), name="/dev/sda")


def test_a_place_is_written_to_only_while_it_is_held(tmp_path: Path) -> None:
    file = tmp_path / "drive.img"
    file.write_bytes(b"data")
    place = unchecked("file", str(file), 4096)
    with place.held():
        pass
    for write in (place.discard, lambda timeout_s: place.run_fio([], timeout_s=timeout_s)):
        with pytest.raises(RuntimeError, match="without a lock"):
            write(timeout_s=1)
    assert file.read_bytes() == b"data"
