"""Row formats: text with one request per line and the same fields in all lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import polars as pl

from writeamp.errors import WriteampError
from writeamp.fields.domains import shown
from writeamp.text import Detail
from writeamp.traces.assemble import DeviceCodes, assemble
from writeamp.traces.rows import (
    DECIMAL_PLACES,
    RowCheck,
    RowLayout,
    extent_checks,
    nanoseconds,
    parse,
    time_check,
)
from writeamp.traces.source import Head, TextBlock, read_blocks
from writeamp.traces.text_output import (
    DEVICE,
    cut_times_notes,
    decimal_time,
    numeric_labels,
    read_or_write,
    refuse_early_times,
    refuse_operations,
    refuse_part_sectors,
    renaming_notes,
    sectors,
    write_columns,
)
from writeamp.traces.trace import (
    MAX_TIMESTAMP_NS,
    NUMBERS,
    OPTIONAL,
    SCHEMA,
    SECTOR_BYTES,
    Operation,
    Trace,
)
from writeamp.traces.words import HINT

# Number of first lines in which a row of a format is searched, as damaged lines and a header may
# come before it.
_LINES_OF_FORM = 32
# Largest number that the column of hints can hold; no manager has as many handles.
_LARGEST_HINT = 255


class Ticks(NamedTuple):
    """Column of times in whole numbers of a unit, with the unit's nanoseconds and name."""

    column: str
    nanoseconds: int
    unit: str


@dataclass(frozen=True)
class RowFormat:
    """Format of text with one request per row: fields, and conversion between rows and requests.

    Attributes:
        name: the format's name.
        layout: fields of a row in the file.
        device_columns: the columns that together name a device.
        device_separator: joins these columns to a device name.
        checks: conditions on values beyond their types; if they hold, the four expressions of
            `timestamp_ns`, `op`, `offset` and `length` give no nulls.
        timestamp_ns, op, offset, length: expressions that compute a request from the row's fields.
        notes: sentences on the units of the format, and on this file.
        header: first line of some copies of the format.
        without_others: function that empties the lines of a block that are not requests.
        left_out: function that returns notes on the emptied lines after all blocks are read.
        doubts: function that returns sentences on doubtful facts of the file after all blocks are
            read.
        origins: function that returns process, process number, file and hint of the requests
            of a block of a file, each if the format has it, with the types of `OPTIONAL` or text.
            It is called after `without_others`, with the whole block.
        states_hints: whether users stated the column of hints, which then is always read.
        states_origins: whether users stated the columns of `origins`, which then are always read.
        written: expressions over a request for the written fields that `request_rows` declares.
        in_sectors: the fields of a request that are written in sectors, of 512 bytes.
        tick: nanoseconds and name of the unit to which written times are cut.
    """

    name: str
    layout: RowLayout
    device_columns: list[str]
    checks: tuple[RowCheck, ...]
    timestamp_ns: pl.Expr
    op: pl.Expr
    offset: pl.Expr
    length: pl.Expr
    notes: Sequence[str]
    device_separator: str = "_"
    header: re.Pattern[bytes] | None = None
    without_others: Callable[[TextBlock], TextBlock] | None = None
    left_out: Callable[[], list[str]] = list
    doubts: Callable[[], list[str]] = list
    origins: Callable[[TextBlock], pl.DataFrame] | None = None
    states_origins: bool = False
    states_hints: bool = False
    written: Mapping[str, pl.Expr] = field(default_factory=dict)
    in_sectors: Sequence[str] = ()
    tick: tuple[int, str] = (1, "1 ns")

    def read(self, path: Path, *, origins: bool | None = False) -> Trace:
        """Read a file of this format, with the origins of its requests if the format has them.

        If `origins` is None, they are read only if users stated their columns.

        Raises:
            WriteampError: the file cannot be read, or a row is not valid (with file and line).
        """
        devices = DeviceCodes(self.device_separator)
        tables: list[pl.DataFrame] = []
        notes: list[str] = [*map(Detail, self.notes[:1]), *self.notes[1:]]
        ends_with_newline = True
        origins = self.states_origins if origins is None else origins or self.states_hints
        for block in read_blocks(path):
            if self._begins_with_header(block):
                notes.append("line 1 is a header")
            table = self.requests_of(block, devices)
            if origins and self.origins is not None:
                table = table.hstack(named_origins(self.origins(block)))
            tables.append(table)
            ends_with_newline = block.text.endswith(b"\n")
        if not ends_with_newline:
            notes.append("the file does not end with a newline: its last row may be cut")
        notes += self.left_out()
        return assemble(path, self.name, tables, devices, notes, doubts=self.doubts())

    def requests_of(self, block: TextBlock, devices: DeviceCodes) -> pl.DataFrame:
        """Return the requests of a block of a file, with the codes of their devices.

        Raises:
            WriteampError: a row is not valid (with file and line).
        """
        if self._begins_with_header(block):
            block = _without_first_line(block)
        if self.without_others is not None:
            block = self.without_others(block)
        rows = parse(block, self.layout, self.checks)
        return rows.select(
            timestamp_ns=self.timestamp_ns.cast(pl.Int64),
            device=devices.encode(rows, self.device_columns),
            op=self.op,
            offset=self.offset.cast(pl.UInt64),
            length=self.length.cast(pl.UInt32),
        ).select(SCHEMA.keys())

    def write(self, trace: Trace, file: BinaryIO) -> list[str]:
        """Write a trace of reads and writes as rows, with numbers for the devices.

        Returns:
            Notes on values that are changed in the file.

        Raises:
            WriteampError: the format cannot represent a request.
        """
        refuse_operations(trace, self.name, ["read", "write"])
        refuse_early_times(trace, self.name)
        refuse_part_sectors(trace, self.name, self.in_sectors)
        labels = numeric_labels(trace)
        columns = [self.written[name] for name in self.layout.fields]
        write_columns(trace.requests, columns, self.layout.separator, file, labels=labels)
        return [*renaming_notes(trace, labels), *cut_times_notes(trace, *self.tick, self.name)]

    def _begins_with_header(self, block: TextBlock) -> bool:
        return bool(block.first_line == 1 and self.header and self.header.match(block.text))


