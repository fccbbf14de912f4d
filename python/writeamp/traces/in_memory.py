"""Traces given as data in memory: arrays, frames, or iterators of batches of them."""

from __future__ import annotations

import hashlib
import importlib
import uuid
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain, islice
from numbers import Integral
from typing import Any

import numpy as np
import polars as pl

from writeamp.errors import WriteampError
from writeamp.fields.domains import shown
from writeamp.text import one_line
from writeamp.traces.assemble import DeviceCodes
from writeamp.traces.columns import StatedColumns, is_columns, parse_columns
from writeamp.traces.in_memory_rows import TableReading, reading_of
from writeamp.traces.words import EXAMPLE

# Errors of the libraries that hold the data. Panics of Polars are listed, as they are not an
# `Exception`.
_FAULTS = (Exception, pl.exceptions.PanicException)
# Number of rows that are processed at once.
BATCH_ROWS = 1 << 17
# Batches with fewer rows are joined before they are processed.
_FEW_ROWS = 1 << 16

VALID = (
    "a trace is the path of a file, a Trace or PageTrace, an array of page numbers, a table with "
    "the columns offset, length and op, or page (NumPy, Arrow, Polars, pandas), or an iterator of "
    "page numbers or such batches"
)


class TraceData:
    """Trace in the form of data in memory, which is read when it is needed.

    Attributes:
        data: data as the user passed it.
        columns: the stated meaning of the columns of tables; None if it was not stated.
        path: empty, because data have no file.
        is_once: whether the rows can be read only once, like those of an iterator.

    Raises:
        WriteampError: the data cannot be a trace, or the format is not one for data.
    """

    path = ""
    recorded = None

    def __init__(self, data: Any, format: str | None = None) -> None:
        """Set the data, and the meaning of their columns (`columns:…`) if stated."""
        self.data = data
        self.format = format
        self.columns = None if format is None else _columns(format)
        self.is_once = isinstance(data, Iterator) or _is_reader(data)
        # For rows that can be read only once: options of the conversion to pages, and its result.
        self.pages: tuple[Any, Any] | None = None
        self._is_read = False
        if not _is_data(data):
            raise WriteampError(f"the trace is {shown(data)}; {VALID}")

    def has_column(self, name: str) -> bool:
        """Return whether the data are one table in memory that has a column of this name."""
        data = self.data
        if isinstance(data, pl.LazyFrame):
            return False
        return name in getattr(data, "column_names", getattr(data, "columns", ()))

    def batches(
        self, *, origins: bool = False
    ) -> Iterator[tuple[TableReading, pl.DataFrame, DeviceCodes]]:
        """Yield batches of requests with the columns of `SCHEMA`, and how their table was read.

        Offsets and lengths are in pages if `TableReading.in_pages` is true. Devices are codes.
        With `origins`, the requests also have the columns of `OPTIONAL` that the table has.

        Raises:
            WriteampError: a row is not valid, or the rows were read before and can be read only
                once.
        """
        if self.is_once and self._is_read:
            raise WriteampError(
                "the batches of the trace were read before and cannot be read again; give a table "
                "or an array to use them several times"
            )
        self._is_read = True
        devices = DeviceCodes("_")
        first: TableReading | None = None
        row, request_count = 1, 0
        for frame in _gathered(_frames(self.data)):
            reading = reading_of(frame, self.columns)
            first = first or reading
            if reading.in_pages != first.in_pages:
                raise WriteampError(
                    f"row {row} of the trace begins a batch in "
                    f"{'pages' if reading.in_pages else 'bytes'}, but the batches before it are in "
                    f"{'pages' if first.in_pages else 'bytes'}; give all in the same unit"
                )
            try:
                requests = reading.requests(frame, row, devices)
                if origins and reading.origins:
                    requests = requests.hstack(reading.origins_of(frame))
            except (WriteampError, MemoryError):
                raise
            except _FAULTS as why:  # a value has an unexpected type
                raise _unreadable(self.data, why) from why
            yield reading, requests, devices
            row += frame.height
            request_count += requests.height
        if not request_count:
            raise WriteampError("the trace holds no requests; at least one is needed")

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the requests; for rows that can be read only once, a unique name."""
        if self.is_once:
            return f"stream:{uuid.uuid4().hex}"
        hashes: dict[str, Any] = {}
        facts = ""
        for reading, requests, devices in self.batches():
            facts = f"{reading.in_pages} {devices.names}"
            for column in requests.get_columns():
                hasher = hashes.setdefault(column.name, hashlib.sha256())
                values = column.to_physical().to_numpy()
                hasher.update(np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"))))
        text = facts + " ".join(hasher.hexdigest() for hasher in hashes.values())
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _gathered(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield the frames, with successive small ones of the same columns joined."""
    held: list[pl.DataFrame] = []
    rows = 0
    for frame in frames:
        if not frame.height:
            continue
        if held and (rows >= _FEW_ROWS or frame.schema != held[0].schema):
            yield pl.concat(held)
            held, rows = [], 0
        held.append(frame)
        rows += frame.height
    if held:
        yield pl.concat(held)


