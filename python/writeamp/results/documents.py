"""Exact conversion of results to JSON documents and back, by the types of their fields.

A document has JSON types only. Reading runs no code from it: the caller names the expected type,
and a document of another type is rejected.
"""

from __future__ import annotations

import base64
import math
import types
import zlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import (
    Any,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
    overload,
)

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.errors import WriteampError

_T = TypeVar("_T")

# JSON texts for numbers that JSON cannot represent.
_UNUSUAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_WORDS = {str(value): word for word, value in _UNUSUAL.items()}

# Types of arrays by their names in documents, always little-endian.
_ARRAYS = {
    np.dtype(name).newbyteorder("<").str: np.dtype(name).newbyteorder("<")
    for name in ("?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8")
}
# Compression level of arrays. Counters are mostly zeros, so a higher level would save little.
_LEVEL = 1
# Types of columns by name, with the Python types of their values.
_COLUMNS: dict[str, tuple[type[pl.DataType], tuple[type, ...]]] = {
    "Boolean": (pl.Boolean, (bool,)),
    "UInt32": (pl.UInt32, (int,)),
    "UInt64": (pl.UInt64, (int,)),
    "Int64": (pl.Int64, (int,)),
    "Float64": (pl.Float64, (float,)),
    "String": (pl.String, (str,)),
}
_NUMBERS: dict[str, Any] = {
    "UInt32": npt.NDArray[np.uint32],
    "UInt64": npt.NDArray[np.uint64],
    "Int64": npt.NDArray[np.int64],
    "Float64": npt.NDArray[np.float64],
}
# Exceptions that an invalid document may cause.
_FAULTS = (TypeError, ValueError, KeyError, ArithmeticError, RecursionError, zlib.error,
           pl.exceptions.PolarsError, pl.exceptions.PanicException)  # fmt: skip


