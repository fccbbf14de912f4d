"""Conversion of rows of tables in memory to requests: choice and checks of the columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import polars as pl

from writeamp.errors import WriteampError
from writeamp.fields.domains import shown
from writeamp.traces.assemble import DeviceCodes
from writeamp.traces.column_contents import distinct, refuse_mixed_rows
from writeamp.traces.column_values import DATE_AND_TIME, TIME_UNITS, meanings
from writeamp.traces.columns import StatedColumns, resolve
from writeamp.traces.row_format import named_origins
from writeamp.traces.text_values import (
    VALID_DATE_AND_TIME,
    hexadecimal,
    nanoseconds_since_1970,
)
from writeamp.traces.trace import (
    MAX_END_BYTES,
    MAX_LENGTH_BYTES,
    MAX_TIMESTAMP_NS,
    OPERATIONS,
    OPTIONAL,
    Operation,
    is_origin,
)
from writeamp.traces.words import EXAMPLE

_LAST_PAGE = 2**32 - 1
_LARGEST_WHOLE_FLOAT = 2.0**53
_LOOKED_AT_ROWS = 1000


@dataclass(frozen=True)
class TableReading:
    """Interpretation of a table: the column of each field of a request, and its unit.

    Attributes:
        in_pages: whether offsets and lengths are in pages.
        names: column name of each field that has a column.
        units: bytes (or pages, if `in_pages`) per unit of the offset column and of the length
            column; without a length column, the second is the length of all requests.
        time_unit: key of `TIME_UNITS`, as in `columns:`.
        earliest_ns: earliest valid time in ns; 0 for stated columns, as in text files.
        words: meanings of the words in the column op; None if its words are read, write, trim and
            flush.
        always: the operation of all rows if there is no column op.
        hexadecimal: names of offset and length if their numbers are hexadecimal.
        origins: column of each origin of requests that has one, by its name in `OPTIONAL`.
        only: column and words of the rows that are requests; None for all rows.
        ignored: columns that are not read; empty if the user stated the columns.
    """

    in_pages: bool
    names: Mapping[str, str]
    units: tuple[int, int] = (1, 1)
    time_unit: str = "ns"
    earliest_ns: int = -MAX_TIMESTAMP_NS - 1
    words: Mapping[str, str] | None = None
    always: str = "write"
    ignored: tuple[str, ...] = ()
    hexadecimal: tuple[str, ...] = ()
    only: tuple[str, tuple[str, ...]] | None = None
    origins: Mapping[str, str] = field(default_factory=dict)

    def requests(self, frame: pl.DataFrame, first_row: int, devices: DeviceCodes) -> pl.DataFrame:
        """Return the columns of `SCHEMA` for the rows of a frame.

        Args:
            frame: a batch of rows.
            first_row: the number of its first row in the trace, for errors.
            devices: devices of the previous batches, to which new devices are added.

        Raises:
            WriteampError: a value is not valid; the message has its row.
        """
        rows = self._chosen(_CheckedRows(frame, first_row))
        frame = rows.frame
        most_offset = _LAST_PAGE if self.in_pages else MAX_END_BYTES - MAX_LENGTH_BYTES
        most_length = _LAST_PAGE + 1 if self.in_pages else MAX_LENGTH_BYTES
        offset_unit, length_unit = self.units
        offset = self._whole(rows, "offset", most_offset // offset_unit) * offset_unit
        length = pl.repeat(length_unit, frame.height, dtype=pl.UInt64, eager=True)
        if "length" in self.names:
            length = self._whole(rows, "length", most_length // length_unit) * length_unit
        requests = pl.DataFrame(
            {
                "timestamp_ns": self._times(rows),
                "device": self._devices(rows, devices),
                "op": self._operations(rows),
                "offset": offset,
                "length": length,
            }
        )
        if self.in_pages:
            rows.refuse_first(
                offset + length > _LAST_PAGE + 1, lambda at: "ends beyond page 2^32 - 1"
            )
        is_flush = pl.col("op") == "flush"
        return requests.with_columns(
            offset=pl.when(is_flush).then(0).otherwise(pl.col("offset")),
            length=pl.when(is_flush).then(0).otherwise(pl.col("length")),
        )

    def origins_of(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the columns of `OPTIONAL` for the rows of a frame that are requests."""
        rows = self._chosen(_CheckedRows(frame, first_row=1)).frame
        return named_origins(rows.select(**self.origins))

    def _chosen(self, rows: _CheckedRows) -> _CheckedRows:
        """Return the rows that are requests."""
        if self.only is None:
            return rows
        name, words = self.only
        counts = rows.frame[name].cast(pl.String).is_in(words).fill_null(False)
        numbers = rows.numbers.filter(counts)
        return _CheckedRows(rows.frame.filter(counts), rows.first_row, numbers)

    def _whole(self, rows: _CheckedRows, field: str, most: int) -> pl.Series:
        return rows.whole(self.names[field], most, is_hexadecimal=field in self.hexadecimal)

    def _times(self, rows: _CheckedRows) -> pl.Series:
        if "time" not in self.names:
            return pl.repeat(0, rows.frame.height, dtype=pl.Int64, eager=True)
        if self.time_unit == DATE_AND_TIME:
            return rows.dates_and_times(self.names["time"], self.names.get("date"))
        return rows.times(self.names["time"], self.time_unit, self.earliest_ns)

    def _devices(self, rows: _CheckedRows, devices: DeviceCodes) -> pl.Series:
        if "device" not in self.names:
            return devices.encode(rows.frame, [])
        name = self.names["device"]
        return devices.encode(rows.device_names(name).to_frame(name), [name])

    def _operations(self, rows: _CheckedRows) -> pl.Series:
        if "op" not in self.names:
            return pl.repeat(self.always, rows.frame.height, dtype=pl.String, eager=True).cast(
                Operation
            )
        return rows.operations(self.names["op"], self.words)


