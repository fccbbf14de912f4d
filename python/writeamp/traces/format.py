"""Trace formats: the type of each entry of the registry."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from writeamp.errors import WriteampError
from writeamp.traces.row_format import RowFormat, any_line
from writeamp.traces.source import Head
from writeamp.traces.trace import Trace


@dataclass(frozen=True)
class ReadOptions:
    """Options of reading a trace; each format says which it takes."""

    action: str | None = None


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
        reader: path and options to trace; None for a format that its rows read.
        writer: writes a trace to an open file; returns notes on what was rounded or renamed. None
            for a format that is only read.
        actions: values of the ``action`` option, the default first; none if it takes none.
        rows: path to the rows of a text with one request a line, which is then read in blocks.
        has_devices: whether the requests of a format without rows say which device they are for.
    """

    name: str
    summary: str
    columns: str
    units: str
    detection: str
    matches: Callable[[Head], bool]
    reader: Callable[[Path, ReadOptions], Trace] | None = None
    writer: Callable[[Trace, BinaryIO], list[str]] | None = None
    certain: bool = True
    unmistakable: bool = False
    actions: tuple[str, ...] = ()
    rows: Callable[[Path], RowFormat] | None = None
    has_devices: bool = True

    @classmethod
    def of_rows(
        cls, rows: RowFormat, row: re.Pattern[str], *, is_written: bool = True, **others: Any
    ) -> Format:
        """Return the format of rows that are the same in all files, and are detected one by one.

        Args:
            rows: the rows.
            row: the form of a row.
            is_written: whether traces are written in this format, too.
            others: the remaining attributes.
        """
        attributes = {"name": rows.name, "columns": rows.layout.form} | others
        return cls(
            **attributes,
            matches=partial(any_line, row),
            writer=rows.write if is_written else None,
            rows=lambda path: rows,
        )

    @property
    def is_written(self) -> bool:
        """Whether traces are written in this format, too."""
        return self.writer is not None

    def read(self, path: Path, options: ReadOptions) -> Trace:
        """Read a file; raises `WriteampError` as the reader does."""
        if self.reader is not None:
            return self.reader(path, options)
        assert self.rows is not None, f"the format {self.name} has neither a reader nor rows"
        return self.rows(path).read(path)

    def write(self, trace: Trace, file: BinaryIO) -> list[str]:
        """Write a trace, and return the notes of the writer.

        Raises:
            WriteampError: the format is only read, or cannot carry a request.
        """
        if self.writer is None:
            kind = self.name.partition(":")[0]  # what follows are the columns of one file
            raise WriteampError(
                f"traces are not written as {kind}; choose another, such as parquet"
            )
        return self.writer(trace, file)

    def names_devices(self, path: Path) -> bool:
        """Return whether the requests of a file say which device they are for."""
        return self.has_devices if self.rows is None else bool(self.rows(path).device_columns)
