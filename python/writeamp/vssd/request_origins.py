"""Processes and files of a drive's requests, from the requests of its block device.

The block device gets each request a moment before the drive does. So the origin of a request is
that of the latest request of the block device to the same place.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.recorder.extents import NO_OWNER, Allocations, ExtentMap, Integers
from writeamp.recorder.split import Pieces, pieces_of
from writeamp.traces.recording import ORIGINS_AS_TEXT
from writeamp.traces.trace import ORIGINS, SECTOR_BYTES


class RequestOrigins:
    """Origins of a drive's requests, in the order in which the drive got them.

    Attributes:
        written_bytes: bytes of the counted writes so far.
        shared_bytes: those whose file or process is not the one of their row.
    """

    def __init__(
        self,
        block_requests: Iterable[pl.DataFrame],
        *,
        zero_ns: int,
        time_scale: float,
        page_bytes: int | None,
        first_counted: int,
    ) -> None:
        """Attribute requests.

        Args:
            block_requests: requests of the block device with the columns `ORIGINS`, in order.
            zero_ns: time of the block device's requests at which the drive's time was 0.
            time_scale: duration of 1 ns of the drive, in ns.
            page_bytes: pages of the drive at which writes may be divided; None to divide none.
            first_counted: number of requests before counting began, which are not divided.
        """
        self._blocks = _BlockRequests(block_requests)
        self._zero_ns = zero_ns
        self._time_scale = time_scale
        self._page_bytes = page_bytes
        self._uncounted = first_counted
        self._owners = ExtentMap(Allocations.none())
        self.written_bytes = self.shared_bytes = 0

    def attributed(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the next requests of the drive with the columns `ORIGINS`, null if unknown.

        A write to several files becomes a row for each file. Each row begins at a page, so that a
        replay programs the same pages; a page with several files belongs to the first of them.
        """
        at_ns = self._zero_ns + (rows["timestamp_ns"].to_numpy() * self._time_scale).astype(int)
        first, end = _ranges(rows)
        pieces = pieces_of(
            at_ns,
            first // SECTOR_BYTES,
            -(-end // SECTOR_BYTES),
            self._owners,
            self._blocks.until(int(at_ns[-1])),
        )
        may_divide = (rows["op"] == "write").to_numpy().copy()
        may_divide[: self._uncounted] = False
        self._uncounted = max(self._uncounted - rows.height, 0)
        pieces, begins = self._at_pages(pieces, first, end, may_divide)
        following = np.append(pieces.request[1:], -1)
        ends = np.where(following == pieces.request, np.append(begins[1:], -1), end[pieces.request])
        is_counted = may_divide[pieces.request]
        self.written_bytes += int((ends - begins)[is_counted].sum())
        of_others = np.maximum(ends - pieces.end * SECTOR_BYTES, 0)
        self.shared_bytes += int(of_others[is_counted].sum())
        divided = rows[pieces.request].with_columns(
            pl.Series("offset", begins, rows.schema["offset"]),
            pl.Series("length", ends - begins, rows.schema["length"]),
        )
        return divided.hstack(self._blocks.origins(pieces.owner))

    def _at_pages(
        self, pieces: Pieces, first: Integers, end: Integers, may_divide: npt.NDArray[np.bool_]
    ) -> tuple[Pieces, Integers]:
        """Return the pieces that become rows, and the bytes at which the rows begin.

        Args:
            pieces: pieces of requests.
            first, end: ranges of the requests in bytes.
            may_divide: whether each request may become several rows.
        """
        request = pieces.request
        is_first = np.append(True, request[1:] != request[:-1])
        begins, stays = first[request], is_first
        if self._page_bytes is not None:
            page = -(-pieces.first * SECTOR_BYTES // self._page_bytes)
            begins = np.where(is_first, begins, page * self._page_bytes)
            is_within = may_divide[request] & (begins < end[request])
            # Of the pieces that begin in one page, only the last reaches into the next page.
            is_passed = (np.append(request[1:], -1) == request) & (
                np.append(begins[1:], -1) == begins
            )
            stays = is_first | (is_within & ~is_passed)
        return Pieces(*(column[stays] for column in vars(pieces).values())), begins[stays]


class _BlockRequests:
    """Requests of a block device in the order of time, with numbers for their origins."""

    def __init__(self, frames: Iterable[pl.DataFrame]) -> None:
        self._frames = iter(frames)
        self._waiting: list[Allocations] = []
        self._numbers: dict[tuple[object, ...], int] = {}

    def until(self, time_ns: int) -> Allocations:
        """Return the requests until a time, without those that an earlier call returned."""
        while not self._waiting or self._waiting[-1].time_ns[-1] <= time_ns:
            frame = next(self._frames, None)
            if frame is None:
                break
            requests = self._owned(frame.filter(pl.col("length") > 0))
            self._waiting += [requests] if requests.size else []
        requests = Allocations.joined([Allocations.none(), *self._waiting])
        count = int(requests.time_ns.searchsorted(time_ns, "right"))
        later = requests.take(slice(count, None))
        self._waiting = [later] if later.size else []
        return requests.take(slice(count))

    def origins(self, numbers: Integers) -> pl.DataFrame:
        """Return the origins of numbers, null for `NO_OWNER`."""
        origins = pl.DataFrame([*self._numbers], ORIGINS_AS_TEXT, orient="row")
        return origins.select(pl.all().gather(pl.Series(numbers).replace(NO_OWNER, None)))

    def _owned(self, requests: pl.DataFrame) -> Allocations:
        """Return requests as allocations of their ranges, whose owners are numbers of origins."""
        columns = [*ORIGINS]
        distinct = requests.select(columns).unique(maintain_order=True)
        numbers = [self._numbers.setdefault(row, len(self._numbers)) for row in distinct.rows()]
        numbered = requests.join(
            distinct.with_columns(pl.Series("number", numbers, pl.Int64)),
            on=columns,
            nulls_equal=True,
            maintain_order="left",
        )
        first, end = _ranges(numbered)
        return Allocations(
            numbered["timestamp_ns"].to_numpy(),
            first // SECTOR_BYTES,
            end // SECTOR_BYTES,
            numbered["number"].to_numpy(),
        )


def _ranges(requests: pl.DataFrame) -> tuple[Integers, Integers]:
    """Return the first byte and the end of each request."""
    first = requests["offset"].cast(pl.Int64).to_numpy()
    return first, first + requests["length"].cast(pl.Int64).to_numpy()