def _columns(format: str) -> StatedColumns:
    if not is_columns(format):
        raise WriteampError(
            f"trace_format {shown(format)} is for files; for data in memory, give the meaning of "
            f"the columns as in {EXAMPLE}, by names or numbers"
        )
    columns = parse_columns(format)
    if columns.of_text_only:
        raise WriteampError(
            f"columns: {columns.of_text_only} is for text files; leave it out for data in memory"
        )
    return columns


def _is_reader(data: Any) -> bool:
    """Return whether the data is an Arrow stream, which can be read only once."""
    return hasattr(data, "__arrow_c_stream__") and hasattr(data, "read_next_batch")


def _is_data(data: Any) -> bool:
    if isinstance(data, str | bytes | bytearray | memoryview | dict | set | frozenset):
        return False
    return _is_table(data) or isinstance(data, Iterable)


def _is_table(data: Any) -> bool:
    is_arrow = hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")
    is_known = isinstance(data, np.ndarray | pl.DataFrame | pl.LazyFrame | pl.Series)
    return is_known or is_arrow or _is_pandas(data)


def _is_pandas(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "to_numpy")


def _frames(data: Any) -> Iterator[pl.DataFrame]:
    """Yield the rows of any data as frames; unnamed numbers are in `page` and `pages`."""
    if not _is_table(data):
        yield from _of_iterator(iter(data))
        return
    try:
        yield from _of_table(data)
    except (WriteampError, MemoryError):
        raise
    except _FAULTS as why:
        raise _unreadable(data, why) from why


def _unreadable(data: Any, why: BaseException) -> WriteampError:
    kind = f"{type(data).__module__}.{type(data).__qualname__}"
    return WriteampError(f"the trace, a {kind}, cannot be read ({one_line(why)}); {VALID}")


def _of_table(data: Any) -> Iterator[pl.DataFrame]:
    if isinstance(data, np.ndarray):
        yield from _of_array(data)
    elif isinstance(data, pl.DataFrame):
        yield from data.iter_slices(BATCH_ROWS)
    elif isinstance(data, pl.LazyFrame):
        for batch in data.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True):
            yield from batch.iter_slices(BATCH_ROWS)
    elif _is_pandas(data):
        yield from _of_pandas(data)
    else:
        yield from _of_arrow(data)


def _of_array(array: np.ndarray[Any, Any]) -> Iterator[pl.DataFrame]:
    is_table = array.dtype.names is not None
    if array.ndim != 1 and (is_table or array.shape[1:] != (2,)):
        raise WriteampError(
            f"the trace is an array of shape {array.shape}; valid are (requests,), of written "
            "pages or of records, and (requests, 2), of first pages and numbers of pages"
        )
    if isinstance(array, np.ma.MaskedArray):
        raise WriteampError("the trace is a masked array; give an array without missing values")
    for start in range(0, len(array), BATCH_ROWS):
        chunk = array[start : start + BATCH_ROWS]
        if array.dtype.names is not None:
            yield pl.DataFrame({name: _series(chunk[name]) for name in array.dtype.names})
        elif array.ndim == 1:
            yield pl.DataFrame({"page": _series(chunk)})
        else:
            yield pl.DataFrame({"page": _series(chunk[:, 0]), "pages": _series(chunk[:, 1])})