def request_rows(
    name: str,
    layout: RowLayout,
    devices: Sequence[str],
    op: tuple[str, Mapping[str, Sequence[str]]],
    *,
    time: str | Ticks | tuple[pl.Expr, RowCheck],
    offset: tuple[str, int],
    length: tuple[str, int],
    parsed_op: tuple[pl.Expr, RowCheck] | None = None,
    more_checks: Sequence[RowCheck] = (),
    **others: Any,
) -> RowFormat:
    """Return the row format of a layout that has a request's fields as columns.

    Args:
        name: the format's name.
        layout: the fields.
        devices: the columns that together name a device.
        op: the column of operations, and the spellings of each; the first one is written.
        time: a column of times (whole numbers are ns), or ticks, or an expression and its check.
        offset: its column, and the bytes of its unit.
        length: see `offset`.
        parsed_op: expression and check of the operation, if spellings are not sufficient.
        more_checks: further checks, which follow the checks of the columns.
        others: further fields of `RowFormat`.
    """
    op_column, words = op
    op_expression, op_check = parsed_op or operation(op_column, words)
    written = dict.fromkeys(devices, DEVICE)
    if {"read", "write"} <= words.keys():
        written[op_column] = read_or_write(words["read"][0], words["write"][0])
    units = {"offset": offset, "length": length}
    for field_name, (column, unit_bytes) in units.items():
        is_in_sectors = unit_bytes == SECTOR_BYTES
        written[column] = sectors(field_name) if is_in_sectors else pl.col(field_name)
    tick = (1, "1 ns")
    if isinstance(time, Ticks):
        tick = (time.nanoseconds, f"1 {time.unit}")
        written[time.column] = pl.col("timestamp_ns") // time.nanoseconds
        time = _whole_ticks(*time)
    elif isinstance(time, str):
        places = DECIMAL_PLACES.get(layout.fields[time], 0)
        written[time] = decimal_time(10**places) if places else pl.col("timestamp_ns")
        time = nanoseconds(time), time_check(time)
    time_expression, time_is_valid = time
    extents = extent_checks(
        offset[0], length[0], offset_unit_bytes=offset[1], length_unit_bytes=length[1]
    )
    return RowFormat(
        name=name,
        layout=layout,
        device_columns=list(devices),
        checks=(op_check, time_is_valid, *extents, *more_checks),
        timestamp_ns=time_expression,
        op=op_expression,
        offset=pl.col(offset[0]) * offset[1],
        length=pl.col(length[0]) * length[1],
        written=written,
        in_sectors=[name for name, (_, unit_bytes) in units.items() if unit_bytes == SECTOR_BYTES],
        tick=tick,
        **others,
    )


