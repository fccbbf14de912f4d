"""Text traces of any layout, with columns that the user states (`columns.py`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from writeamp.errors import WriteampError
from writeamp.text import quoted
from writeamp.traces.column_contents import refuse_mixed_file
from writeamp.traces.column_values import (
    DATE_AND_TIME,
    PREFIX,
    TIME_UNITS,
    Operations,
)
from writeamp.traces.columns import StatedColumns, parse_columns, resolve
from writeamp.traces.format import Format
from writeamp.traces.line_rows import numbered_lines, with_rows
from writeamp.traces.row_format import RowFormat, operation
from writeamp.traces.rows import (
    FieldKind,
    RowCheck,
    RowLayout,
    extent_checks,
    nanoseconds,
    squeeze,
    time_check,
)
from writeamp.traces.source import TextBlock, read_blocks
from writeamp.traces.text_table import fields_of
from writeamp.traces.text_values import VALID_DATE_AND_TIME, nanoseconds_since_1970
from writeamp.traces.trace import MAX_TIMESTAMP_NS, OPERATIONS, Operation
from writeamp.traces.words import HINT

SUMMARY = "any text with one request per line, with stated columns and units"

# Kinds of fields with times, by the length of the time unit in ns.
_KINDS = {
    10**9: FieldKind.SECONDS,
    10**6: FieldKind.MILLISECONDS,
    10**3: FieldKind.MICROSECONDS,
    1: FieldKind.NANOSECONDS,
    100: FieldKind.TICKS,
}


def column_format(name: str) -> Format:
    """Return the format of a text `columns:…`.

    Raises:
        WriteampError: the text is not valid.
    """
    columns = parse_columns(name)

    return Format(
        name=columns.text,
        summary=SUMMARY,
        columns=columns.text,
        units="; ".join(columns.notes),
        detection="never detected; the columns must be stated",
        matches=lambda head: False,
        certain=False,
        rows=lambda path: _row_format(path, columns),
    )


def _row_format(path: Path, columns: StatedColumns) -> RowFormat:
    """Return the row format of a file; its header may name the columns."""
    at, only_at, passed_lines = _positions(path, columns)
    sample = Selecting(path, columns, only_at, passed_lines)
    refuse_mixed_file(path, columns, {*at.values(), only_at}, sample.rows_of)
    origins_at = {name: at[name] for name in columns.origins}
    selecting = Selecting(path, columns, only_at, passed_lines, origins_at)
    time, time_checks = _time(columns)
    op, op_checks = _op(columns.op)
    length = pl.lit(columns.length.unit_bytes)
    if columns.length.where is not None:
        length = pl.col("length") * columns.length.unit_bytes
    is_flush = op == "flush"
    return RowFormat(
        name=columns.text,
        layout=_layout(columns, at),
        device_columns=[] if columns.device is None else ["device"],
        checks=(*time_checks, *op_checks, *_extent_checks(columns, is_flush)),
        timestamp_ns=time,
        op=op,
        offset=pl.when(is_flush).then(0).otherwise(pl.col("offset") * columns.offset.unit_bytes),
        length=pl.when(is_flush).then(0).otherwise(length),
        notes=columns.notes,
        without_others=selecting.rows_of,
        left_out=selecting.notes,
        origins=selecting.origins,
        states_origins=bool(columns.origins),
        states_hints=HINT in columns.origins,
    )


def _layout(columns: StatedColumns, at: Mapping[str, int]) -> RowLayout:
    fields = {position: name for name, position in at.items()}
    kinds = {
        "offset": FieldKind.HEXADECIMAL if columns.offset.is_hexadecimal else FieldKind.WHOLE,
        "length": FieldKind.HEXADECIMAL if columns.length.is_hexadecimal else FieldKind.WHOLE,
        **dict.fromkeys(("op", "device", "date", "time"), FieldKind.WORD),
    }
    if columns.time is not None and columns.time[1] != DATE_AND_TIME:
        kinds["time"] = _KINDS[TIME_UNITS[columns.time[1]].nanoseconds]
    return RowLayout(
        columns.separator,
        {
            fields.get(position, f"({position + 1})"): kinds.get(
                fields.get(position, ""), FieldKind.IGNORED
            )
            for position in range(max(fields) + 1)
        },
        open_ended=True,
        lenient=True,
    )


def _positions(path: Path, columns: StatedColumns) -> tuple[dict[str, int], int | None, int]:
    """Return positions of the fields and of `only`, and the number of lines before the rows."""
    places = columns.places
    only = {} if columns.only is None else {"only": columns.only.where}
    if not columns.header:
        at = {field: int(where) - 1 for field, where in (places | only).items()}
        return {field: at[field] for field in places}, at.get("only"), columns.skip
    empty = emptying(columns.comment, columns.skip)
    for block in read_blocks(path):
        lines = empty(block).text.split(b"\n")
        header_at = next((at for at, line in enumerate(lines) if line.strip()), None)
        if header_at is None:
            continue
        number, header = block.first_line + header_at, lines[header_at].decode()
        names = fields_of(header, columns.separator)

        def fault(sentence: str, block: TextBlock = block, number: int = number) -> WriteampError:
            return block.fault(number, f"{sentence} (in the header)")

        return resolve(places, names, fault), resolve(only, names, fault).get("only"), number
    raise WriteampError(f"{path}: has no header line with the column names of {PREFIX}:…")


def _time(columns: StatedColumns) -> tuple[pl.Expr, tuple[RowCheck, ...]]:
    if columns.time is None:
        return pl.lit(0), ()
    if columns.time[1] == DATE_AND_TIME:
        return _date_and_time(has_date=columns.date is not None)
    before_1970_ns = TIME_UNITS[columns.time[1]].before_1970_ns
    if not before_1970_ns:
        return nanoseconds("time"), (time_check("time"),)
    since_1970 = nanoseconds("time") - pl.lit(before_1970_ns, pl.Int128)
    check = RowCheck(
        since_1970.is_between(0, MAX_TIMESTAMP_NS),
        "time {time} is out of range, valid are times from 1970 to 2262, counted in ticks of "
        "100 ns since 1601",
    )
    return since_1970, (check,)


def _date_and_time(*, has_date: bool) -> tuple[pl.Expr, tuple[RowCheck, ...]]:
    text, sentence = pl.col("time"), "time is {time}"
    if has_date:
        text = pl.concat_str("date", "time", separator=" ")
        sentence = "date is {date} and time {time}"
    since_1970 = nanoseconds_since_1970(text)
    return since_1970, (
        RowCheck(since_1970.is_not_null(), f"{sentence}, valid is {VALID_DATE_AND_TIME}"),
    )


def _op(operations: Operations) -> tuple[pl.Expr, tuple[RowCheck, ...]]:
    if operations.where is None:
        return pl.lit(operations.always, Operation), ()
    spellings = {
        op: [word for word, meaning in operations.words.items() if meaning == op]
        for op in OPERATIONS
    }
    op, check = operation("op", {name: words for name, words in spellings.items() if words})
    valid = operations.valid.replace("{", "{{").replace("}", "}}")
    return op, (replace(check, sentence=f"op is {{op}}, valid are {valid}"),)


def _extent_checks(columns: StatedColumns, is_flush: pl.Expr) -> tuple[RowCheck, ...]:
    checks = extent_checks(
        "offset",
        "length",
        offset_unit_bytes=columns.offset.unit_bytes,
        length_unit_bytes=columns.length.unit_bytes,
    )
    # Tools print -1 as unsigned 64 bits for the offset of a flush, so the offsets of flushes are
    # not checked.
    checks = tuple(replace(check, holds=is_flush | check.holds) for check in checks)
    return checks if columns.length.where is not None else checks[1:]


class Selecting:
    """Selector of the lines of a text that are requests, by `skip`, `comment` and `only`."""

    def __init__(
        self,
        path: Path,
        columns: StatedColumns,
        position: int | None,
        passed_lines: int,
        origins: Mapping[str, int] | None = None,
    ) -> None:
        """Begin at the start of a file.

        Args:
            path: the file.
            columns: the stated columns.
            position: position of the column of `only`, from 0; None without `only`.
            passed_lines: lines at the beginning that are not rows.
            origins: positions of the columns of `origins`, from 0.
        """
        self._path, self._only, self._position = path, columns.only, position
        self._origins = origins or {}
        self._separator = columns.separator
        self._empty = emptying(columns.comment, passed_lines)
        self._kept = self._passed = 0

    def rows_of(self, block: TextBlock) -> TextBlock:
        """Return the block with all lines emptied that are not requests."""
        self._requests = self._selected(self._empty(block))
        return self._requests

    def _selected(self, block: TextBlock) -> TextBlock:
        if self._only is None or self._position is None:
            return block
        lines = self._lines(block)
        rows = lines.filter(pl.col("line") != "")
        word = pl.col("line").str.split(self._separator).list.get(self._position, null_on_oob=True)
        selected = rows.filter(word.is_in(self._only.words))
        self._kept += selected.height
        self._passed += rows.height - selected.height
        return with_rows(block, lines, selected.rename({"line": "row"}))

    def _lines(self, block: TextBlock) -> pl.DataFrame:
        return numbered_lines(replace(block, text=squeeze(block.text, self._separator)))

    def origins(self, block: TextBlock) -> pl.DataFrame:
        """Return the origins of the last block of `rows_of`; unknown without a column in a row."""
        rows = self._lines(self._requests).filter(pl.col("line") != "")
        fields = pl.col("line").str.split(self._separator)
        return rows.select(
            fields.list.get(position, null_on_oob=True).alias(name)
            for name, position in self._origins.items()
        )

    def notes(self) -> list[str]:
        """Return a note on the skipped rows; an empty list without `only`.

        Raises:
            WriteampError: no row has a word of `only`.
        """
        if self._only is None:
            return []
        words = " or ".join(map(quoted, self._only.words))
        if not self._kept:
            raise WriteampError(f"{self._path}: no row has {words} in column {self._only.where}")
        return [f"{self._passed} rows without {words} in column {self._only.where} are skipped"]


def emptying(comment: str, passed_lines: int) -> Callable[[TextBlock], TextBlock]:
    """Return a function that empties the first lines of a file, and comment lines.

    The emptied lines stay, so that line numbers do not change.
    """
    prefix = comment.encode()
    is_comment = re.compile(rb"^[ \t]*" + re.escape(prefix) + rb"[^\n]*", re.MULTILINE)

    def empty(block: TextBlock) -> TextBlock:
        text = block.text
        passed = min(max(0, passed_lines - (block.first_line - 1)), text.count(b"\n") + 1)
        if passed:
            rest = text.split(b"\n", passed)
            text = b"\n" * passed + (rest[passed] if len(rest) > passed else b"")
        if prefix and prefix in text:
            text = is_comment.sub(b"", text)
        return block if text is block.text else replace(block, text=text)

    return empty
