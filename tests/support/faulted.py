"""Commands under faults of the file system, run again and again by one process.

To start a process for each call that may fail takes a second of imports. `main`, in a process that
has the layer of `faults.c` preloaded, imports all that a command does; then it forks for each
run, of which one call fails, and for the same command once more, with no fault. Commands follow
one another in the same process, which holds the imports of all of them, and computes nothing.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from faults import Call, Fault, FaultLayer
from forms import FULL
from patience import PATIENCE_S

# In the long form there are hundreds of runs.
_PATIENCE_S = 10 * PATIENCE_S
_PROGRAM = "import faulted; faulted.main()"


@dataclass(frozen=True)
class Command:
    """A command whose every output is in the folder that it runs in.

    Attributes:
        verb: of the command line.
        arguments: what follows it; paths are relative to the folder.
        inputs: files that are copied there before.
    """

    verb: str
    arguments: str
    inputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ending:
    """Status and output of a command, and the files in its folder; -9 if it was killed."""

    status: int
    out: str
    err: str
    files: dict[str, bytes]


@dataclass(frozen=True)
class Round:
    """A command of which one call failed, and the same command once more, with no fault."""

    fault: Fault
    call: Call
    faulted: Ending
    again: Ending


@dataclass(frozen=True)
class Rounds:
    """All rounds of a command, its run without a fault, and the files before it."""

    before: dict[str, bytes]
    whole: Ending
    rounds: list[Round]


class Faulting:
    """Process that runs commands under faults."""

    def __init__(self, library: Path, folder: Path) -> None:
        """Start it when the first command is there; `folder` holds its orders and messages."""
        self._library = library
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def rounds_of(self, command: Command, faults: Sequence[Fault], folder: Path) -> Rounds:
        """Run a command under each fault at each call that writes; in the short form at one."""
        if self._process is None or self._process.poll() is not None:
            self._process = self._start()
        process = self._process
        assert process.stdin
        assert process.stdout
        patience = threading.Timer(_PATIENCE_S, process.kill)
        patience.start()
        try:
            pickle.dump((command, list(faults), folder / "work"), process.stdin)
            process.stdin.flush()
            found = pickle.load(process.stdout)
        except (EOFError, BrokenPipeError):
            raise AssertionError((process.wait(), self._messages.read_text())) from None
        finally:
            patience.cancel()
        assert isinstance(found, Rounds)
        return found

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.communicate(timeout=PATIENCE_S)

    @property
    def _messages(self) -> Path:
        return self._folder / "messages"

    def _start(self) -> subprocess.Popen[bytes]:
        orders = self._folder / "orders"
        layer = FaultLayer(self._library, self._folder / "nothing", orders)
        places = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        settings = {"PYTHONPATH": os.pathsep.join(places), "POLARS_MAX_THREADS": "1"}
        with self._messages.open("wb") as messages:
            return subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, str(self._library), str(orders)],
                env=os.environ | layer.environment | settings,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=messages,
            )


def main() -> None:
    """Read what to do from standard input, and write what happened to standard output."""
    from writeamp.runners import choice  # noqa: PLC0415
    from writeamp.studies import sink  # noqa: PLC0415

    sink._WRITE_EVERY_S = 0  # as of runs that take longer, each of which is written at once
    choice.processors = lambda: 1
    library, orders = map(Path, sys.argv[1:])
    with suppress(EOFError):
        while True:
            command, faults, work = pickle.load(sys.stdin.buffer)
            work.mkdir()
            os.chdir(work)
            os.environ |= {"TMPDIR": str(work), "XDG_CACHE_HOME": str(work)}
            tempfile.tempdir = None
            found = _Rounds(command, FaultLayer(library, work, orders), work).all(faults)
            sys.stdout.buffer.write(pickle.dumps(found))
            sys.stdout.flush()


class _Rounds:
    def __init__(self, command: Command, layer: FaultLayer, work: Path) -> None:
        self._command = command
        self._layer = layer
        self._work = work

    def all(self, faults: Sequence[Fault]) -> Rounds:
        source = random.Random(str(self._command))
        self._begin()
        before = self._files()
        self._run()  # so that what it imports is there
        self._begin()
        self._layer.arm()
        whole = self._run()
        calls = self._layer.disarm()
        rounds = [
            self._round(fault, call) for fault in faults for call in _chosen(fault, calls, source)
        ]
        return Rounds(before, whole, rounds)

    def _round(self, fault: Fault, call: Call) -> Round:
        self._begin()
        self._layer.arm(call.number, fault)
        faulted = self._run()
        failed = [one for one in self._layer.disarm() if one.failed]
        return Round(fault, failed[0] if failed else call, faulted, self._run())

    def _begin(self) -> None:
        for one in self._work.iterdir():
            shutil.rmtree(one) if one.is_dir() else one.unlink()
        for place in map(Path, self._command.inputs):
            shutil.copyfile(place, self._work / place.name)

    def _run(self) -> Ending:
        """Run the command in a process of its own."""
        reader, writer = os.pipe()
        if not (child := os.fork()):
            _run_in_child(self._command, writer)
        os.close(writer)
        with open(reader, "rb") as pipe:
            content = pipe.read()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if not content:
            return Ending(status, "", "", self._files())
        done, modules = pickle.loads(content)
        for module in modules:
            with suppress(Exception):  # some are no modules that can be imported by their name
                import_module(module)
        return Ending(*done, self._files())

    def _files(self) -> dict[str, bytes]:
        places = [one for one in self._work.rglob("*") if one.is_file()]
        return {str(one.relative_to(self._work)): one.read_bytes() for one in places}


def _run_in_child(command: Command, writer: int) -> None:
    from in_process import run  # noqa: PLC0415

    try:
        done = run(command.verb, command.arguments)
        with open(writer, "wb") as pipe:
            pickle.dump((tuple(done), sorted(sys.modules)), pipe)
    finally:
        os._exit(0)


def _chosen(fault: Fault, calls: Sequence[Call], source: random.Random) -> Iterator[Call]:
    # Half of a byte, or of a call that writes none, is nothing that could be told apart.
    whole = [one for one in calls if one.written_bytes > 1 or not fault.shortens or fault.lasts]
    yield from whole if FULL else [source.choice(whole)]


def same_document(first: str, second: str, *, but: frozenset[str]) -> bool:
    """Return whether two JSON documents are the same, but for some keys."""
    return bool(_without(json.loads(first), but) == _without(json.loads(second), but))


def _without(value: Any, names: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {name: _without(one, names) for name, one in value.items() if name not in names}
    return [_without(one, names) for one in value] if isinstance(value, list) else value
