"""Calls in a process of their own: what they print, leave and open, and whether they end."""

from __future__ import annotations

import json
import os
import pickle
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import IO, Any, NoReturn, TypeVar
from unittest.mock import patch

import checks
from call import Call
from calls import ready
from checks import Ended
from typer.main import get_command

from writeamp.cli import main, root
from writeamp.errors import WriteampError
from writeamp.results.any_result import AnyResult

T = TypeVar("T")
MOST_WALL_S = 2 * checks.HANG_S
_MEMORY_BYTES = 4 << 30
# Files of strangers name this one, which nobody reads for that.
CANARY = "canary"
# Of a result, what all of them have, and what some have.
_SHOWN = ("to_frame", "_repr_html_", "__repr__")
_STARTS = ("subprocess.Popen", "os.system", "os.posix_spawn", "os.exec")
# Building the parser takes longer than most commands.
PARSER = get_command(root.app)


@dataclass
class _Watch:
    """Files that a call opens and programs that it starts, by Python's audit events."""

    folder: str
    call: Call | None = None
    seen: list[str] = field(default_factory=list)

    def hear(self, event: str, about: tuple[Any, ...]) -> None:
        """Note what a call must not do."""
        if self.call is None:
            return
        if event == "open":
            self._hear_of_open(*about)
        elif event in _STARTS and not self.call.runs_programs and about[0] != "uname":
            self.seen.append(f"starts a program: {about[0]!r}")

    def _hear_of_open(self, path: Any, _mode: Any, flags: Any) -> None:
        if self.call is None or not isinstance(path, str | bytes):
            return
        name = os.fsdecode(path)
        # A folder as a whole may be asked for.
        if name.endswith(CANARY) and not {"", "."} & set(self.call.argv or [""]):
            self.seen.append("reads a file because another names it")
        if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            place = os.path.abspath(name)
            if not place.startswith((self.folder, "/dev/", "/proc/")):
                self.seen.append(f"writes {place}")


def batch(
    calls: Iterable[tuple[int, Callable[[], Call]]],
    folder: Path,
    send: Callable[[tuple[int, Call, Ended]], None],
) -> None:
    """Make calls one after the other in this process; it is a fork, and ends afterwards."""
    watch = _Watch(str(folder))
    sys.addaudithook(watch.hear)
    (folder / "tmp").mkdir(parents=True, exist_ok=True)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder / "tmp")
    for number, draw in calls:
        call = draw()
        send((number, call, _made(call, folder, watch)))


def _made(call: Call, folder: Path, watch: _Watch) -> Ended:
    inside = folder / "in"
    _lay_out(call, inside)
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu_s = used.ru_utime + used.ru_stime
    resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_s) + checks.HANG_S + 1, -1))
    for handle in (1, 2):
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
    for name, handle in (("stdout", 1), ("stderr", 2)):
        setattr(sys, name, os.fdopen(handle, "w", encoding="utf-8", closefd=False))
    ended = Ended(99)
    began = time.process_time()
    watch.call, watch.seen = call, []
    try:
        ended.status, ended.fault = _command(call) if call.argv is not None else _function(call)
    except BaseException:
        traceback.print_exc()
    watch.call = None
    ended.elapsed_s = time.process_time() - began
    texts = []
    for stream, handle in ((sys.stdout, 1), (sys.stderr, 2)):
        with suppress(ValueError, OSError):
            stream.flush()
        texts.append(os.pread(handle, 1 << 22, 0).decode("utf-8", "replace"))
    ended.out, ended.err = texts
    ended.fault = ended.fault or next(iter(watch.seen), None)
    ended.left = _left(call, folder)
    return ended


def _lay_out(call: Call, inside: Path) -> None:
    shutil.rmtree(inside, ignore_errors=True)
    inside.mkdir()
    os.chdir(inside)
    for name, content in call.contents.items():
        if "/" in name:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
        with open(name, "wb") as file:
            file.write(content)
    with open(CANARY, "wb"):
        pass


