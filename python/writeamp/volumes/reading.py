"""Reading of a fleet's files in order of time, by several threads, in chunks.

A file is read in pieces; the requests of many pieces form a chunk. Memory holds some pieces and one
chunk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from writeamp.runners import Progress, stop_if_asked
from writeamp.traces.format import Format, ReadOptions
from writeamp.traces.reading import FilePosition, ReadPiece, TracePiece, format_of, read_pieces
from writeamp.traces.source import file_path
from writeamp.volumes.facts import Columns
from writeamp.volumes.spills import Chunk, Gathering, chunk_of, write_chunk

CHUNK_REQUESTS = 4 << 20
# Requests for which memory is reserved. The last piece of a chunk may exceed the size of a chunk by
# this margin.
_ROOM = CHUNK_REQUESTS + (1 << 19)


@dataclass(frozen=True)
class Input:
    """File of a fleet: name, path and format, and the name of its volume if it holds only one."""

    name: str
    path: Path
    entry: Format
    volume: str | None


def inputs_of(
    paths: Sequence[str], trace_format: str | None, options: ReadOptions, *, by_file: bool | None
) -> list[Input]:
    """Return the files in order of the time of their first request.

    Args:
        paths: paths of the files.
        trace_format: format of all files; None detects the format of each.
        options: options of reading.
        by_file: whether each file is one volume; None if this holds only for files without device
            names.

    Raises:
        WriteampError: a file cannot be read, or its format cannot be determined.
    """
    fleet_files = []
    for name in paths:
        path = file_path(name)
        entry = format_of(path, trace_format, options.action)
        is_one = not entry.names_devices(path) if by_file is None else by_file
        fleet_files.append(Input(name, path, entry, _stem(Path(name).name) if is_one else None))
    if len(fleet_files) == 1:
        return fleet_files
    first_ns = {file.name: _first_ns(file, options) for file in fleet_files}
    return sorted(fleet_files, key=lambda file: first_ns[file.name])


def _first_ns(file: Input, options: ReadOptions) -> int:
    for reading in read_pieces(file.entry, file.path, options):
        requests = reading().requests
        if not requests.is_empty():
            return int(requests["timestamp_ns"][0])
    return 0


def _stem(name: str) -> str:
    """Return a file name without the suffixes of compression and format.

    >>> _stem("w03.oracle.vscsi.zst")
    'w03.oracle'
    """
    for suffix in (".gz", ".zst", ".xz", ".bz2"):
        name = name.removesuffix(suffix)
    return name.rpartition(".")[0] or name


def read_into(
    folder: Path,
    inputs: Sequence[Input],
    options: ReadOptions,
    finished_chunks: Sequence[Chunk],
    *,
    threads: int,
    progress: Progress | None = None,
) -> list[Chunk]:
    """Read the requests that are not in a chunk yet; return descriptions of all chunks.

    Args:
        folder: folder of the chunks.
        inputs: the files in their order.
        options: options of reading.
        finished_chunks: chunks that exist already.
        threads: number of reading threads.
        progress: called with the number of requests read, and 0 as the unknown total.

    Raises:
        WriteampError: a file cannot be read, a row is not valid, or the disk is full.
    """
    chunks = list(finished_chunks)
    code_of = {name: code for code, name in enumerate(n for chunk in chunks for n in chunk.names)}
    last = chunks[-1] if chunks else None
    start = (
        (0, FilePosition()) if last is None else (last.input, FilePosition(last.before, last.line))
    )
    done = sum(chunk.requests for chunk in chunks)
    gathering, other = Gathering(_ROOM), Gathering(_ROOM)
    place = start
    with ThreadPoolExecutor(threads) as pool:
        writing: Future[None] = pool.submit(_nothing)

        def spill() -> None:
            nonlocal gathering, other, writing
            writing.result()
            at = (place[0], place[1].position, place[1].line)
            chunks.append(chunk_of(len(chunks), gathering, at))
            writing = pool.submit(write_chunk, folder, chunks[-1], gathering)
            gathering, other = other, gathering
            gathering.clear()

        try:
            readings = _readings(inputs, options, start)
            for number, piece in _in_turn(pool, readings, waiting=2 * threads):
                stop_if_asked()
                _add(piece, inputs[number].volume, code_of, gathering)
                place = (number, piece.end)
                done += piece.requests.height
                if gathering.requests >= CHUNK_REQUESTS:
                    spill()
                if progress:
                    progress(done, 0)
            if gathering.requests:
                spill()
            writing.result()
        finally:
            pool.shutdown(cancel_futures=True)
    return chunks


def _nothing() -> None:
    """Do nothing: the write before the first chunk."""


def _readings(
    inputs: Sequence[Input], options: ReadOptions, start: tuple[int, FilePosition]
) -> Iterator[tuple[int, ReadPiece]]:
    first, place = start
    for number, file in enumerate(inputs[first:], first):
        begin = place if number == first else None
        for reading in read_pieces(file.entry, file.path, options, begin):
            yield number, reading


def _in_turn(
    pool: ThreadPoolExecutor, readings: Iterator[tuple[int, ReadPiece]], waiting: int
) -> Iterator[tuple[int, TracePiece]]:
    """Yield pieces in the order of `readings`, while the next ones are read by other threads."""
    queue: deque[tuple[int, Future[TracePiece]]] = deque()
    for number, reading in readings:
        queue.append((number, pool.submit(reading)))
        if len(queue) >= waiting:
            first, future = queue.popleft()
            yield first, future.result()
    for number, future in queue:
        yield number, future.result()


def _add(piece: TracePiece, volume: str | None, code_of: dict[str, int], to: Gathering) -> None:
    """Add the requests of a piece, and give numbers to new volumes."""
    requests = piece.requests
    if requests.is_empty():
        return
    names = piece.devices if volume is None else [volume] * len(piece.devices)
    for name in names:
        if name not in code_of:
            code_of[name] = len(code_of)
            to.names.append(name)
    codes = np.array([code_of[name] for name in names], np.uint32)
    op = requests["op"].to_physical().to_numpy().astype(np.uint8, copy=False)
    to.add(
        codes[requests["device"].to_numpy()],
        Columns(
            requests["timestamp_ns"].to_numpy(),
            op,
            requests["offset"].to_numpy(),
            requests["length"].to_numpy(),
        ),
    )
