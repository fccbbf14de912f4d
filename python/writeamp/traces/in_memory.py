"""Trace given as data in memory: arrays, frames, or batches of them that come one by one."""

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

# What the libraries of data raise; Polars' panics are no `Exception`.
_FAULTS = (Exception, pl.exceptions.PanicException)
# Rows taken apart at once.
BATCH_ROWS = 1 << 17
# Batches of fewer are taken together.
_FEW_ROWS = 1 << 16

VALID = (
    "a trace is the path of a file, a Trace or PageTrace, an array of page numbers, a table with "
    "the columns offset, length and op, or page (NumPy, Arrow, Polars, pandas), or an iterator of "
    "page numbers or such batches"
)


class Given:
    """Trace as data in memory; nothing is read of them before it is needed.

    Attributes:
        data: what was given.
        columns: what the columns of tables mean, if that was stated.
        path: empty, as there is no file.
        is_once: whether the rows come only once, as those of an iterator do.

    Raises:
        WriteampError: it is no data of a trace, or the format is none for data.
    """

    path = ""
    recorded = None

    def __init__(self, data: Any, format: str | None = None) -> None:
        """Take the data, with the meaning of their columns (`columns:…`) if it is stated."""
        self.data = data
        self.format = format
        self.columns = None if format is None else _columns(format)
        self.is_once = isinstance(data, Iterator) or _is_reader(data)
        # What came of rows that come once: how they were asked for, and their pages.
        self.pages: tuple[Any, Any] | None = None
        self._is_read = False
        if not _is_data(data):
            raise WriteampError(f"the trace is {shown(data)}; {VALID}")

    def batches(self) -> Iterator[tuple[TableReading, pl.DataFrame, DeviceCodes]]:
        """Yield the requests in batches, as frames of the columns of `SCHEMA`, with their readings.

        Offsets and lengths are in pages where the reading says so. Devices are codes.

        Raises:
            WriteampError: a row is not valid, or the rows came before and come only once.
        """
        if self.is_once and self._is_read:
            raise WriteampError(
                "the batches of the trace came once and are gone; give a table or an array to use "
                "them again"
            )
        self._is_read = True
        devices = DeviceCodes("_")
        first: TableReading | None = None
        row, kept = 1, 0
        for frame in _gathered(_frames(self.data)):
            reading = reading_of(frame, self.columns)
            first = first or reading
            if reading.in_pages != first.in_pages:
                raise WriteampError(
                    f"row {row} of the trace begins a batch in "
                    f"{'pages' if reading.in_pages else 'bytes'}, and those before are in "
                    f"{'pages' if first.in_pages else 'bytes'}"
                )
            try:
                requests = reading.requests(frame, row, devices)
            except (WriteampError, MemoryError):
                raise
            except _FAULTS as why:  # of values of a kind that nobody thought of
                raise _unreadable(self.data, why) from why
            yield reading, requests, devices
            row += frame.height
            kept += requests.height
        if not kept:
            raise WriteampError("the trace holds no request, at least one is needed")

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the requests; of rows that come once, a unique name."""
        if self.is_once:
            return f"stream:{uuid.uuid4().hex}"
        hashes: dict[str, Any] = {}
        said = ""
        for reading, requests, devices in self.batches():
            said = f"{reading.in_pages} {devices.names}"
            for column in requests.get_columns():
                found = hashes.setdefault(column.name, hashlib.sha256())
                values = column.to_physical().to_numpy()
                found.update(np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"))))
        text = said + " ".join(found.hexdigest() for found in hashes.values())
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _gathered(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield the rows of small frames together, as long as they have the same columns."""
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
            f"trace_format {shown(format)} is for files; what the columns of data mean is said as "
            f"{EXAMPLE}, by names or numbers"
        )
    found = parse_columns(format)
    if found.of_text_only:
        raise WriteampError(
            f"columns: {found.of_text_only} is for text; data in memory have rows and columns"
        )
    return found


def _is_reader(data: Any) -> bool:
    """Return whether the data are an Arrow stream, which can be read once."""
    return hasattr(data, "__arrow_c_stream__") and hasattr(data, "read_next_batch")


def _is_data(data: Any) -> bool:
    if isinstance(data, str | bytes | bytearray | memoryview | dict | set | frozenset):
        return False
    return _is_table(data) or isinstance(data, Iterable)


def _is_table(data: Any) -> bool:
    is_arrow = hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")
    known = isinstance(data, np.ndarray | pl.DataFrame | pl.LazyFrame | pl.Series)
    return known or is_arrow or _is_pandas(data)


def _is_pandas(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "to_numpy")