def _command(call: Call) -> tuple[int, None]:
    words = ["writeamp", *(call.argv or ())]
    with patch.object(sys, "argv", words), patch.object(root, "app", PARSER):
        try:
            main()
        except SystemExit as ended:
            return (ended.code if isinstance(ended.code, int) else 98), None
    return 0, None


def _function(call: Call) -> tuple[int, str | None]:
    """Make a call of the library, and look at what it returns as notebooks and programs do."""
    assert call.function is not None
    try:
        arguments = {key: ready(value) for key, value in (call.arguments or {}).items()}
        found = call.function(**arguments)
        for name in _SHOWN:
            if not isinstance(found, type) and callable(show := getattr(found, name, None)):
                show()
        if isinstance(found, AnyResult) and callable(document := getattr(found, "to_dict", None)):
            return 0, checks.fault_of_document(json.dumps(document()))
    except WriteampError as refusal:
        print(f"refused: {refusal}", file=sys.stderr)
        return 2, "refuses in several lines" if "\n" in str(refusal) else None
    return 0, None


def _left(call: Call, folder: Path) -> dict[str, str]:
    """Return what is left, changed or gone that nobody asked for, and what is wrong with it."""
    found = {}
    known = {name.partition("/")[0] for name in call.contents}
    firsts = (name.lstrip("./").partition("/")[0] for name in call.outputs)
    outputs = tuple(os.path.splitext(first)[0] for first in firsts if first)
    for entry in os.scandir(folder / "in"):
        name = entry.name
        if name in known or name == CANARY or (outputs and name.startswith(outputs)):
            continue
        found[name] = "leaves"
    for name, content in call.contents.items():
        if name.startswith(outputs or "\0"):
            continue
        try:
            with open(folder / "in" / name, "rb") as file:
                if file.read() != content:
                    found[name] = "changes"
        except OSError:
            found[name] = "removes"
    for name in os.listdir(folder / "tmp"):
        found[f"$TMPDIR/{name}"] = "leaves"
        place = folder / "tmp" / name
        shutil.rmtree(place, ignore_errors=True)
        place.unlink(missing_ok=True)
    return found


def forked(work: Callable[[Connection], None], out: IO[bytes], err: IO[bytes]) -> tuple[int, Any]:
    """Fork a process for some work that sends what it finds; return its id and what it sends."""
    ours, theirs = Pipe(duplex=False)
    pid = os.fork()
    if pid == 0:
        ours.close()
        _become(work, theirs, out.fileno(), err.fileno())
    theirs.close()
    return pid, ours


def _become(work: Callable[[Connection], None], to: Connection, out: int, err: int) -> NoReturn:
    status = 99
    try:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        work(to)
        status = 0
    except BaseException:
        os.write(2, traceback.format_exc().encode("utf-8", "replace"))
    finally:
        os._exit(status)


def alone(call: Call, folder: Path) -> Ended:
    """Make a call in a process of its own; one that ends it is told of by its signal."""

    def work(to: Connection) -> None:
        batch([(0, lambda: call)], folder, lambda told: to.send(told[2]))

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid, told = forked(work, out, err)
        ended: Ended | None = None
        if told.poll(MOST_WALL_S):
            with suppress(EOFError, pickle.UnpicklingError):
                ended = told.recv()
        else:
            os.killpg(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        told.close()
        if ended is None:
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode("utf-8", "replace"))
            ended = Ended(os.waitstatus_to_exitcode(status) or 99, *texts)
    return ended


def in_fork(work: Callable[[], T]) -> T:
    """Return what some work returns in a process of its own, whose threads this one never has."""

    def told(to: Connection) -> None:
        try:
            to.send(work())
        except BaseException:
            traceback.print_exc()
            raise

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid, ours = forked(told, out, err)
        try:
            found: T = ours.recv()
        except EOFError:
            err.seek(0)
            raise RuntimeError(err.read().decode("utf-8", "replace")) from None
        finally:
            os.waitpid(pid, 0)
    return found