def _series(values: np.ndarray[Any, Any]) -> pl.Series:
    if values.dtype.kind == "O":
        return pl.Series(values.tolist(), strict=False)
    native = values.astype(values.dtype.newbyteorder("="), copy=False)
    return pl.Series(np.ascontiguousarray(native), strict=False)


def _of_pandas(data: Any) -> Iterator[pl.DataFrame]:
    """Yield the rows of a pandas frame, series or index; pyarrow is not needed."""
    if not hasattr(data, "iloc"):
        data = importlib.import_module("pandas").Series(data)
    if hasattr(data, "columns"):
        names = [str(name) for name in data]
        double = next((name for name in names if names.count(name) > 1), None)
        if double is not None:
            raise WriteampError(
                f"{names.count(double)} columns of the trace have the name {shown(double)}; each "
                "needs a name of its own"
            )
    for start in range(0, len(data), BATCH_ROWS):
        chunk = data.iloc[start : start + BATCH_ROWS]
        if not hasattr(chunk, "columns"):
            yield pl.DataFrame({"page": _of_pandas_column(chunk)})
        else:
            yield pl.DataFrame(
                {str(name): _of_pandas_column(chunk.iloc[:, at]) for at, name in enumerate(chunk)}
            )


def _of_pandas_column(column: Any) -> pl.Series:
    values = column.to_numpy()
    if values.dtype.kind in "OTU":  # text, categories, or numbers with missing values
        gone = column.isna().to_numpy()
        values = [None if lacks else value for lacks, value in zip(gone, values, strict=True)]
        return pl.Series(values, strict=False)
    return _series(values)


def _of_arrow(data: Any) -> Iterator[pl.DataFrame]:
    """Yield Arrow data, batch by batch if possible."""
    if _is_reader(data):
        for batch in data:
            yield from _of_arrow_whole(batch)
        return
    try:
        # Polars reads a stream as a whole; pyarrow, if installed, reads it batch by batch.
        reader = importlib.import_module("pyarrow").RecordBatchReader
    except ImportError:
        reader = None
    is_table = hasattr(data, "column_names") or hasattr(data, "__arrow_c_array__")
    if reader is None or is_table or isinstance(data, pl.Series):
        yield from _of_arrow_whole(data)
        return
    try:
        stream = reader.from_stream(data)
    except (TypeError, ValueError, NotImplementedError):  # for one array, which has no columns
        yield from _of_arrow_whole(data)
        return
    for batch in stream:
        yield from _of_arrow_whole(batch)


def _of_arrow_whole(data: Any) -> Iterator[pl.DataFrame]:
    try:
        column = data if isinstance(data, pl.Series) else pl.Series(data)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, TypeError, ValueError) as why:
        raise WriteampError(f"the trace is not an Arrow table ({one_line(why)})") from None
    if isinstance(column.dtype, pl.Struct):
        yield from column.struct.unnest().iter_slices(BATCH_ROWS)
    else:
        yield from pl.DataFrame({"page": column}).iter_slices(BATCH_ROWS)


def _of_iterator(rows: Iterator[Any]) -> Iterator[pl.DataFrame]:
    """Yield the frames of an iterator of page numbers, or of batches of any kind."""
    count = 0
    for first in rows:
        if _is_table(first):
            yield from _frames(first)
            count += 1
            continue
        if not _is_number(first):
            raise WriteampError(
                f"item {count + 1} of the trace is {shown(first)}; valid are page numbers, or "
                "arrays or tables of requests"
            )
        numbers = list(islice(chain([first], rows), BATCH_ROWS))
        yield _of_numbers(numbers, count)
        count += len(numbers)


def _is_number(item: Any) -> bool:
    return isinstance(item, int | float | np.number | Integral)


def _of_numbers(numbers: list[Any], previous: int) -> pl.DataFrame:
    odd = _first(numbers, lambda item: not _is_number(item) or isinstance(item, bool | np.bool_))
    if odd is not None:
        raise WriteampError(
            f"item {previous + odd + 1} of the trace is {shown(numbers[odd])}; after page numbers, "
            "it must be a whole number from 0 to 2^32 - 1"
        )
    return pl.DataFrame({"page": _series(np.array(numbers))})


def _first(items: list[Any], is_it: Callable[[Any], bool]) -> int | None:
    return next((at for at, item in enumerate(items) if is_it(item)), None)
