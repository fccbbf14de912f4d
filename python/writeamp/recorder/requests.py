"""Requests of a drive from the kernel's events: operation, range, and process.

A request is issued by the thread that runs the queue, often a kernel worker. The process is that
of the bio (the unit that file systems queue) which begins the request's range.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from writeamp.recorder.disk import Disk
from writeamp.recorder.processes import is_worker
from writeamp.recorder.ring_buffer import Events
from writeamp.recorder.tracing import RecordedEvent
from writeamp.traces.formats.blkparse import operation_of_rwbs
from writeamp.traces.trace import OPERATIONS, SECTOR_BYTES

ISSUED, QUEUED = "block/block_rq_issue", "block/block_bio_queue"
REQUEUED = "block/block_rq_requeue"
_FIELDS = ("sector", "nr_sector", "rwbs")
_WITH_THREAD = (*_FIELDS, "common_pid", "comm")

# Letters of the command that zeroes a range, in older and newer kernels.
_ZEROING = ("N", "WZ")
# Most bios that wait for their request; more wait only if requests are missing.
_MOST_WAITING = 1 << 17
_LONGEST_WAIT_NS = 30_000_000_000
# Neighbours on the disk that are compared: the nearest may be of other times.
_NEIGHBOURS = 8
# Bits of a key that sorts bios by class, first sector and order.
_SECTOR_BITS, _ORDER_BITS = 41, 21


class _Class(IntEnum):
    """Class of operations, of which a bio and its request have the same."""

    READ = 0
    WRITE = 1
    TRIM = 2
    OTHER = 3


class Letters(NamedTuple):
    """Meaning of the letters of RWBS."""

    op: int
    """Position in `OPERATIONS`; -1 for others, such as zone commands."""
    group: int
    starts_with_flush: bool
    is_fua: bool
    is_metadata: bool
    zeroes: bool
    """Whether it zeroes a range, which the kernel counts as a write."""


@cache
def letters_of(rwbs: bytes) -> Letters:
    """Return the meaning of RWBS.

    >>> letters_of(b"WFS").is_fua, letters_of(b"FWSM").is_fua, letters_of(b"FF").op
    (True, False, 3)
    """
    text = rwbs.decode("ascii", "replace")
    name = operation_of_rwbs(text)
    op = OPERATIONS.index(name) if name in OPERATIONS else -1
    group = {"read": _Class.READ, "write": _Class.WRITE, "trim": _Class.TRIM}
    command = text.removeprefix("F")
    flags = command[1:]
    zeroes = command.startswith(_ZEROING)
    if zeroes:
        op = OPERATIONS.index("write")
    return Letters(
        op=op,
        group=int(group.get(str(name), _Class.OTHER)),
        starts_with_flush=text.startswith("F"),
        is_fua=name == "write" and "F" in flags,
        is_metadata="M" in flags,
        zeroes=zeroes,
    )


@dataclass(frozen=True)
class Requests:
    """Requests in the order of time; each array has the shape (requests,).

    Attributes:
        time_ns: time by the trace clock.
        op: position in `OPERATIONS`.
        sector, sectors: range of the disk; 0 for flushes.
        is_fua: whether a write must be durable before its answer.
        is_metadata: whether the file system marked it as metadata.
        thread, comm: the thread that queued it and its name; thread 0 if it is unknown.
    """

    time_ns: npt.NDArray[np.int64]
    op: npt.NDArray[np.int8]
    sector: npt.NDArray[np.int64]
    sectors: npt.NDArray[np.int64]
    is_fua: npt.NDArray[np.bool_]
    is_metadata: npt.NDArray[np.bool_]
    thread: npt.NDArray[np.int32]
    comm: npt.NDArray[np.bytes_]

    @property
    def size(self) -> int:
        """Number of requests."""
        return len(self.time_ns)

    def take(self, places: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> Requests:
        """Return the requests at these places."""
        return Requests(**{name: array[places] for name, array in vars(self).items()})

    def within(self, sector: npt.NDArray[np.int64], sectors: npt.NDArray[np.int64]) -> Requests:
        """Return the requests with other ranges."""
        return replace(self, sector=sector, sectors=sectors)


class RequestReader:
    """Reader of a disk's block events; it remembers the bios whose requests are still to come."""

    def __init__(self, disk: Disk) -> None:
        """Read the requests of a disk or partition."""
        self._disk = disk
        self._waiting: _Bios | None = None
        self.left_out: Counter[str] = Counter()
        """Events that are not requests of data, by reason."""
        self.zeroing_requests = 0
        self.zeroed_bytes = 0
        """Number and bytes of the requests that zero a range."""

    def tracepoints(self) -> list[RecordedEvent]:
        """Return the events to record."""
        of_disk = f"dev == {self._disk.disk_number}"
        points = [RecordedEvent(QUEUED, _WITH_THREAD, of_disk)]
        if self._disk.has_requests:
            points.append(RecordedEvent(ISSUED, _WITH_THREAD, of_disk))
            points.append(RecordedEvent(REQUEUED, _FIELDS, of_disk))
        return points

    def read(self, events: dict[str, Events]) -> Requests:
        """Return the requests of the events of a moment; later calls need later events."""
        queued = _of_disk(events[QUEUED], self._disk)
        if not self._disk.has_requests:
            return self._rows(queued, queued.fields["common_pid"], queued.fields["comm"])
        issued = _without(
            _of_disk(events[ISSUED], self._disk), _of_disk(events[REQUEUED], self._disk)
        )
        bios = _Bios.of(queued, self._waiting)
        thread, comm = bios.threads_of(issued)
        self._waiting = bios.not_issued(issued)
        return self._rows(issued, thread, comm)

    def _rows(
        self, events: Events, thread: npt.NDArray[np.int32], comm: npt.NDArray[np.bytes_]
    ) -> Requests:
        fields = events.fields
        letters, codes = _letters(fields["rwbs"])
        op = letters["op"][codes]
        sectors = fields["nr_sector"].astype(np.int64)
        is_flush = (op == OPERATIONS.index("flush")) | (
            letters["starts_with_flush"][codes] & (sectors == 0)
        )
        is_other = ~is_flush & (op < 0)
        is_empty = ~is_flush & ~is_other & (sectors == 0)
        self._count(is_other, fields, sectors)
        self.left_out["requests without sectors"] += int(is_empty.sum())
        is_row = ~is_other & ~is_empty
        zeroes = is_row & letters["zeroes"][codes]
        self.zeroing_requests += int(zeroes.sum())
        self.zeroed_bytes += int(sectors[zeroes].sum()) * SECTOR_BYTES
        requests = Requests(
            time_ns=events.time_ns,
            op=np.where(is_flush, OPERATIONS.index("flush"), op).astype(np.int8),
            sector=np.where(is_flush, 0, fields["sector"].astype(np.int64)),
            sectors=np.where(is_flush, 0, sectors),
            is_fua=letters["is_fua"][codes] & ~is_flush,
            is_metadata=letters["is_metadata"][codes],
            thread=thread,
            comm=comm,
        )
        return requests.take(is_row)

    def _count(
        self,
        is_other: npt.NDArray[np.bool_],
        fields: npt.NDArray[np.void],
        sectors: npt.NDArray[np.int64],
    ) -> None:
        """Count the commands that are neither reads, writes, discards nor flushes."""
        for rwbs, count in Counter(fields["rwbs"][is_other].tolist()).items():
            self.left_out[f"events with RWBS {rwbs.decode('ascii', 'replace')}"] += count


