"""Commands under faults of the file system, run again and again by one process.

To start a process for each call that may fail takes a second of imports. `main`, in a process that
has the layer of `faults.c` preloaded, imports all that the command does; then it forks for each
run, of which one call fails, and for the same command once more, with no fault.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
import subprocess
import sys
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


def rounds_of(command: Command, faults: Sequence[Fault], folder: Path, library: Path) -> Rounds:
    """Run a command under each fault at each call that writes; in the short form at one of them."""
    work, orders = folder / "work", folder / "orders"
    work.mkdir()
    layer = FaultLayer(library, work, orders)
    places = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    settings = {"PYTHONPATH": os.pathsep.join(places), "POLARS_MAX_THREADS": "1",
                "TMPDIR": str(work), "XDG_CACHE_HOME": str(work)}  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(library), str(work), str(orders)],
        input=pickle.dumps((command, list(faults))),
        env=os.environ | layer.environment | settings,
        capture_output=True,
        timeout=_PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr.decode())
    found = pickle.loads(done.stdout)
    assert isinstance(found, Rounds)
    return found


def main() -> None:
    """Read what to do from standard input, and write what happened to standard output."""
    from writeamp.runners import choice  # noqa: PLC0415
    from writeamp.studies import sink  # noqa: PLC0415

    sink._WRITE_EVERY_S = 0  # as of runs that take longer, each of which is written at once
    choice.processors = lambda: 1
    library, work, orders = map(Path, sys.argv[1:])
    command, faults = pickle.load(sys.stdin.buffer)
    os.chdir(work)
    found = _Rounds(command, FaultLayer(library, work, orders), work).all(faults)
    sys.stdout.buffer.write(pickle.dumps(found))


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
