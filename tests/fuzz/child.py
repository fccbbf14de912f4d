"""Calls in a process of their own: their output, their status, and whether they ended."""

from __future__ import annotations

import os
import pickle
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from pathlib import Path
from typing import IO

CPU_SECONDS = 240
_WALL_SECONDS = 300
_MEMORY_BYTES = 6 * 2**30


@dataclass(frozen=True)
class Ended:
    """End of a child.

    `status` is minus the signal that killed it.
    """

    status: int
    out: str
    err: str
    cpu_s: float

    @property
    def hung(self) -> bool:
        """True if it was stopped because it took too long."""
        return self.status in (-signal.SIGXCPU, -signal.SIGKILL)


@dataclass(frozen=True)
class Task:
    """A call that can be pickled, and the files that it finds in its folder."""

    call: Callable[[], None]
    contents: dict[str, bytes]


class Server:
    """A process that forks for calls, and never does anything itself: threads do not survive.

    Polars starts some as soon as it is used, which the one that makes up files does.
    """

    def __init__(self) -> None:
        """Fork the server off."""
        self._ours, theirs = Pipe()
        if os.fork() == 0:
            self._ours.close()
            with suppress(EOFError, KeyboardInterrupt):
                while True:
                    theirs.send(_run(*theirs.recv()))
            os._exit(0)
        theirs.close()

    def run(self, tasks: Sequence[Task], folder: Path) -> list[Ended]:
        """Make calls in a folder and a process of their own, one after the other.

        How they ended comes back as far as the process came: what follows one that ends it is not
        made. A single one is always told of.
        """
        self._ours.send((tasks, folder))
        found: list[Ended] = self._ours.recv()
        return found


def _run(tasks: Sequence[Task], folder: Path) -> list[Ended]:
    """Fork, make the calls, and wait; the CPU time that they may take is limited."""
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        tempfile.TemporaryFile() as told,
    ):
        child = os.fork()
        if child == 0:
            _become(tasks, folder, out.fileno(), err.fileno(), told.fileno())
        status, used = _wait(child)
        told.seek(0)
        ended = []
        with suppress(EOFError, pickle.UnpicklingError):
            while True:
                ended.append(pickle.load(told))
        if status and not ended and len(tasks) == 1:
            ended = [Ended(os.waitstatus_to_exitcode(status), _text(out), _text(err), used)]
    return ended


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def _become(tasks: Sequence[Task], folder: Path, out: int, err: int, told: int) -> None:
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        for task in tasks:
            ended = _make(task, folder)
            with open(told, "ab", closefd=False) as file:
                pickle.dump(ended, file)
        os._exit(0)
    finally:
        os._exit(99)


def _make(task: Task, folder: Path) -> Ended:
    """Make a call in this process, whose output goes to files."""
    began = time.process_time()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in task.contents.items():
        (folder / name).write_bytes(content)
    os.chdir(folder)
    for handle in (1, 2):
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
    for name, handle in (("stdout", 1), ("stderr", 2)):
        setattr(sys, name, os.fdopen(handle, "w", encoding="utf-8", closefd=False))
    status = 99
    try:
        task.call()
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 98
    except BaseException:
        traceback.print_exc()
    texts = []
    for stream, handle in ((sys.stdout, 1), (sys.stderr, 2)):
        stream.flush()
        length = os.fstat(handle).st_size
        texts.append(os.pread(handle, length, 0).decode("utf-8", "replace"))
    return Ended(status, texts[0], texts[1], time.process_time() - began)


def _wait(child: int) -> tuple[int, float]:
    end = time.monotonic() + _WALL_SECONDS
    while True:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            return status, usage.ru_utime + usage.ru_stime
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            _, status, usage = os.wait4(child, 0)
            return status, usage.ru_utime + usage.ru_stime
        time.sleep(0.002)