@dataclass(frozen=True)
class _Bios:
    """Bios in the order of time, and their order by class, first sector and time."""

    events: Events
    keys: npt.NDArray[np.uint64]
    order: npt.NDArray[np.intp]

    @staticmethod
    def of(queued: Events, waiting: _Bios | None) -> _Bios:
        """Return the bios that wait and those of the events."""
        events = queued if waiting is None else Events.joined([waiting.events, queued])
        keys = _keys(events, np.arange(len(events.time_ns)))
        order = np.argsort(keys)
        return _Bios(events, keys[order], order)

    def threads_of(self, issued: Events) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bytes_]]:
        """Return the thread that queued each request and its name; 0 if it is unknown."""
        source = self._bio_of(issued)
        is_matched = source >= 0
        thread, comm = issued.fields["common_pid"].copy(), issued.fields["comm"].copy()
        thread[is_matched] = self.events.fields["common_pid"][source[is_matched]]
        comm[is_matched] = self.events.fields["comm"][source[is_matched]]
        # A worker that issues a request whose bio is unknown works for an unknown process.
        is_unknown = ~is_matched & is_worker(comm)
        thread[is_unknown] = 0
        return thread, comm

    def not_issued(self, issued: Events) -> _Bios | None:
        """Return the bios whose request, or whose last request, is still to come."""
        bios = self.events
        if not len(bios.time_ns):
            return None
        waits = np.ones(len(bios.time_ns), bool)
        if len(issued.time_ns):
            keys = _keys(issued, np.arange(len(issued.time_ns)))
            order = np.argsort(keys)
            # The latest request of the same class that begins at or before the bio's last sector.
            length = bios.fields["nr_sector"].astype(np.uint64)
            last_sector = np.maximum(length, np.uint64(1)) - np.uint64(1)
            last = _keys(bios, np.zeros(len(waits), np.intp))
            last += last_sector << np.uint64(_ORDER_BITS)
            last |= np.uint64((1 << _ORDER_BITS) - 1)
            place = np.searchsorted(keys[order], last, "right")
            groups, ends, bio_ends = _groups(issued), _ends(issued), _ends(bios)
            for _ in range(_NEIGHBOURS):
                place -= 1
                request = order[np.maximum(place, 0)]
                is_it = (place >= 0) & (groups[request] == _groups(bios))
                is_it &= (issued.time_ns[request] >= bios.time_ns) & (ends[request] >= bio_ends)
                waits &= ~is_it
        waits &= bios.time_ns >= bios.time_ns[-1] - _LONGEST_WAIT_NS
        places = np.flatnonzero(waits)[-_MOST_WAITING:]
        return _Bios.of(bios.take(places), None)

    def _bio_of(self, issued: Events) -> npt.NDArray[np.intp]:
        """Return the place of the bio that begins each request, or -1."""
        bios, requests = self.events, len(issued.time_ns)
        source = np.full(requests, -1, np.intp)
        if not len(bios.time_ns) or not requests:
            return source
        earlier = np.searchsorted(bios.time_ns, issued.time_ns, "right")
        groups, sectors, ends = _groups(bios), _sectors(bios), _ends(bios)
        issued_groups, issued_sectors = _groups(issued), _sectors(issued)
        place = np.searchsorted(self.keys, _keys(issued, earlier), "left") - 1
        bio = self.order[np.maximum(place, 0)]
        begins = (place >= 0) & (groups[bio] == issued_groups) & (sectors[bio] == issued_sectors)
        source[begins] = bio[begins]
        # The others begin within a bio that was split.
        for request in np.flatnonzero(~begins):
            sector, before_it = issued_sectors[request], slice(earlier[request])
            contains = (sectors[before_it] <= sector) & (ends[before_it] > sector)
            contains &= groups[before_it] == issued_groups[request]
            places = np.flatnonzero(contains)
            if len(places):
                source[request] = places[-1]
        return source


