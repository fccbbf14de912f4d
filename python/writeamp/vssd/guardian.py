"""Guardian of a command: ends all of it when the process that ran it was killed.

Run as a program of its own, with the standard library alone: `guardian.py WORD`. Its standard input
is a pipe of which only the process that runs the command has the other end, so that its end is the
end of that process. WORD is in the environment of all that the command started.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

# What begins while others are ended is found in a later round.
_ROUNDS = 100
_BETWEEN_ROUNDS_S = 0.02
# In /proc/PID/stat after the name: the state, then the parent.
_PARENT_FIELD = 1


def main() -> None:
    """Wait for the end of the pipe, then kill what has the word, and all processes under that."""
    word = os.fsencode(sys.argv[1])
    # The terminal's Ctrl-C and the signals that end its group are for others.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(sys.stdin.fileno(), 1):
        pass
    for _ in range(_ROUNDS):
        found = _processes_of(word)
        if not found:
            return
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_BETWEEN_ROUNDS_S)


def _processes_of(word: bytes) -> list[int]:
    """Return the processes that have the word in their environment, and their descendants."""
    parents, found = {}, []
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
                found.append(pid)
    for one in found:
        found += [pid for pid, parent in parents.items() if parent == one and pid not in found]
    return found


if __name__ == "__main__":
    main()
