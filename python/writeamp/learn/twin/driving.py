"""Run of a chain on a real or virtual drive; the drive's counters are read after each part."""

from __future__ import annotations

import secrets
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qs, urlsplit

import numpy as np
import numpy.typing as npt

from writeamp._engine import Load
from writeamp.errors import WriteampError
from writeamp.learn.twin.chain import Chain, WindowPart
from writeamp.learn.twin.windows import SavedWindows
from writeamp.runners import Progress
from writeamp.runs.refusals import check_memory
from writeamp.vssd.control import SUFFIX, Control, programmed_bytes
from writeamp.vssd.nbd_client import MOST_BYTES, NbdClient, NbdCommand, NbdRequest

Integers = npt.NDArray[np.int64]

# Counters of a drive: host bytes and flash bytes so far.
CounterTotals = tuple[float, float]

# Index of the sequential fill; parts and windows have indices from 0.
FILL = -1
_FILL_BYTES = 1 << 20
_OTHER_SEEDS = 1 << 20
# Memory in bytes that each request needs while the requests of a phase are drawn at random.
_BYTES_A_REQUEST = 40


class Host(Protocol):
    """Host of a drive: it writes a chain and reads the drive's counters."""

    def discard(self) -> None:
        """Discard all data of the drive."""

    def serve(self, chain: Chain, seed: int, at: int, done: Callable[[int], None]) -> None:
        """Write part `at` of a chain, or the sequential fill if `at` is FILL.

        `done` is called with the bytes of the part written so far.
        """

    def read_counters(self) -> CounterTotals:
        """Return host and flash bytes after all written data is on the flash."""


def drive_chain(
    host: Host, saved: SavedWindows, *, seed: int, progress: Progress | None = None
) -> None:
    """Run a chain on a drive, and save the counters of each part.

    Saved parts are not written again, because the drive is in the state after them. An interrupted
    part is written again with other random draws; the same draws would write the same pages twice.
    The writes of the interrupted attempt are not counted.

    Args:
        host: host of the drive.
        saved: the saved windows of the chain on this drive.
        seed: seed of the host's draws.
        progress: called with the bytes written and expected.
    """
    chain = saved.chain
    spans = list(chain.parts(chain.logical_pages))
    size = chain.logical_pages * chain.page_bytes
    draws = seed + 1 + secrets.randbelow(_OTHER_SEEDS) if saved.rows else seed
    begins = [0, size, *(size + window_part.end_pages * chain.page_bytes for window_part in spans)]

    def measured(at: int, window: int) -> None:
        begin_bytes = begins[at + 1]
        report = (lambda done: progress(begin_bytes + done, begins[-1])) if progress else _silent
        begin = host.read_counters()
        host.serve(chain, draws, at, report)
        end = host.read_counters()
        saved.add([(0, window, end[0] - begin[0], end[1] - begin[1])])

    if not saved.rows:
        host.discard()
        measured(FILL, FILL)
    for at in range(len(saved.rows) - 1, len(spans)):
        measured(at, spans[at].window)


def _silent(_done: int) -> None:
    return


class RangesHost(ABC):
    """Host that writes ranges of bytes; the engine draws these ranges."""

    _drawn: _Drawn | None = None

    @abstractmethod
    def write(self, offsets: Integers, lengths: Integers, done: Callable[[int], None]) -> None:
        """Write ranges of bytes in order; `done` is called with the bytes written so far."""

    def serve(self, chain: Chain, seed: int, at: int, done: Callable[[int], None]) -> None:
        """Draw a part of a chain, and write it."""
        if at == FILL:
            size = chain.logical_pages * chain.page_bytes
            offsets = np.arange(0, size, _FILL_BYTES)
            self.write(offsets, np.minimum(size - offsets, _FILL_BYTES), done)
            return
        self._drawn = self._drawn or _Drawn(chain, seed)
        spans = list(chain.parts(chain.logical_pages))
        begin = spans[at - 1].end_pages if at else 0
        self.write(*self._drawn.requests(spans[at], begin, spans[at].end_pages), done)