def to_document(value: Any, *, without: tuple[str, ...] = ()) -> Any:  # noqa: PLR0911
    """Return a value as JSON types; a dataclass becomes a table of its fields.

    Args:
        value: a value of plain types, tuples, lists, mappings with text keys, arrays, data frames
            or dataclasses.
        without: fields of the outermost dataclass to leave out.

    Raises:
        TypeError: documents do not support the type of an array or a column.
    """
    if isinstance(value, np.ndarray):
        return _document_of_array(value)
    if isinstance(value, pl.DataFrame):
        return {"columns": [_document_of_column(column) for column in value.get_columns()]}
    if is_dataclass(value):
        return {
            field.name: to_document(getattr(value, field.name))
            for field in fields(value)
            if field.init and field.name not in without
        }
    if isinstance(value, Mapping):
        return {str(name): to_document(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_document(item) for item in value]
    if isinstance(value, np.generic):
        return to_document(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return _WORDS[str(value)]
    return value


@overload
def from_document(kind: type[_T], document: Any, **omitted: Any) -> _T: ...
@overload
def from_document(kind: Any, document: Any, **omitted: Any) -> Any: ...
def from_document(kind: Any, document: Any, **omitted: Any) -> Any:
    """Return the value of a type that `to_document` wrote.

    Args:
        kind: a dataclass, another type, or a hint such as `tuple[float, ...] | None`.
        document: output of `to_document`.
        omitted: values of fields that were left out of the document.

    Raises:
        WriteampError: the document is of another type.
    """
    try:
        return _dataclass(kind, document, omitted) if omitted else _read(kind, document)
    except _FAULTS as error:
        name = getattr(kind, "__name__", str(kind))
        raise WriteampError(
            f"the document is not a valid {name}: {' '.join(str(error).split())}"
        ) from None


def _document_of_array(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    name = array.dtype.newbyteorder("<").str
    if name not in _ARRAYS:
        raise TypeError(f"documents do not support arrays of {array.dtype}")
    content = np.ascontiguousarray(array, _ARRAYS[name]).tobytes()
    return {
        "dtype": name,
        "shape": list(array.shape),
        "zlib": base64.b64encode(zlib.compress(content, _LEVEL)).decode(),
    }


def _document_of_column(column: pl.Series) -> dict[str, Any]:
    if str(column.dtype) not in _COLUMNS:
        raise TypeError(f"documents do not support columns of {column.dtype}")
    is_array = column.dtype.is_numeric() and not column.null_count()
    values = to_document(column.to_numpy() if is_array else column.to_list())
    return {"name": column.name, "type": str(column.dtype), "values": values}


def _read(kind: Any, document: Any) -> Any:
    if kind is Any:
        return document
    if is_dataclass(kind):
        return _dataclass(kind, document, {})
    if is_typeddict(kind):
        return _fields(_hints(kind), document)
    reader = _READERS.get(get_origin(kind) or kind)
    return _plain(kind, document) if reader is None else reader(get_args(kind), document)


def _plain(kind: Any, document: Any) -> Any:
    """Return a text, a boolean, a number or None."""
    if kind is float and isinstance(document, str) and document in _UNUSUAL:
        return _UNUSUAL[document]
    expected = (int, float) if kind is float else kind
    if not isinstance(document, expected) or (isinstance(document, bool) and kind is not bool):
        raise TypeError(f"{document!r:.40} found, {kind.__name__} expected")
    return float(document) if kind is float else document


def _dataclass(kind: Any, document: Any, omitted: Mapping[str, Any]) -> Any:
    hints = _hints(kind)
    written = [field.name for field in fields(kind) if field.init and field.name not in omitted]
    return kind(**_fields({name: hints[name] for name in written}, document), **omitted)


def _fields(hints: Mapping[str, Any], document: Any) -> dict[str, Any]:
    """Return the values of a JSON object that must have exactly the fields in `hints`."""
    table = _table(document)
    if table.keys() != hints.keys():
        raise KeyError(f"its fields are {', '.join(table) or 'missing'}, not {', '.join(hints)}")
    return {name: _read(hint, table[name]) for name, hint in hints.items()}


def _table(document: Any) -> Mapping[str, Any]:
    if not isinstance(document, Mapping):
        raise TypeError(f"{document!r:.40} found, a JSON object expected")
    return document


def _list(document: Any) -> list[Any]:
    if not isinstance(document, list):
        raise TypeError(f"{document!r:.40} found, a JSON list expected")
    return document


def _mapping(kinds: tuple[Any, ...], document: Any) -> dict[str, Any]:
    return {name: _read(kinds[1], item) for name, item in _table(document).items()}


def _tuple(kinds: tuple[Any, ...], document: Any) -> tuple[Any, ...]:
    if kinds[1:] == (Ellipsis,):
        return tuple(_read(kinds[0], item) for item in _list(document))
    return tuple(_read(kind, item) for kind, item in zip(kinds, _list(document), strict=True))


def _items(kinds: tuple[Any, ...], document: Any) -> list[Any]:
    return [_read(kinds[0], item) for item in _list(document)]


def _one_of(kinds: tuple[Any, ...], document: Any) -> Any:
    for kind in kinds:
        try:
            return _read(kind, document)
        except _FAULTS:
            continue
    raise TypeError(f"{document!r:.40} found, one of {kinds} expected")


def _array(kinds: tuple[Any, ...], document: Any) -> np.ndarray[Any, Any]:
    table = _fields({"dtype": str, "shape": list[int], "zlib": str}, document)
    expected = np.dtype(*get_args(kinds[1]))
    if table["dtype"] != expected.newbyteorder("<").str:
        raise TypeError(f"an array of {table['dtype']:.40} found, one of {expected} expected")
    if min(table["shape"], default=0) < 0:  # NumPy would infer a negative length, so it is rejected
        raise ValueError(f"an array has the shape {table['shape']}")
    reader = zlib.decompressobj()
    most_bytes = math.prod(table["shape"]) * expected.itemsize
    content = reader.decompress(base64.b64decode(table["zlib"], validate=True), most_bytes + 1)
    if not reader.eof:
        raise ValueError("the data of an array does not match its shape")
    array = np.frombuffer(content, _ARRAYS[table["dtype"]]).reshape(table["shape"])
    return array.astype(expected)


def _frame(_: tuple[Any, ...], document: Any) -> pl.DataFrame:
    columns = _fields({"columns": list[Any]}, document)["columns"]
    return pl.DataFrame([_column(column) for column in columns])


def _column(document: Any) -> pl.Series:
    column = _fields({"name": str, "type": str, "values": Any}, document)
    dtype, expected = _COLUMNS[column["type"]]
    if isinstance(column["values"], Mapping):
        numbers = _read(_NUMBERS[column["type"]], column["values"])
        if numbers.ndim != 1:
            raise ValueError(f"a column has the shape {numbers.shape}")
        return pl.Series(column["name"], numbers, dtype=dtype)
    values = _list(column["values"])
    if dtype is pl.Float64:
        values = [_UNUSUAL[item] if isinstance(item, str) else item for item in values]
    others = set(map(type, values)) - {*expected, types.NoneType}
    if others:
        raise TypeError(f"{others.pop().__name__} found in a column of {column['type']}")
    return pl.Series(column["name"], values, dtype=dtype, strict=True)


_READERS: Mapping[Any, Callable[[tuple[Any, ...], Any], Any]] = {
    Union: _one_of,
    types.UnionType: _one_of,
    dict: _mapping,
    list: _items,
    tuple: _tuple,
    np.ndarray: _array,
    pl.DataFrame: _frame,
}


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
