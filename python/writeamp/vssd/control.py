"""A client of a drive's control socket: what it has counted so far, and when counting begins."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any, TypeAlias

from writeamp.errors import WriteampError

# What the drive answers; docs/virtual-ssd.md has the keys.
Document: TypeAlias = dict[str, Any]

SUFFIX = ".control"
# A drive answers between two requests of its host, of which one may trim all that there is.
_PATIENCE_S = 60.0


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
        """Return what the drive has counted in its life."""
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
                connection.settimeout(_PATIENCE_S)
                connection.connect(str(self.path))
                connection.sendall(json.dumps({"ask": what}).encode() + b"\n")
                with connection.makefile("rb") as answers:
                    line = answers.readline()
            found = json.loads(line)
        except OSError as error:
            why = error.strerror or str(error)
            raise WriteampError(f"no virtual drive answers at {self.path}: {why}") from None
        except ValueError:
            raise WriteampError(f"what answers at {self.path} is no virtual drive") from None
        if not isinstance(found, dict) or "error" in found:
            raise WriteampError(f"the drive at {self.path} refused {what}: {found}")
        return found
