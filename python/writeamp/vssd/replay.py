"""Replay of page requests on a virtual drive through NBD, as a program would write them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np

from writeamp.traces.pages import PageTrace
from writeamp.vssd.drive import start_drive
from writeamp.vssd.nbd_client import MOST_BYTES, Command, NbdClient, NbdRequest
from writeamp.vssd.result import ServeResult
from writeamp.vssd.signals import held_signals
from writeamp.vssd.specification import Specification

# As the requests of a page trace are numbered: write, trim, read, flush.
_COMMANDS = (Command.WRITE, Command.TRIM, Command.READ, Command.FLUSH)
# Requests turned from columns into tuples at once.
_CHUNK = 1 << 16


def replay(
    found: Specification,
    requests: PageTrace,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> ServeResult:
    """Serve a drive, let a host issue requests in order and as fast as it can, and count.

    Reads are left out: they change nothing on the drive.

    Args:
        found: the drive; what ages it comes before.
        requests: what the host does, in pages of the drive.
        progress: called with the requests that are answered, and all.

    Raises:
        WriteampError: nbdkit is missing, or the drive failed.
        KeyboardInterrupt: a signal came; all is undone.
    """
    with held_signals() as signals, ExitStack() as undo:
        drive = start_drive(found, signals, undo, signals.check)
        of = int((requests.op != _COMMANDS.index(Command.READ)).sum())
        with NbdClient(drive.server.socket) as client:
            for done in client.send(_as_sent(requests)):
                signals.check()
                progress(min(done, of), of)
        return drive.result()


def _as_sent(requests: PageTrace) -> Iterator[NbdRequest]:
    """Give the requests in bytes, long ones in parts."""
    size = requests.page_bytes
    for first in range(0, requests.op.size, _CHUNK):
        part = slice(first, first + _CHUNK)
        offset = requests.start[part].astype(np.int64) * size
        length = requests.count[part].astype(np.int64) * size
        if requests.head_bytes is not None and requests.tail_bytes is not None:
            offset += requests.head_bytes[part]
            length -= requests.head_bytes[part].astype(np.int64) + requests.tail_bytes[part]
        for op, at, left in zip(
            requests.op[part].tolist(), offset.tolist(), length.tolist(), strict=True
        ):
            command = _COMMANDS[op]
            if command is Command.READ:
                continue
            if left <= MOST_BYTES:
                yield NbdRequest(command, at, left)
                continue
            for start in range(at, at + left, MOST_BYTES):
                yield NbdRequest(command, start, min(MOST_BYTES, at + left - start))
