"""Trace formats: the type of the registry's entries."""

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
    """Options of reading a trace; each format supports only some of these options.

    `origins` is whether to read the columns `process`, `pid`, `file` and `hint` if the file has
    them; None only from Parquet and from columns that users stated.
    """

    action: str | None = None
    origins: bool | None = False


@dataclass(frozen=True)
class Format:
    """Trace format of the registry.

    Attributes:
        name: the word that users write.
        summary: one line for lists and help.
        columns: the form of a row.
        units: units of the values, and meaning of the operation codes, in words.
        detection: rule of ``matches`` that recognizes the format, in words.
        matches: whether the beginning of a file looks like this format.
        certain: False if another known format looks the same but has other units, so that users
            must name the format.
        unmistakable: whether no other format looks similar, so that values need no plausibility
            check.
        reader: reads a trace from path and options; None for a format with `rows`.
        writer: writes a trace to an open file and returns notes on rounding and renaming;
            None for a format that cannot be written.
        actions: values of the ``action`` option, the default first; empty if it takes none.
        rows: returns the row format of a path, for text with one request per line, which is read
            in blocks.
        has_devices: whether the requests of a format without rows name their devices.
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
        """Return a format with the same row layout in all files, detected by the form of a row.

        Args:
            rows: the row format of all files.
            row: pattern of a row.
            is_written: whether traces can also be written in this format.
            others: the remaining attributes of `Format`.
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
        """Whether traces can be written in this format."""
        return self.writer is not None

    def read(self, path: Path, options: ReadOptions) -> Trace:
        """Read a file.

        Raises:
            WriteampError: the file cannot be read, or a request is not valid.
        """
        if self.reader is not None:
            return self.reader(path, options)
        assert self.rows is not None, f"the format {self.name} has neither a reader nor rows"
        return self.rows(path).read(path, origins=options.origins)

    def write(self, trace: Trace, file: BinaryIO) -> list[str]:
        """Write a trace, and return the notes of the writer.

        Raises:
            WriteampError: the format cannot be written, or cannot represent a request.
        """
        if self.writer is None:
            kind = self.name.partition(":")[0]  # only "columns" of a text `columns:…`
            raise WriteampError(
                f"traces cannot be written as {kind}; choose another format, such as parquet"
            )
        return self.writer(trace, file)

    def names_devices(self, path: Path) -> bool:
        """Return whether the requests of a file name their devices."""
        return self.has_devices if self.rows is None else bool(self.rows(path).device_columns)