def _letters(
    rwbs: npt.NDArray[np.bytes_],
) -> tuple[dict[str, npt.NDArray[Any]], npt.NDArray[np.intp]]:
    """Return the meaning of each kind of RWBS, and the kind of each event."""
    kinds, codes = np.unique(rwbs, return_inverse=True)
    meanings = [letters_of(kind) for kind in kinds.tolist()]
    columns = {
        name: np.array([getattr(meaning, name) for meaning in meanings], kind)
        for name, kind in (
            ("op", np.int8),
            ("group", np.uint64),
            ("starts_with_flush", bool),
            ("is_fua", bool),
            ("is_metadata", bool),
            ("zeroes", bool),
        )
    }
    return columns, codes


def _of_disk(events: Events, disk: Disk) -> Events:
    """Return the events within the partition, and those without a range of sectors."""
    first = events.fields["sector"].astype(np.int64)
    is_within = (first >= disk.first_sector) & (first < disk.first_sector + disk.sectors)
    return events.take(is_within | (events.fields["nr_sector"] == 0))


def _without(issued: Events, requeued: Events) -> Events:
    """Return the events without those whose request went back to the queue, to be issued again."""
    if not len(requeued.time_ns):
        return issued
    stays = np.ones(len(issued.time_ns), bool)
    for time_ns, fields in zip(requeued.time_ns, requeued.fields, strict=True):
        is_it = stays & (issued.time_ns <= time_ns)
        is_it &= issued.fields["sector"] == fields["sector"]
        is_it &= issued.fields["nr_sector"] == fields["nr_sector"]
        places = np.flatnonzero(is_it)
        if len(places):
            stays[places[-1]] = False
    return issued.take(stays)


def _groups(events: Events) -> npt.NDArray[np.uint64]:
    letters, codes = _letters(events.fields["rwbs"])
    groups: npt.NDArray[np.uint64] = letters["group"][codes]
    return groups


def _sectors(events: Events) -> npt.NDArray[np.uint64]:
    """Return the first sector of each event; flushes have none."""
    has_range = events.fields["nr_sector"] > 0
    return np.where(has_range, events.fields["sector"], 0).astype(np.uint64)


def _ends(events: Events) -> npt.NDArray[np.uint64]:
    return _sectors(events) + events.fields["nr_sector"].astype(np.uint64)


def _keys(events: Events, order: npt.NDArray[np.intp]) -> npt.NDArray[np.uint64]:
    keys = _sectors(events) & np.uint64((1 << _SECTOR_BITS) - 1)
    keys <<= np.uint64(_ORDER_BITS)
    keys |= order.astype(np.uint64)
    keys |= _groups(events) << np.uint64(_SECTOR_BITS + _ORDER_BITS)
    return keys