class _Drawn:
    """Requests of a chain, drawn one phase at a time; each part is a slice of its phase."""

    def __init__(self, chain: Chain, seed: int) -> None:
        self._chain = chain
        self._seed = seed
        self._phase = -1
        self._begin = 0
        self._columns: tuple[Integers, Integers] | None = None

    def requests(
        self, window_part: WindowPart, begin_pages: int, end_pages: int
    ) -> tuple[Integers, Integers]:
        """Return offsets and lengths of the requests of a part, in bytes."""
        if window_part.phase != self._phase:
            self._draw(window_part)
        assert self._columns is not None
        offsets, lengths = self._columns
        written = np.cumsum(lengths) // self._chain.page_bytes
        first, last = (
            int(np.searchsorted(written, pages - self._begin, side="left")) + (pages > self._begin)
            for pages in (begin_pages, end_pages)
        )
        return offsets[first:last], lengths[first:last]

    def _draw(self, window_part: WindowPart) -> None:
        chain, pages = self._chain, self._chain.logical_pages
        ends: list[int] = [0] * (len(chain.phases) + 1)
        for window in chain.parts(pages, fine=False):
            ends[window.phase + 1] = window.end_pages
        self._phase, self._begin = window_part.phase, ends[window_part.phase]
        count = ends[window_part.phase + 1] - self._begin
        check_memory("the requests of one workload of the chain need", count * _BYTES_A_REQUEST)
        load = Load.spec(chain.phases[window_part.phase].workload, pages, chain.page_bytes)
        _, start, length, _, _ = load.requests(seed=self._seed + window_part.phase, pages=count)
        page = chain.page_bytes
        self._columns = start.astype(np.int64) * page, length.astype(np.int64) * page


def in_parts(offsets: Integers, lengths: Integers, most: int) -> Iterator[tuple[int, int]]:
    """Yield the offset and length of each range, split into pieces of at most `most` bytes."""
    for offset, length in zip(offsets.tolist(), lengths.tolist(), strict=True):
        for start in range(offset, offset + length, most):
            yield start, min(most, offset + length - start)


def socket_of(target: str) -> Path | None:
    """Return the Unix socket of a target: a path or an NBD URI; None for other targets.

    Raises:
        WriteampError: an NBD URI without a socket; its drive's counters cannot be read.
    """
    address = urlsplit(target)
    if address.scheme in ("nbd", "nbds", "nbd+unix", "nbds+unix"):
        sockets = parse_qs(address.query).get("socket")
        if address.scheme != "nbd+unix" or not sockets:
            raise WriteampError(
                f"{target} names no Unix socket, so the counters of the virtual drive cannot be "
                "read; give nbd+unix:///?socket=PATH with the path of `writeamp serve --socket`"
            )
        return Path(sockets[0])
    try:
        return Path(target) if stat.S_ISSOCK(Path(target).stat().st_mode) else None
    except OSError:
        return None


class VirtualHost(RangesHost):
    """Host of the virtual drive at a socket; it disconnects at the end of a `with` block."""

    def __init__(self, socket: Path) -> None:
        """Connect.

        Raises:
            WriteampError: no virtual drive is served at the socket.
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
        """Trim the whole drive."""
        offsets = np.arange(0, self.capacity_bytes, MOST_BYTES)
        lengths = np.minimum(self.capacity_bytes - offsets, MOST_BYTES)
        self._send(_requests(NbdCommand.TRIM, offsets, lengths))

    def write(self, offsets: Integers, lengths: Integers, done: Callable[[int], None]) -> None:
        """Write zeros to ranges in order."""
        bytes_of = np.cumsum(lengths)
        for answered in self._client.send(_requests(NbdCommand.WRITE, offsets, lengths)):
            done(int(bytes_of[min(answered, bytes_of.size) - 1]))
        self._send(iter([NbdRequest(NbdCommand.FLUSH, 0, 0)]))

    def read_counters(self) -> CounterTotals:
        """Return the bytes that the host has written, and the bytes that the flash programmed."""
        counters = self._control.counters()
        return float(counters["host"]["written_bytes"]), float(programmed_bytes(counters))

    def _send(self, requests: Iterator[NbdRequest]) -> None:
        for _ in self._client.send(requests):
            pass


def _requests(command: NbdCommand, offsets: Integers, lengths: Integers) -> Iterator[NbdRequest]:
    for offset, length in in_parts(offsets, lengths, MOST_BYTES):
        yield NbdRequest(command, offset, length)
