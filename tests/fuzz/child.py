"""One call in a process of its own: what it printed, how it ended, and whether it ended."""

from __future__ import annotations

import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from pathlib import Path

CPU_SECONDS = 240
_WALL_SECONDS = 300
_MEMORY_BYTES = 6 * 2**30


@dataclass(frozen=True)
class Ended:
    """How a child ended: `status` is minus the signal that killed it."""

    status: int
    out: str
    err: str
    cpu_s: float

    @property
    def hung(self) -> bool:
        """Whether it was stopped because it took too long."""
        return self.status in (-signal.SIGXCPU, -signal.SIGKILL)


class Server:
    """A process that forks for each call, and never does anything itself: threads do not survive.

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

    def run(self, call: Callable[[], None], folder: Path) -> Ended:
        """Make a call that can be pickled, in a folder and a process of its own."""
        self._ours.send((call, folder))
        ended = self._ours.recv()
        assert isinstance(ended, Ended)
        return ended


def _run(call: Callable[[], None], folder: Path) -> Ended:
    """Fork, make the call in the folder, and wait; the CPU time that it may take is limited."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            _become(call, folder, out.fileno(), err.fileno())
        status, used = _wait(child)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    return Ended(os.waitstatus_to_exitcode(status), texts[0], texts[1], used)


def _become(call: Callable[[], None], folder: Path, out: int, err: int) -> None:
    status = 99
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        for name, handle in (("stdout", 1), ("stderr", 2)):
            setattr(sys, name, os.fdopen(handle, "w", encoding="utf-8", closefd=False))
        try:
            call()
            status = 0
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 98
        sys.stdout.flush()
    except BaseException:
        import traceback  # noqa: PLC0415

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


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