def reading_of(frame: pl.DataFrame, columns: StatedColumns | None) -> TableReading:
    """Return the interpretation of a table, by its column names or by the stated columns.

    Raises:
        WriteampError: a column is missing, or the columns can be read in several ways.
    """
    if columns is not None:
        return _stated(frame, columns)
    present_names = set(frame.columns)
    if "page" in present_names and "offset" in present_names:
        raise WriteampError(
            "the trace has the columns page and offset, which both locate a request; "
            "keep one of them"
        )
    if "page" in present_names and "length" in present_names:
        raise WriteampError(
            "the trace has the columns page and length, but the length in pages must be in the "
            "column pages; rename length, or leave it out"
        )
    names = {"time": "timestamp_ns", "device": "device", "op": "op"}
    needed = (
        {"offset": "page"} if "page" in present_names else {"offset": "offset", "length": "length"}
    )
    if "page" in present_names:
        names["length"] = "pages"
    else:
        needed["op"] = "op"
    missing = [name for name in needed.values() if name not in present_names]
    if missing:
        raise WriteampError(
            f"the trace has no column {', '.join(missing)}, only {_listed(frame.columns)}; it must "
            "have offset, length (bytes) and op, or page, or other columns whose meaning is stated "
            f"by trace_format, such as {EXAMPLE}"
        )
    origins = {name: name for name in OPTIONAL if is_origin(name, frame.schema.get(name))}
    present = {field: name for field, name in names.items() if name in present_names}
    read = present | needed
    return TableReading(
        "page" in present_names,
        read,
        ignored=tuple(name for name in frame.columns if name not in {*read.values(), *origins}),
        origins=origins,
    )


def ignored_columns(names: Iterable[str]) -> list[str]:
    """Return a note on ignored columns, if there are any."""
    listed = list(names)
    return [f"ignored columns: {_listed(listed)}"] if listed else []


