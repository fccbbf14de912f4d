"""Faults of a file system: the layer of `faults.c`, which counts and fails calls that write."""

from __future__ import annotations

import errno
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from patience import PATIENCE_S

SOURCE = Path(__file__).with_suffix(".c")
# `Orders` of the source: count, number of the call, hits, errno, flags, folder, log.
_PATH_BYTES = 4096
_ORDERS = struct.Struct(f"=QQQiI{_PATH_BYTES}s{_PATH_BYTES}s")
_SHORTENS, _LASTS, _KILLS = 1, 2, 4


@dataclass(frozen=True)
class Fault:
    """Fate of a call.

    Attributes:
        error: name of the errno, as of a call that fails.
        shortens: half of the bytes are written; calls that write no bytes pass.
        lasts: all calls after it fail too.
        kills: the process is killed in the call; with `shortens`, after half of the bytes.
    """

    error: str = "EIO"
    shortens: bool = False
    lasts: bool = False
    kills: bool = False


EIO = Fault()
DISK_FULL = Fault("ENOSPC", shortens=True, lasts=True)
SHORT_WRITE = Fault(shortens=True)
KILLED = Fault(kills=True)
KILLED_AMID = Fault(shortens=True, kills=True)


@dataclass(frozen=True)
class Call:
    """A call that was counted: `number` is that by which it is made to fail."""

    number: int
    name: str
    written_bytes: int
    failed: bool
    path: str


class FaultLayer:
    """Counts what processes write below a folder, and lets one call fail.

    Processes that have `environment` are under it, with all their children; the call that fails
    may be chosen while they run.
    """

    def __init__(self, library: Path, watched: Path, orders: Path) -> None:
        """Watch a folder or a file; `orders` is a file elsewhere, made here."""
        self._watched = os.path.realpath(watched)
        self._orders = orders
        self._log = orders.with_suffix(".log")
        self.environment = {"LD_PRELOAD": str(library), "WRITEAMP_FAULT_ORDERS": str(orders)}
        self.arm()

    def arm(self, number: int = 0, fault: Fault = EIO) -> None:
        """Count from 1 again, and let the call of a number fail; 0: none."""
        flags = _SHORTENS * fault.shortens | _LASTS * fault.lasts | _KILLS * fault.kills
        self._log.write_bytes(b"")
        paths = os.fsencode(self._watched), os.fsencode(self._log)
        orders = _ORDERS.pack(0, number, 0, getattr(errno, fault.error), flags, *paths)
        # In place: processes have mapped it.
        with self._orders.open("r+b" if self._orders.exists() else "wb") as file:
            file.write(orders)

    def disarm(self) -> list[Call]:
        """Let no call fail any more, and return those counted."""
        calls = self.calls
        self.arm()
        return calls

    @property
    def hits(self) -> int:
        """Number of calls that failed, were shortened, or killed their process."""
        return int(_ORDERS.unpack(self._orders.read_bytes())[2])

    @property
    def calls(self) -> list[Call]:
        """The calls counted since the layer was armed."""
        calls = []
        for line in os.fsdecode(self._log.read_bytes()).splitlines():
            number, name, written_bytes, failed, path = line.split("\t", 4)
            calls.append(Call(int(number), name, int(written_bytes), failed == "1", path))
        return calls

    def run(
        self, command: Sequence[str], folder: Path, number: int = 0, fault: Fault = EIO
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in a folder to its end; one call of it fails, or none."""
        self.arm(number, fault)
        return subprocess.run(
            command,
            cwd=folder,
            env=os.environ | self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )


def build_fault_layer(folder: Path) -> Path:
    """Return the library to preload; where it cannot be built, skip the test."""
    compiler = shutil.which("cc")
    if sys.platform != "linux" or compiler is None:
        pytest.skip("needs Linux and a C compiler, cc, to seed faults of a file system")
    library = folder / "faults.so"
    words = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(words, check=True)
    return library
