"""Parser of rows of separated fields to typed columns: fast, with exact errors.

A block is read by Polars' CSV reader. Only if that fails or leaves a field empty, a second, slow
parser reads line by line. The second parser decides which rows are valid and writes the errors.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from itertools import islice

import polars as pl

from writeamp.errors import WriteampError
from writeamp.text import quoted
from writeamp.traces.source import TextBlock
from writeamp.traces.text_values import (
    HEXADECIMAL,
    ZERO_FRACTION,
    decimal_number,
    hexadecimal,
    whole_number,
)
from writeamp.traces.trace import MAX_END_BYTES, MAX_LENGTH_BYTES, MAX_TIMESTAMP_NS, SECTOR_BYTES

_MAX_WHOLE = 2**64 - 1
_MAX_DECIMAL = Decimal(10) ** 28
_CONTEXT = Context(prec=60)


class FieldKind(enum.Enum):
    """Kinds of values that a field may hold."""

    WHOLE = enum.auto()
    """A whole number, 0 to 2^64 - 1."""
    HEXADECIMAL = enum.auto()
    """A hexadecimal number, with or without 0x, 0 to 2^64 - 1."""
    SECONDS = enum.auto()
    """A decimal number of seconds, kept exactly to the nanosecond."""
    MILLISECONDS = enum.auto()
    """A decimal number of milliseconds, kept exactly to the nanosecond."""
    MICROSECONDS = enum.auto()
    """A decimal number of microseconds, kept exactly to the nanosecond."""
    TICKS = enum.auto()
    """A decimal number of ticks of 100 ns, kept exactly to the nanosecond."""
    NANOSECONDS = enum.auto()
    """A decimal number of nanoseconds, rounded to whole ones."""
    WORD = enum.auto()
    """Any text that is not empty."""
    IGNORED = enum.auto()
    """Any text or none: the column is not read."""


# Digits after the point, so that the last digit is one nanosecond. Floats are not used, as they
# would lose digits of times since 1970.
DECIMAL_PLACES = {
    FieldKind.SECONDS: 9,
    FieldKind.MILLISECONDS: 6,
    FieldKind.MICROSECONDS: 3,
    FieldKind.TICKS: 2,
    FieldKind.NANOSECONDS: 0,
}
_DTYPES: dict[FieldKind, pl.DataType] = {
    FieldKind.WHOLE: pl.UInt64(),
    FieldKind.HEXADECIMAL: pl.UInt64(),
    **{kind: pl.Decimal(38, places) for kind, places in DECIMAL_PLACES.items()},
    FieldKind.WORD: pl.String(),
    FieldKind.IGNORED: pl.String(),
}


@dataclass(frozen=True)
class RowLayout:
    """Fields of a row, in order.

    ``open_ended`` rows may have more fields, which are ignored. In ``lenient`` rows, a whole number
    may be hexadecimal with 0x, and a time may be followed by a colon.
    """

    separator: str
    fields: dict[str, FieldKind]
    open_ended: bool = False
    lenient: bool = False

    @property
    def form(self) -> str:
        """Form of a row as a user would write it: the names with the separator between them."""
        return self.separator.join(self.fields) + ("[...]" if self.open_ended else "")

    def from_text(self, *, leniently: bool) -> dict[str, pl.Expr]:
        """Return the expressions that convert columns which are first read as text."""
        expressions = {}
        for name, kind in self.fields.items():
            if kind is FieldKind.HEXADECIMAL:
                expressions[name] = hexadecimal(pl.col(name))
            elif leniently and kind is FieldKind.WHOLE:
                expressions[name] = whole_number(pl.col(name))
            elif leniently and kind in DECIMAL_PLACES:
                expressions[name] = decimal_number(pl.col(name), DECIMAL_PLACES[kind])
        return expressions

    @property
    def wanted(self) -> dict[str, pl.DataType]:
        """Names and Polars types of the parsed columns."""
        return {
            name: _DTYPES[kind]
            for name, kind in self.fields.items()
            if kind is not FieldKind.IGNORED
        }


@dataclass(frozen=True)
class RowCheck:
    """Check that must hold in every row, and the sentence for the first row that fails it.

    ``sentence`` may contain the row's columns in braces.
    """

    holds: pl.Expr
    sentence: str


def parse(block: TextBlock, layout: RowLayout, checks: tuple[RowCheck, ...]) -> pl.DataFrame:
    """Return the rows of a block as typed columns without nulls; all checks hold.

    Blank lines are skipped; spaces and tabs around a field are ignored.

    Raises:
        WriteampError: a row does not fit the layout or fails a check (with file and line).
    """
    text = block.text if layout.separator == "\t" else block.text.replace(b"\t", b" ")
    rows = _parse_fast(text, layout) if _is_bare(text, layout) else None
    if rows is None:
        text = squeeze(block.text, layout.separator)
        text = _without_blank_lines(text)
        rows = _parse_fast(text, layout)
    if rows is None and layout.lenient:
        rows = _parse_fast(text, layout, leniently=True)
    if rows is None:
        rows = _parse_line_by_line(block, layout)
    failure = first_failure(rows, checks)
    if failure:
        raise _fault_in_row(block, layout, *failure)
    return rows


def nanoseconds(column: str) -> pl.Expr:
    """Return the nanoseconds of a column of times."""
    return pl.col(column).to_physical()


def time_check(column: str) -> RowCheck:
    """Return the check that a column of times fits 64-bit nanoseconds from 0."""
    return RowCheck(
        nanoseconds(column).is_between(0, MAX_TIMESTAMP_NS),
        f"{column} {{{column}}} is out of range, valid are 0 to 2^63 - 1 ns",
    )


def extent_checks(
    offset: str, length: str, *, offset_unit_bytes: int = 1, length_unit_bytes: int = 1
) -> tuple[RowCheck, ...]:
    """Return the checks that a request is shorter than 4 GiB and ends below 8 EiB."""
    longest = MAX_LENGTH_BYTES // length_unit_bytes
    last = (MAX_END_BYTES - MAX_LENGTH_BYTES) // offset_unit_bytes
    return (
        RowCheck(
            pl.col(length) <= longest,
            f"{length} {{{length}}} is too large, a request has at most {longest} "
            f"{_unit(length_unit_bytes)}",
        ),
        RowCheck(
            pl.col(offset) <= last,
            f"{offset} {{{offset}}} is too large, valid are 0 to {last} "
            f"{_unit(offset_unit_bytes)} (8 EiB)",
        ),
    )


def read_lines(text: bytes) -> pl.DataFrame:
    """Return the lines of a text as column ``line``, null for blank lines."""
    if not text:
        return pl.DataFrame(schema={"line": pl.String})
    # The text never contains a NUL, so this separator splits no line.
    return pl.read_csv(
        text, has_header=False, schema={"line": pl.String}, separator="\0", quote_char=None
    )


def first_failure(rows: pl.DataFrame, checks: tuple[RowCheck, ...]) -> tuple[int, str] | None:
    """Return the position of the first row that fails a check, and the sentence of the check.

    Positions count from 0. Returns None if all checks hold.
    """
    held = rows.select(check.holds.all().alias(str(i)) for i, check in enumerate(checks)).row(0)
    failed = [check for check, holds in zip(checks, held, strict=True) if not holds]
    if not failed:
        return None
    first_rows = rows.select(
        (~check.holds).arg_max().alias(str(i)) for i, check in enumerate(failed)
    ).row(0)
    row, check = min(zip(first_rows, failed, strict=True), key=lambda pair: pair[0])
    return row, check.sentence


def _is_bare(text: bytes, layout: RowLayout) -> bool:
    """Return whether the fields of a text certainly have no white space around them.

    The check searches for single bytes only, which is many times faster than ``squeeze``. Two
    spaces between fields pass; they make an empty field, which the parser reports unless the column
    is ignored.
    """
    if b"\r" in text:
        return False
    if layout.separator != " ":
        return b" " not in text
    is_all_read = len(layout.wanted) == len(layout.fields)
    return is_all_read or not (b"  " in text or b"\n " in text or text.startswith(b" "))


def _parse_fast(text: bytes, layout: RowLayout, *, leniently: bool = False) -> pl.DataFrame | None:
    try:
        rows = _read_fields(text, layout, leniently=leniently)
    except pl.exceptions.PolarsError:
        return None
    return None if any(column.has_nulls() for column in rows) else rows


def _read_fields(text: bytes, layout: RowLayout, *, leniently: bool) -> pl.DataFrame:
    """Return text as a frame; a field that is missing or does not fit its type becomes null."""
    if not text or text.isspace():
        return pl.DataFrame(schema=layout.wanted)
    has_header = layout.open_ended or len(layout.wanted) < len(layout.fields)
    if has_header:
        # Polars takes the number of columns from the first line: with this header, a first row with
        # more or fewer columns cannot change it.
        text = layout.separator.join(layout.fields).encode() + b"\n" + text
    from_text = layout.from_text(leniently=leniently)
    text_or_typed = {
        name: pl.String() if name in from_text else _DTYPES[kind]
        for name, kind in layout.fields.items()
    }
    rows = pl.read_csv(
        text,
        has_header=has_header,
        schema=text_or_typed,
        columns=list(layout.wanted) if len(layout.wanted) < len(layout.fields) else None,
        separator=layout.separator,
        quote_char=None,
        ignore_errors=True,
        truncate_ragged_lines=layout.open_ended,
    )
    return rows.with_columns(**from_text) if from_text else rows


def squeeze(text: bytes, separator: str) -> bytes:
    """Return the text without white space around fields, with the same number of lines."""
    text = text.replace(b"\r\n", b"\n")
    if separator != "\t":
        text = text.replace(b"\t", b" ")
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    text = text.replace(b" \n", b"\n").replace(b"\n ", b"\n")
    if separator != " ":
        bare = separator.encode()
        text = text.replace(b" " + bare, bare).replace(bare + b" ", bare)
    return text.strip(b" ")


def _without_blank_lines(text: bytes) -> bytes:
    """Return squeezed text without its blank lines."""
    while b"\n\n" in text:
        text = text.replace(b"\n\n", b"\n")
    return text.removeprefix(b"\n")


def _parse_line_by_line(block: TextBlock, layout: RowLayout) -> pl.DataFrame:
    columns: dict[str, list[int | str | Decimal]] = {name: [] for name in layout.wanted}
    last = block.first_line + block.text.count(b"\n")
    cut = " (the file ends within it)"
    for number, line in _numbered_lines(block, layout):
        fields = line.split(layout.separator)
        missing = len(fields) < len(layout.fields)
        if missing or (len(fields) > len(layout.fields) and not layout.open_ended):
            raise block.fault(
                number,
                f"the row has {_count(len(fields), 'column')}{cut if number == last else ''}, "
                f"valid are {len(layout.fields)}{' or more' if layout.open_ended else ''}: "
                f"{layout.form}",
            )
        for (name, kind), text_of_field in zip(layout.fields.items(), fields, strict=False):
            if kind is FieldKind.IGNORED:
                continue
            try:
                columns[name].append(_parse_field(kind, text_of_field, layout.lenient))
            except ValueError as error:
                fault = (
                    f"{name} is {quoted(text_of_field)}" if text_of_field else f"{name} is missing"
                )
                raise block.fault(number, f"{fault}, valid is {error}") from None
    return pl.DataFrame(columns, schema=layout.wanted)


def _parse_field(kind: FieldKind, text: str, is_lenient: bool) -> int | str | Decimal:
    """Return the value of a field.

    Raises:
        ValueError: the text is not valid; the message is what would be valid.
    """
    if kind is FieldKind.WORD:
        if not text:
            raise ValueError("any text")
        return text
    if not text.isascii() or "_" in text:
        raise ValueError("a number")
    if kind is FieldKind.HEXADECIMAL or (
        is_lenient and kind is FieldKind.WHOLE and text[:2] in ("0x", "0X")
    ):
        if not HEXADECIMAL.fullmatch(text):
            raise ValueError("a hexadecimal number of at most 16 digits")
        return int(text, 16)
    if kind is FieldKind.WHOLE:
        return _whole(ZERO_FRACTION.sub("", text) if is_lenient else text)
    return _decimal(text.removesuffix(":") if is_lenient else text, DECIMAL_PLACES[kind])


def _whole(text: str) -> int:
    valid = "a whole number from 0 to 2^64 - 1"
    if len(text) > 40:  # int() rejects thousands of digits with a message of its own
        raise ValueError(valid)
    try:
        value = int(text)
    except ValueError:
        raise ValueError(valid) from None
    if not 0 <= value <= _MAX_WHOLE or text.startswith("-"):
        raise ValueError(valid)
    return value


def _decimal(text: str, places: int) -> Decimal:
    try:
        value = Decimal(text)
        # The bounds are compared without abs(), which overflows for large exponents.
        if not -_MAX_DECIMAL < value < _MAX_DECIMAL:
            raise ValueError("a number below 10^28")
        return value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN, _CONTEXT)
    except ArithmeticError:  # also for an exponent that Decimal cannot hold
        raise ValueError("a decimal number") from None


def _fault_in_row(block: TextBlock, layout: RowLayout, row: int, sentence: str) -> WriteampError:
    """Return the error for row ``row`` of the block's frame; the sentence may quote its fields."""
    number, line = _line_of_row(block, layout, row)
    fields = [*line.split(layout.separator), *[""] * len(layout.fields)]
    values = {name: quoted(field) for name, field in zip(layout.fields, fields, strict=False)}
    return block.fault(number, sentence.format(**values))


def _line_of_row(block: TextBlock, layout: RowLayout, row: int) -> tuple[int, str]:
    """Return number and text of the line that became row ``row`` of the block's frame."""
    return next(islice(_numbered_lines(block, layout), row, None))


def _numbered_lines(block: TextBlock, layout: RowLayout) -> Iterator[tuple[int, str]]:
    """Yield the non-blank lines of a block, squeezed, with their numbers."""
    text = squeeze(block.text, layout.separator).decode()
    for number, line in enumerate(text.split("\n"), block.first_line):
        if line:
            yield number, line


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _unit(unit_bytes: int) -> str:
    if unit_bytes == 1:
        return "bytes"
    return f"{'sectors' if unit_bytes == SECTOR_BYTES else 'units'} of {unit_bytes} bytes"