def _frames(data: Any) -> Iterator[pl.DataFrame]:
    """Yield the rows of any data as frames; numbers without a name are in `page` and `pages`."""
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
            f"the trace is an array of shape {array.shape}; valid are (requests,), of pages that "
            "are written or of records, and (requests, 2), of first pages and numbers of pages"
        )
    if isinstance(array, np.ma.MaskedArray):
        raise WriteampError("the trace is a masked array, in which values may be missing")
    for start in range(0, len(array), BATCH_ROWS):
        part = array[start : start + BATCH_ROWS]
        if array.dtype.names is not None:
            yield pl.DataFrame({name: _series(part[name]) for name in array.dtype.names})
        elif array.ndim == 1:
            yield pl.DataFrame({"page": _series(part)})
        else:
            yield pl.DataFrame({"page": _series(part[:, 0]), "pages": _series(part[:, 1])})


def _series(values: np.ndarray[Any, Any]) -> pl.Series:
    if values.dtype.kind == "O":
        return pl.Series(values.tolist(), strict=False)
    native = values.astype(values.dtype.newbyteorder("="), copy=False)
    return pl.Series(np.ascontiguousarray(native), strict=False)


def _of_pandas(data: Any) -> Iterator[pl.DataFrame]:
    """Yield a pandas frame, series or index, for which pyarrow is not needed."""
    if not hasattr(data, "iloc"):
        data = importlib.import_module("pandas").Series(data)
    if hasattr(data, "columns"):
        names = [str(name) for name in data]
        double = next((name for name in names if names.count(name) > 1), None)
        if double is not None:
            raise WriteampError(
                f"{names.count(double)} columns of the trace are named {shown(double)}, so it "
                "cannot be told which is meant; each needs a name of its own"
            )
    for start in range(0, len(data), BATCH_ROWS):
        part = data.iloc[start : start + BATCH_ROWS]
        if not hasattr(part, "columns"):
            yield pl.DataFrame({"page": _of_pandas_column(part)})
        else:
            yield pl.DataFrame(
                {str(name): _of_pandas_column(part.iloc[:, at]) for at, name in enumerate(part)}
            )


def _of_pandas_column(column: Any) -> pl.Series:
    values = column.to_numpy()
    if values.dtype.kind in "OTU":  # text, categories, or numbers of which some are missing
        gone = column.isna().to_numpy()
        values = [None if lacks else value for lacks, value in zip(gone, values, strict=True)]
        return pl.Series(values, strict=False)
    return _series(values)


def _of_arrow(data: Any) -> Iterator[pl.DataFrame]:
    """Yield Arrow data, a batch after the other where they come so."""
    if _is_reader(data):
        for batch in data:
            yield from _of_arrow_whole(batch)
        return
    try:
        # Polars takes a stream as a whole; pyarrow, where it is, batch by batch.
        reader = importlib.import_module("pyarrow").RecordBatchReader
    except ImportError:
        reader = None
    is_table = hasattr(data, "column_names") or hasattr(data, "__arrow_c_array__")
    if reader is None or is_table or isinstance(data, pl.Series):
        yield from _of_arrow_whole(data)
        return
    try:
        stream = reader.from_stream(data)
    except (TypeError, ValueError, NotImplementedError):  # of one array, which has no columns
        yield from _of_arrow_whole(data)
        return
    for batch in stream:
        yield from _of_arrow_whole(batch)


def _of_arrow_whole(data: Any) -> Iterator[pl.DataFrame]:
    try:
        column = data if isinstance(data, pl.Series) else pl.Series(data)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, TypeError, ValueError) as why:
        raise WriteampError(f"the trace is no Arrow table ({one_line(why)})") from None
    if isinstance(column.dtype, pl.Struct):
        yield from column.struct.unnest().iter_slices(BATCH_ROWS)
    else:
        yield from pl.DataFrame({"page": column}).iter_slices(BATCH_ROWS)


def _of_iterator(rows: Iterator[Any]) -> Iterator[pl.DataFrame]:
    """Yield the frames of an iterator of whole numbers, or of batches of any other kind."""
    count = 0
    for first in rows:
        if _is_table(first):
            yield from _frames(first)
            count += 1
            continue
        if not _is_number(first):
            raise WriteampError(
                f"item {count + 1} of the trace is {shown(first)}; valid are page numbers, and "
                "arrays or tables of requests"
            )
        numbers = list(islice(chain([first], rows), BATCH_ROWS))
        yield _of_numbers(numbers, count)
        count += len(numbers)


def _is_number(item: Any) -> bool:
    return isinstance(item, int | float | np.number | Integral)


def _of_numbers(numbers: list[Any], before: int) -> pl.DataFrame:
    odd = _first(numbers, lambda item: not _is_number(item) or isinstance(item, bool | np.bool_))
    if odd is not None:
        raise WriteampError(
            f"item {before + odd + 1} of the trace is {shown(numbers[odd])}; the items before are "
            "page numbers, so valid is a whole number from 0 to 2^32 - 1"
        )
    return pl.DataFrame({"page": _series(np.array(numbers))})


def _first(items: list[Any], is_it: Callable[[Any], bool]) -> int | None:
    return next((at for at, item in enumerate(items) if is_it(item)), None)