def _stated(frame: pl.DataFrame, columns: StatedColumns) -> TableReading:
    at = resolve(columns.places, frame.columns, _table_error)
    only = None
    if columns.only is not None:
        where = resolve({"only": columns.only.where}, frame.columns, _table_error)
        only = (frame.columns[where["only"]], columns.only.words)
    _refuse_mixed(frame, columns, {*(frame.columns[position] for position in at.values())}, only)
    return TableReading(
        in_pages=False,
        names={field: frame.columns[position] for field, position in at.items()},
        units=(columns.offset.unit_bytes, columns.length.unit_bytes),
        time_unit="ns" if columns.time is None else columns.time[1],
        earliest_ns=0,
        words=columns.op.words,
        always=columns.op.always,
        hexadecimal=tuple(
            field
            for field, measure in (("offset", columns.offset), ("length", columns.length))
            if measure.is_hexadecimal
        ),
        only=only,
        origins={name: frame.columns[at[name]] for name in columns.origins},
    )


def _table_error(sentence: str) -> WriteampError:
    return WriteampError(f"the trace: {sentence}")


def _refuse_mixed(
    frame: pl.DataFrame,
    columns: StatedColumns,
    stated: set[str],
    only: tuple[str, tuple[str, ...]] | None,
) -> None:
    """Reject a table if a column that the user did not state has stages or operations."""
    rows = frame.head(_LOOKED_AT_ROWS)
    if only is not None:
        rows = rows.filter(pl.col(only[0]).cast(pl.String).is_in(only[1]))
        stated = {*stated, only[0]}
    others = [
        (number, column)
        for number, column in enumerate(rows, 1)
        if column.name not in stated
        and isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum)
    ]
    refuse_mixed_rows(
        columns,
        {
            (number, column.name): distinct(column.drop_nulls().cast(pl.String).to_list())
            for number, column in others
        },
    )


def _listed(names: list[str]) -> str:
    return ", ".join(map(shown, names[:16])) or "none"


def _are_whole(column: pl.Series) -> pl.Series:
    """Return for each number whether it is certainly whole."""
    if column.dtype.is_integer():
        return pl.repeat(True, column.len(), eager=True)
    are_whole = column == column.floor()
    # Above this limit, several whole numbers have the same float, so a float does not prove which
    # of them was meant.
    return (
        are_whole & (column.abs() <= _LARGEST_WHOLE_FLOAT) if column.dtype.is_float() else are_whole
    )


