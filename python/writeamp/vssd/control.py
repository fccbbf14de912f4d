"""Control socket of a drive: a client that reads counters, and sums of counters."""

from __future__ import annotations

import json
import socket
import struct
import time
from pathlib import Path
from typing import Any, TypeAlias

from writeamp.errors import WriteampError

# Response of the drive as a JSON object; docs/virtual-ssd.md has the keys.
Document: TypeAlias = dict[str, Any]

SUFFIX = ".control"
# Longest wait for a response, in seconds. A drive responds only between two requests of its host,
# and one request may trim the whole drive, so a response can take long.
_PATIENCE_S = 60.0
# Time between checks whether the drive can respond, in seconds.
_LOOK_S = 1.0
# Layout of the kernel's struct ucred: number of the process, the user and the group.
_CREDENTIALS = struct.Struct("3i")
# States in /proc/PID/stat: stopped by a signal, or by a debugger.
_STOPPED = ("T", "t")


class Control:
    """Control socket of a running drive; each query opens its own connection."""

    def __init__(self, path: str | Path) -> None:
        """Set the path of the control socket: the drive's socket path plus `.control`."""
        self.path = Path(path)

    def answers(self) -> bool:
        """Return whether a drive responds at the socket."""
        try:
            self.counters()
        except WriteampError:
            return False
        return True

    def counters(self) -> Document:
        """Return the counters of the drive's life."""
        return self._ask("counters")

    def begin(self) -> Document:
        """Restart the samples and latencies, and return the current counters."""
        return self._ask("begin")

    def series(self) -> Document:
        """Return samples of host pages written and flash pages programmed since `begin`."""
        return self._ask("series")

    def blocks(self) -> Document:
        """Return the histogram of closed blocks by valid pages, and erase counts of blocks."""
        return self._ask("blocks")

    def _ask(self, query: str) -> Document:
        """Send one query.

        Raises:
            WriteampError: no response, or an invalid response.
        """
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(_LOOK_S)
                connection.connect(str(self.path))
                connection.sendall(json.dumps({"ask": query}).encode() + b"\n")
                response = json.loads(self._line(connection))
        except OSError as error:
            why = error.strerror or str(error)
            raise WriteampError(f"no virtual drive responds at {self.path}: {why}") from None
        except ValueError:
            raise WriteampError(f"the server at {self.path} is not a virtual drive") from None
        if not isinstance(response, dict) or "error" in response:
            why = response["error"] if isinstance(response, dict) else response
            raise WriteampError(f"the drive at {self.path} rejected {query}: {why}")
        return response

    def _line(self, connection: socket.socket) -> bytes:
        """Return the received line; if the connection ends earlier, the received part of it.

        Raises:
            OSError: no line was received in time, or the drive's process is stopped.
        """
        received = bytearray()
        deadline = time.monotonic() + _PATIENCE_S
        while not received.endswith(b"\n"):
            try:
                chunk = connection.recv(1 << 16)
            except TimeoutError:
                _check_running(connection)
                if time.monotonic() > deadline:
                    raise
                continue
            if not chunk:
                break
            received += chunk
        return bytes(received)


def _check_running(connection: socket.socket) -> None:
    """Check that the drive's process is not stopped, because it would never respond.

    Raises:
        OSError: the process is stopped.
    """
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid = _CREDENTIALS.unpack(credentials)[0]
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:  # another user's process is invisible
        return
    if text.rpartition(")")[2].split()[0] in _STOPPED:
        raise OSError(f"its process {pid} is stopped. Continue it with kill -CONT {pid}")


def programmed_pages(counters: Document) -> int:
    """Return the pages programmed for all causes since the drive was new."""
    return int(sum(counters["programs"].values()))


def programmed_bytes(counters: Document) -> int:
    """Return the bytes programmed for all causes since the drive was new."""
    return programmed_pages(counters) * int(counters["page_bytes"])
