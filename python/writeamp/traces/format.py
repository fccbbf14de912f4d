"""Trace formats: the type of each entry of the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from writeamp.errors import WriteampError
from writeamp.traces.row_format import RowFormat
from writeamp.traces.source import Head
from writeamp.traces.trace import Trace


@dataclass(frozen=True)
class ReadOptions:
    """Options of reading a trace; each format says which it takes."""

    action: str | None = None


def only_read(name: str) -> Callable[[Trace, BinaryIO], list[str]]:
    """Return the writer of a format that is only read: it refuses."""

    def refuse(trace: Trace, file: BinaryIO) -> list[str]:
        raise WriteampError(f"traces are not written as {name}; choose another, such as parquet")

    return refuse


@dataclass(frozen=True)
class Format:
    """Trace format of the registry.

    Attributes:
        name: the word users write.
        summary: one line for lists and help.
        columns: the form of a row.
        units: units and polarity, in words.
        detection: the rule of ``matches``, in words.
        matches: whether the beginning of a file looks like this format.
        certain: False where another known format has the same look but other units, so that the
            format must be named.
        unmistakable: no other table has this look, so that its consequences need no check.
        read: path and options to trace.
        write: writes a trace to an open file; returns notes on what was rounded or renamed.
        actions: values of the ``action`` option, the default first; none if it takes none.
        rows: path to the rows of a text with one request a line, which is then read in blocks.
        is_written: whether traces are written in it, too.
        has_devices: whether the requests of a format without rows say which device they are for.
    """

    name: str
    summary: str
    columns: str
    units: str
    detection: str
    matches: Callable[[Head], bool]
    read: Callable[[Path, ReadOptions], Trace]
    write: Callable[[Trace, BinaryIO], list[str]]
    certain: bool = True
    unmistakable: bool = False
    actions: tuple[str, ...] = ()
    rows: Callable[[Path], RowFormat] | None = None
    is_written: bool = True
    has_devices: bool = True

    def names_devices(self, path: Path) -> bool:
        """Return whether the requests of a file say which device they are for."""
        return self.has_devices if self.rows is None else bool(self.rows(path).device_columns)