def _whole_ticks(column: str, tick_ns: int, unit: str) -> tuple[pl.Expr, RowCheck]:
    """Return the nanoseconds of a column of whole numbers of a unit, and their check."""
    last = MAX_TIMESTAMP_NS // tick_ns
    sentence = f"{column} {{{column}}} is out of range, valid are 0 to {last} {unit}"
    return pl.col(column) * tick_ns, RowCheck(pl.col(column) <= last, sentence)


def operation(column: str, words: Mapping[str, Sequence[str]]) -> tuple[pl.Expr, RowCheck]:
    """Return the expression that reads a column of operation words, and its check.

    ``words`` has the spellings of each operation.
    """
    spellings = [word for spelling in words.values() for word in spelling]
    expression: pl.Expr = pl.lit(None, Operation)
    for name, spelling in words.items():
        expression = (
            pl.when(_is_one_of(column, spelling))
            .then(pl.lit(name, Operation))
            .otherwise(expression)
        )
    valid = " and ".join(f"{words[name][0]} ({name})" for name in words)
    check = RowCheck(_is_one_of(column, spellings), f"{column} is {{{column}}}, valid are {valid}")
    return expression, check


def _is_one_of(column: str, words: Sequence[str]) -> pl.Expr:
    """Return whether a column has one of these words, by comparisons, which are fast."""
    return pl.any_horizontal([pl.col(column) == word for word in words])


def any_line(pattern: re.Pattern[str], head: Head) -> bool:
    """Return whether any of a file's first lines has the form of this format's rows.

    A single line suffices: a file with damaged rows still has its format, and reading it reports
    the damaged row.
    """
    return any(pattern.fullmatch(line) for line in head.lines[:_LINES_OF_FORM])


def named_origins(columns: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of the origin of requests with their types; empty names become null.

    Raises:
        WriteampError: a hint is not a whole number from 0 on.
    """
    return columns.select(
        _numbers_of_hints(columns[HINT])
        if name == HINT
        else (pl.col(name) if name in NUMBERS else _named(name)).cast(kind, strict=False)
        for name, kind in OPTIONAL.items()
        if name in columns.columns
    )


def _numbers_of_hints(hints: pl.Series) -> pl.Series:
    """Return the numbers of hints; those that are too large for the column become the largest."""
    if hints.dtype == pl.String:
        hints = hints.str.strip_chars().replace("", None)
    numbers = hints.cast(pl.Int64, strict=False)
    wrong = hints.filter(hints.is_not_null() & (numbers.is_null() | (numbers < 0)))
    if not wrong.is_empty():
        raise WriteampError(
            f"hint is {shown(wrong[0])}; valid are whole numbers from 0 on, or nothing for a write "
            "without a hint"
        )
    return numbers.clip(upper_bound=_LARGEST_HINT).cast(OPTIONAL[HINT])


def _named(column: str) -> pl.Expr:
    text = pl.col(column).cast(pl.String)
    return pl.when(text != "").then(text)


def _without_first_line(block: TextBlock) -> TextBlock:
    # An empty line stays, so that line numbers do not change.
    return replace(block, text=block.text[block.text.find(b"\n") :] if b"\n" in block.text else b"")
