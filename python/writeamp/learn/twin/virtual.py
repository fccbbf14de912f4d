"""Host of a virtual drive: writes by NBD, and reads its counters at the control socket."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np

from writeamp.errors import WriteampError
from writeamp.learn.twin.driving import Integers, RangesHost, Reading, in_parts
from writeamp.vssd.control import SUFFIX, Control, programmed_bytes
from writeamp.vssd.nbd_client import MOST_BYTES, NbdClient, NbdCommand, NbdRequest


def socket_of(target: str) -> Path | None:
    """Return the Unix socket that a target names, by its path or in an NBD URI; None of none.

    Raises:
        WriteampError: an NBD URI without a socket, whose drive's counters nobody can read.
    """
    address = urlsplit(target)
    if address.scheme in ("nbd", "nbds", "nbd+unix", "nbds+unix"):
        sockets = parse_qs(address.query).get("socket")
        if address.scheme != "nbd+unix" or not sockets:
            raise WriteampError(
                f"{target} names no Unix socket, beside which the counters of a virtual drive are "
                "read; give nbd+unix:///?socket=PATH of `writeamp serve --socket PATH`"
            )
        return Path(sockets[0])
    try:
        return Path(target) if stat.S_ISSOCK(Path(target).stat().st_mode) else None
    except OSError:
        return None


class VirtualHost(RangesHost):
    """Host of the virtual drive at a socket; closed at the end of a `with` block."""

    def __init__(self, socket: Path) -> None:
        """Connect.

        Raises:
            WriteampError: no virtual drive is served there.
        """
        self._control = Control(f"{socket}{SUFFIX}")
        counters = self._control.counters()
        self.page_bytes = int(counters["page_bytes"])
        self.capacity_bytes = int(counters["logical_pages"]) * self.page_bytes
        self.holds_data = bool(counters["mapped_pages"])
        self._client = NbdClient(socket)

    def __enter__(self) -> VirtualHost:
        """Return the host."""
        return self

    def __exit__(self, *error: object) -> None:
        """Disconnect."""
        self._client.__exit__(*error)

    def discard(self) -> None:
        """Trim all."""
        offsets = np.arange(0, self.capacity_bytes, MOST_BYTES)
        lengths = np.minimum(self.capacity_bytes - offsets, MOST_BYTES)
        self._send(_requests(NbdCommand.TRIM, offsets, lengths))

    def write(self, offsets: Integers, lengths: Integers, done: Callable[[int], None]) -> None:
        """Write zeros to ranges in their order."""
        bytes_of = np.cumsum(lengths)
        for answered in self._client.send(_requests(NbdCommand.WRITE, offsets, lengths)):
            done(int(bytes_of[min(answered, bytes_of.size) - 1]))
        self._send(iter([NbdRequest(NbdCommand.FLUSH, 0, 0)]))

    def read_counters(self) -> Reading:
        """Return the bytes that its host has written, and those that were programmed."""
        counters = self._control.counters()
        return float(counters["host"]["written_bytes"]), float(programmed_bytes(counters))

    def _send(self, requests: Iterator[NbdRequest]) -> None:
        for _ in self._client.send(requests):
            pass


def _requests(command: NbdCommand, offsets: Integers, lengths: Integers) -> Iterator[NbdRequest]:
    for offset, length in in_parts(offsets, lengths, MOST_BYTES):
        yield NbdRequest(command, offset, length)
