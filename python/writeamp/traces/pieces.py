"""Pieces of a trace file in their order, each of which any thread can read on its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import polars as pl

from writeamp.traces.devices import DeviceCodes
from writeamp.traces.format import Format, ReadOptions
from writeamp.traces.row_format import RowFormat
from writeamp.traces.source import Block, read_blocks

# Requests in a piece of a format that is not read in blocks.
_PIECE_ROWS = 1 << 17


@dataclass(frozen=True)
class Place:
    """Place in a trace file: the bytes before it and its line, or the requests before it."""

    before: int = 0
    line: int = 1


@dataclass(frozen=True)
class Piece:
    """Requests of a part of a file; `devices` are names by the values of `device`."""

    requests: pl.DataFrame
    devices: list[str]
    end: Place


# Reads a piece.
Reading: TypeAlias = Callable[[], Piece]


def read_pieces(
    entry: Format, path: Path, options: ReadOptions, start: Place | None = None
) -> Iterator[Reading]:
    """Yield what reads the pieces of a file, one after the other.

    Of a format without rows, whose lines hang together, the whole file is read at the first.

    Args:
        entry: the format of the file.
        path: the file.
        options: how to read it.
        start: the end of an earlier piece; None for the beginning.

    Raises:
        WriteampError: the file cannot be read; of a row that is not valid, the reading raises it.
    """
    start = start or Place()
    if entry.rows is None:
        trace = entry.read(path, options)
        for first in range(start.before, trace.requests.height, _PIECE_ROWS):
            part = trace.requests.slice(first, _PIECE_ROWS)
            piece = Piece(part, trace.devices, Place(first + part.height))
            yield partial(_itself, piece)
        return
    rows = entry.rows(path)
    for block in read_blocks(path, first_byte=start.before, first_line=start.line):
        yield partial(_read, rows, block)


def _itself(piece: Piece) -> Piece:
    return piece


def _read(rows: RowFormat, block: Block) -> Piece:
    devices = DeviceCodes(rows.device_separator)
    requests = rows.requests_of(block, devices)
    end = Place(block.end_byte, block.end_line)
    return Piece(requests, devices.names, end)
