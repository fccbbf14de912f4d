"""Guardian of a command: ends all its processes if the process that ran it was killed.

It runs as a separate program with the standard library only: `guardian.py WORD`. Its standard input
is a pipe; only the process that runs the command has the other end, so the pipe closes when that
process ends. WORD is in the environment of all processes of the command.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

# Number of rounds in which processes are killed. Processes that start during a round are killed in
# the next round.
_ROUNDS = 100
_BETWEEN_ROUNDS_S = 0.02
# Field index in /proc/PID/stat after the name: the state, then the parent.
_PARENT_FIELD = 1


def main() -> None:
    """Wait until the pipe closes, then kill all processes of the command."""
    word = os.fsencode(sys.argv[1])
    # Ctrl-C of the terminal and signals to the process group are ignored, as they are meant for
    # other processes.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(sys.stdin.fileno(), 1):
        pass
    for _ in range(_ROUNDS):
        processes = _processes_of(word)
        if not processes:
            return
        for pid in processes:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_BETWEEN_ROUNDS_S)


def _processes_of(word: bytes) -> list[int]:
    """Return the processes with the word in their environment, and their descendants."""
    parents, processes = {}, []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        pid = int(folder.name)
        with suppress(OSError):
            fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if fields[0] in "ZX":
                continue
            parents[pid] = int(fields[_PARENT_FIELD])
            if word in (folder / "environ").read_bytes().split(b"\0"):
                processes.append(pid)
    for process in processes:
        processes += [
            pid for pid, parent in parents.items() if parent == process and pid not in processes
        ]
    return processes


if __name__ == "__main__":
    main()
