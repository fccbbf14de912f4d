"""Runs of `writeamp serve`, and the needs that tests of virtual drives have of the machine."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import psutil
import pytest

import in_process
import writeamp as wa
from patience import PATIENCE_S, await_value

PLUGIN = Path(wa.__file__).with_name("_nbdkit.so")
PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
MOUNTING = ("nbdfuse", "fusermount3", "losetup", "mkfs.ext4", "mount", "umount", "blkid")
DEVICES = ("/dev/fuse", "/dev/loop-control")
# A drive on which a few MB are many drive writes of a block.
SMALL = "--device ssd-v --size 64MiB"
# Random writes of pages to nearly all of it.
FIO = (
    "fio --name=w --ioengine=nbd --uri=$uri --rw=randwrite --bs=4k --size=60M --io_size={size} "
    "--norandommap --iodepth=16 --output=fio.txt"
)


def missing(*programs: str, root: bool = False) -> list[str]:
    """Return what this machine lacks to serve a drive, and to run these programs on it."""
    found = [name for name in ("nbdkit", *programs) if shutil.which(name, path=PATH) is None]
    found += [] if PLUGIN.exists() else ["the nbdkit plugin"]
    if root:
        found += [] if os.geteuid() == 0 else ["root"]
        found += [device for device in DEVICES if not os.path.exists(device)]
    return found


def needs(*programs: str, root: bool = False) -> pytest.MarkDecorator:
    """Skip a test where something is missing, and say what."""
    lacking = missing(*programs, root=root)
    return pytest.mark.skipif(bool(lacking), reason=f"needs {', '.join(lacking)}")


class Served(NamedTuple):
    """Status and output of `writeamp serve`."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


def start(arguments: Sequence[str], folder: Path, *, path: str = PATH) -> subprocess.Popen[str]:
    """Start `writeamp serve` in a folder, in which also its private files are."""
    private = folder / "t"
    private.mkdir(exist_ok=True)
    with hangup_heard():
        return subprocess.Popen(
            [sys.executable, "-m", "writeamp", "serve", *arguments],
            cwd=folder,
            env={**os.environ, "PATH": path, "TMPDIR": str(private)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


@contextmanager
def hangup_heard() -> Iterator[None]:
    """Start processes that hear the hangup of a terminal, which programs under nohup ignore."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


def ended(running: subprocess.Popen[str]) -> Served:
    """Wait for the end of a server."""
    out, err = running.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in err, err
    return Served(running.returncode, out, err)


def serve(arguments: str, folder: Path, *, run: str | None = None) -> Served:
    """Serve a drive to a command, to the end, in this process, which spares the imports."""
    private = folder / "t"
    private.mkdir(exist_ok=True)
    command = "" if run is None else f" --run {shlex.quote(run)}"
    with (
        chdir(folder),
        patch.dict(os.environ, {"PATH": PATH}),
        patch.object(tempfile, "tempdir", str(private)),
    ):
        done = in_process.run("serve", f"{arguments}{command}")
    return Served(*done)


def refused(arguments: str, folder: Path, *words: str, run: str = "true") -> str:
    """Check that no drive is served, by one sentence with these words, and that nothing is left."""
    done = serve(arguments, folder, run=run)
    assert (done.status, done.out) == (2, ""), done
    (sentence,) = [line for line in done.err.splitlines() if "note:" not in line]
    assert [word for word in words if word not in sentence] == [], sentence
    assert left_behind(folder) == []
    return sentence


def serving(words: Sequence[str], folder: Path) -> subprocess.Popen[str]:
    """Start a server in front, and return it when it has said where the drive is."""
    running = start(words, folder)
    assert running.stdout is not None
    assert running.stdout.readline().startswith("serving")
    return running


def program(folder: Path, name: str, script: str) -> str:
    """Write a program as a script of a shell, and return a PATH on which it comes first."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    return f"{folder}:{PATH}"


def wait_for_file(path: Path, running: subprocess.Popen[str]) -> None:
    """Wait for a file to be there, unless the server ended before."""
    await_value(lambda: path.exists() or running.poll() is not None)
    assert path.exists(), ended(running).err


def pids(folder: Path) -> list[int]:
    """Return the processes of nbdkit that serve a drive of a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_text().split("\0")
        except OSError:
            continue
        if words[0].endswith("nbdkit") and any(str(folder) in word for word in words):
            found.append(int(process.name))
    return found


def left_behind(folder: Path) -> list[str]:
    """Return what is left of runs in a folder: what `left_of` finds, and private files."""
    return left_of(str(folder)) + [str(one) for one in (folder / "t").iterdir()]


def left_of(name: str) -> list[str]:
    """Return mounts, loop devices and processes whose words have a name."""
    found = [line for line in Path("/proc/mounts").read_text().splitlines() if name in line]
    found += [
        str(file)
        for file in Path("/sys/block").glob("loop*/loop/backing_file")
        if name in file.read_text()
    ]
    for process in psutil.process_iter(["cmdline", "pid"]):
        words = " ".join(process.info["cmdline"] or ())
        if name in words and process.info["pid"] != os.getpid():
            found.append(words)
    return found