class _CheckedRows:
    """Frame whose values are checked as they are read; errors name the first row that fails."""

    def __init__(
        self, frame: pl.DataFrame, first_row: int, numbers: pl.Series | None = None
    ) -> None:
        """Set the frame to check; `numbers` are its rows' positions in the batch, from 0.

        If `numbers` is None, the frame is the whole batch.
        """
        self.frame = frame
        self.first_row = first_row
        self._numbers = numbers

    @property
    def numbers(self) -> pl.Series:
        """Numbers of the rows in the batch, from 0."""
        if self._numbers is None:
            return pl.int_range(self.frame.height, eager=True)
        return self._numbers

    def refuse_first(self, faulty: pl.Series, sentence: Callable[[int], str]) -> None:
        """Raise an error for the first faulty row, if there is one."""
        if faulty.any():
            at = int(faulty.arg_true()[0])
            number = self.first_row + int(self.numbers[at])
            raise WriteampError(f"row {number} of the trace {sentence(at)}")

    def whole(self, name: str, most: int, *, is_hexadecimal: bool = False) -> pl.Series:
        """Return a column of whole numbers as u64."""
        if is_hexadecimal:
            return self._hexadecimal(name, most)
        valid = f"a whole number from 0 to {most}"
        column = self._numeric(name, valid)
        values = column.cast(pl.UInt64, strict=False)  # null if it does not fit
        is_valid = (values <= most) & _are_whole(column)
        self._refuse(name, ~is_valid.fill_null(False), valid)
        return values

    def _hexadecimal(self, name: str, most: int) -> pl.Series:
        valid = f"the text of a hexadecimal number from 0 to {most:x}"
        column = self.frame[name]
        if not isinstance(column.dtype, pl.String):
            self._refuse(name, pl.repeat(True, column.len(), eager=True), valid)
        values = self.frame.select(hexadecimal(pl.col(name).str.strip_chars())).to_series()
        self._refuse(name, ~(values <= most).fill_null(False), valid)
        return values

    def device_names(self, name: str) -> pl.Series:
        """Return a column of devices as text; numbers of any type become the same text."""
        column = self.frame[name]
        valid = "a name or a whole number"
        if column.dtype.is_float() or column.dtype.is_decimal():
            whole = column.cast(pl.Int64, strict=False)
            self._refuse(name, ~(_are_whole(column) & whole.is_not_null()).fill_null(False), valid)
            column = whole
        names = column.cast(pl.String)
        self._refuse(name, (names.str.strip_chars() == "").fill_null(True), valid)
        return names

    def times(self, name: str, unit: str, earliest_ns: int) -> pl.Series:
        """Return a column of times as i64, in nanoseconds."""
        column = self.frame[name]
        if isinstance(column.dtype, pl.Datetime):
            column, unit = column.dt.epoch("ns"), "ns"
        elif isinstance(column.dtype, pl.Duration):
            column, unit = column.dt.total_nanoseconds(), "ns"
        else:
            column = self._numeric(name, f"a time in {unit}")
        per_unit, since = TIME_UNITS[unit].nanoseconds, TIME_UNITS[unit].before_1970_ns
        value = pl.lit(column)
        if column.dtype.is_float():
            whole = (value * per_unit).round().cast(pl.Int128, strict=False)
        elif column.dtype.is_decimal():
            # The number is scaled and rounded so that its last digit is a nanosecond.
            places = len(str(per_unit)) - 1
            whole = value.cast(pl.Decimal(38, places), strict=False).to_physical()
        else:
            whole = value.cast(pl.Int128) * pl.lit(per_unit, pl.Int128)
        times_ns = pl.select(whole - pl.lit(since, pl.Int128)).to_series()
        is_valid = times_ns.is_between(earliest_ns, MAX_TIMESTAMP_NS).fill_null(False)
        range_words = "within 2^63 ns of 0"
        if not earliest_ns:
            range_words = f"from {'1970' if since else '0'}, to 2^63 - 1 ns after that"
        self._refuse(name, ~is_valid, f"a time in {unit} {range_words}")
        return times_ns.cast(pl.Int64)

    def dates_and_times(self, name: str, date: str | None) -> pl.Series:
        """Return dates with times, from one column or from two (date and time), as i64 in ns."""
        if date is None and isinstance(self.frame.schema[name], pl.Datetime):
            return self.times(name, "ns", 0)
        names = [name] if date is None else [date, name]
        text = pl.concat_str([self._text(column) for column in names], separator=" ")
        times_ns = self.frame.select(nanoseconds_since_1970(text)).to_series()
        self._refuse(name, times_ns.is_null(), VALID_DATE_AND_TIME)
        return times_ns

    def _text(self, name: str) -> pl.Expr:
        if isinstance(self.frame.schema[name], pl.Time):  # a cast to text loses the fraction
            return pl.col(name).dt.to_string("%H:%M:%S%.9f")
        return pl.col(name).cast(pl.String).str.strip_chars()

    def operations(self, name: str, words: Mapping[str, str] | None) -> pl.Series:
        """Return a column of operations; `words` maps the words of the table to operations."""
        column = self.frame[name]
        if words is None and not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
            raise WriteampError(
                f"column {name} of the trace is {column.dtype}, and 0 could mean a read or a "
                f"write; valid are the words {', '.join(OPERATIONS)}"
            )
        valid_words, valid = list(OPERATIONS), ", ".join(OPERATIONS)
        if words is not None:
            valid_words, valid = list(words), meanings(words)
        text = column.cast(pl.String)
        self._refuse(name, ~text.is_in(valid_words).fill_null(False), f"one of {valid}")
        if words is not None:
            text = text.replace_strict(dict(words), return_dtype=pl.String)
        return text.cast(Operation)

    def _numeric(self, name: str, valid: str) -> pl.Series:
        column = self.frame[name]
        if not column.dtype.is_numeric():
            self._refuse(name, pl.repeat(True, column.len(), eager=True), valid)
        return column

    def _refuse(self, name: str, faulty: pl.Series, valid: str) -> None:
        column = self.frame[name]

        def sentence(at: int) -> str:
            value = column[at]
            shown_value = f"no {name}" if value is None else f"{name} {shown(value)}"
            return f"has {shown_value}, valid is {valid}"

        self.refuse_first(faulty, sentence)
