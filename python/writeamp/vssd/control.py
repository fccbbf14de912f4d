"""Control socket of a drive: a client that reads counters, and sums of these."""

from __future__ import annotations

import json
import socket
import struct
import time
from pathlib import Path
from typing import Any, TypeAlias

from writeamp.errors import WriteampError

# What the drive answers; docs/virtual-ssd.md has the keys.
Document: TypeAlias = dict[str, Any]

SUFFIX = ".control"
# A drive answers between two requests of its host, of which one may trim all that there is.
_PATIENCE_S = 60.0
# So often who waits looks whether the drive can answer at all.
_LOOK_S = 1.0
# struct ucred of the kernel: the process, its user and its group.
_CREDENTIALS = struct.Struct("3i")
# In /proc/PID/stat: stopped by a signal, or by a debugger.
_STOPPED = ("T", "t")


class Control:
    """The control socket of a running drive; each question is a connection of its own."""

    def __init__(self, path: str | Path) -> None:
        """Ask at a socket: that of the drive with `.control` after its name."""
        self.path = Path(path)

    def answers(self) -> bool:
        """Return whether a drive answers there."""
        try:
            self.counters()
        except WriteampError:
            return False
        return True

    def counters(self) -> Document:
        """Return the counters of the drive's life."""
        return self._ask("counters")

    def begin(self) -> Document:
        """Begin the samples and latencies anew, and return the counters of this moment."""
        return self._ask("begin")

    def series(self) -> Document:
        """Return samples of host pages written and flash pages programmed since `begin`."""
        return self._ask("series")

    def blocks(self) -> Document:
        """Return how many closed blocks have how many valid pages, and how worn blocks are."""
        return self._ask("blocks")

    def _ask(self, what: str) -> Document:
        """Ask one thing.

        Raises:
            WriteampError: nobody answers there, or the answer is none.
        """
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(_LOOK_S)
                connection.connect(str(self.path))
                connection.sendall(json.dumps({"ask": what}).encode() + b"\n")
                found = json.loads(self._line(connection))
        except OSError as error:
            why = error.strerror or str(error)
            raise WriteampError(f"no virtual drive answers at {self.path}: {why}") from None
        except ValueError:
            raise WriteampError(f"what answers at {self.path} is no virtual drive") from None
        if not isinstance(found, dict) or "error" in found:
            why = found["error"] if isinstance(found, dict) else found
            raise WriteampError(f"the drive at {self.path} refused {what}: {why}")
        return found

    def _line(self, connection: socket.socket) -> bytes:
        """Return the line that comes, or what came of it before the end.

        Raises:
            OSError: none came in time, or the drive's process is stopped.
        """
        found = bytearray()
        deadline = time.monotonic() + _PATIENCE_S
        while not found.endswith(b"\n"):
            try:
                part = connection.recv(1 << 16)
            except TimeoutError:
                _check_running(connection)
                if time.monotonic() > deadline:
                    raise
                continue
            if not part:
                break
            found += part
        return bytes(found)


def _check_running(connection: socket.socket) -> None:
    """Refuse to wait for a process that is stopped."""
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid = _CREDENTIALS.unpack(found)[0]
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:  # it cannot be seen from here
        return
    if text.rpartition(")")[2].split()[0] in _STOPPED:
        raise OSError(f"its process {pid} is stopped; kill -CONT {pid} lets it go on")


def programmed_pages(counters: Document) -> int:
    """Return the pages programmed for all causes since the drive was new."""
    return int(sum(counters["programs"].values()))


def programmed_bytes(counters: Document) -> int:
    """Return the bytes programmed for all causes since the drive was new."""
    return programmed_pages(counters) * int(counters["page_bytes"])
