"""Spills: chunks of a split's requests in temporary files, each chunk sorted by volume.

A chunk is a file of columns and a note that describes it. The note is written last; a chunk without
a note is ignored, so that the process may be killed at any time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError
from writeamp.files import output
from writeamp.files.inputs import read_bytes
from writeamp.volumes.facts import Columns

_MOST_BYTES = 64 << 20
_DTYPES = {"timestamp_ns": "<i8", "offset": "<u8", "length": "<u4", "op": "u1"}


class Gathering:
    """Requests of one chunk in the order of reading, in arrays that the next chunk reuses.

    Arrays are reused because allocating new memory would take as long as sorting the requests.
    """

    def __init__(self, room: int) -> None:
        """Reserve space for `room` requests; it grows if more are added."""
        self.names: list[str] = []
        self.requests = 0
        self._code = np.empty(room, np.uint32)
        self._columns = {name: np.empty(room, dtype) for name, dtype in _DTYPES.items()}
        self._taken = np.empty(room, np.uint64)

    def add(self, code: npt.NDArray[np.uint32], columns: Columns) -> None:
        """Add requests, with the number of the volume of each."""
        first, self.requests = self.requests, self.requests + len(code)
        if self.requests > len(self._code):
            self._grow(2 * self.requests)
        self._code[first : self.requests] = code
        for name, column in self._columns.items():
            column[first : self.requests] = getattr(columns, name)

    def clear(self) -> None:
        """Remove all requests, so that another chunk can begin."""
        self.names, self.requests = [], 0

    @property
    def code(self) -> npt.NDArray[np.uint32]:
        """Number of the volume of each request."""
        return self._code[: self.requests]

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a column of the requests."""
        return self._columns[name][: self.requests]

    def taken(self, name: str, order: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """Return a column in another order, in a buffer that the next call overwrites."""
        buffer = self._taken.view(_DTYPES[name])[: self.requests]
        # All indices are valid, so mode="clip" changes nothing. It avoids a copy by NumPy.
        return np.take(self.column(name), order, out=buffer, mode="clip")

    def _grow(self, room: int) -> None:
        self._code = np.resize(self._code, room)
        self._columns = {name: np.resize(column, room) for name, column in self._columns.items()}
        self._taken = np.empty(room, np.uint64)


@dataclass(frozen=True)
class Chunk:
    """Description of a chunk.

    Attributes:
        number: index of the chunk, from 0.
        requests: number of requests.
        names: names of the volumes that first appear in this chunk, in the order of their numbers.
        codes, counts: numbers of the volumes in the chunk, ascending, and the number of requests
            of each volume.
        input: index of the input file at which the next chunk begins.
        before, line: position and line in that file at which the next chunk begins, as in
            `FilePosition`.
    """

    number: int
    requests: int
    names: Sequence[str]
    codes: Sequence[int]
    counts: Sequence[int]
    input: int
    before: int
    line: int


def chunk_of(number: int, gathered: Gathering, place: tuple[int, int, int]) -> Chunk:
    """Return the description of a chunk that ends at a position: `input`, `before` and `line`."""
    counts = np.bincount(gathered.code)
    codes = np.flatnonzero(counts)
    names, requests = gathered.names, gathered.requests
    return Chunk(number, requests, names, codes.tolist(), counts[codes].tolist(), *place)


def write_chunk(folder: Path, chunk: Chunk, gathered: Gathering) -> None:
    """Write a chunk: its columns sorted by volume, and last its note.

    Raises:
        WriteampError: the chunk cannot be written.
    """
    rank = np.zeros(max(chunk.codes) + 1, np.uint16 if len(chunk.codes) <= 1 << 16 else np.uint32)
    rank[chunk.codes] = np.arange(len(chunk.codes))
    # The numbers are 16-bit if possible, because NumPy then uses a radix sort, which is faster.
    order = np.argsort(rank[gathered.code], kind="stable")
    with output.replacing(_data(folder, chunk.number), "chunk") as file:
        for name in _DTYPES:
            file.write(gathered.taken(name, order).data)
    with output.replacing(_note(folder, chunk.number), "chunk") as file:
        file.write(json.dumps(vars(chunk)).encode())


def chunks_in(folder: Path) -> list[Chunk]:
    """Return the descriptions of the chunks in a folder, up to a missing or incomplete one."""
    chunks: list[Chunk] = []
    while (note := _note(folder, len(chunks))).exists():
        try:
            chunk = Chunk(**json.loads(read_bytes(note, _MOST_BYTES, "note")))
            size = _data(folder, chunk.number).stat().st_size
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise WriteampError(
                f"cannot read {note}: {error}; remove the folder {folder}"
            ) from None
        if size != chunk.requests * _row_bytes():
            break  # incomplete: a power failure, since older versions did not sync files
        chunks.append(chunk)
    return chunks


def _row_bytes() -> int:
    return sum(np.dtype(dtype).itemsize for dtype in _DTYPES.values())


class Spills:
    """Chunks of a split that has read all files; they are accessed by volume.

    Each call reads from the files, because a memory map would keep the pages in the memory of the
    process.
    """

    def __init__(self, folder: Path, chunks: Sequence[Chunk]) -> None:
        """Use the chunks in a folder."""
        self.names = [name for chunk in chunks for name in chunk.names]
        self._folder = folder
        self._chunks = chunks
        self._places: list[list[tuple[int, int, int]]] = [[] for _ in self.names]
        for chunk in chunks:
            first = 0
            for code, count in zip(chunk.codes, chunk.counts, strict=True):
                self._places[code].append((chunk.number, first, first + count))
                first += count

    def requests_of(self, code: int) -> int:
        """Return the number of requests of a volume."""
        return sum(end - first for _, first, end in self._places[code])

    def volumes(self, codes: Sequence[int]) -> Columns:
        """Return the requests of volumes one after the other, each in the order of reading.

        The requests of consecutive volume numbers are contiguous within a chunk, so each chunk is
        read once.
        """
        places = [place for code in codes for place in self._places[code]]
        spans: dict[int, tuple[int, int]] = {}
        for chunk, first, end in places:
            low, high = spans.get(chunk, (first, end))
            spans[chunk] = (min(low, first), max(high, end))
        return Columns(**{name: self._column(name, places, spans) for name in _DTYPES})

    def _column(
        self,
        name: str,
        places: Sequence[tuple[int, int, int]],
        spans: Mapping[int, tuple[int, int]],
    ) -> npt.NDArray[Any]:
        read = {chunk: self._read(name, chunk, *span) for chunk, span in spans.items()}
        return np.concatenate(
            [
                read[chunk][first - spans[chunk][0] : end - spans[chunk][0]]
                for chunk, first, end in places
            ]
        )

    def _read(self, name: str, chunk: int, first: int, end: int) -> npt.NDArray[Any]:
        """Return some rows of a chunk's column."""
        offset = 0
        for column, dtype in _DTYPES.items():
            size = np.dtype(dtype).itemsize
            if column == name:
                offset += first * size
                break
            offset += self._chunks[chunk].requests * size
        path = _data(self._folder, chunk)
        return np.fromfile(path, _DTYPES[name], count=end - first, offset=offset)


def _data(folder: Path, number: int) -> Path:
    return folder / f"chunk-{number:06}.columns"


def _note(folder: Path, number: int) -> Path:
    return folder / f"chunk-{number:06}.json"
