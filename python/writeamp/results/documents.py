"""Results as JSON documents and back, exactly: dataclasses, arrays and tables.

A document holds nothing but JSON types. To read one runs nothing that it says: the reader names
the type that it expects, and a document of another is refused.
"""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
import polars as pl

from writeamp.errors import WriteampError

# Numbers that JSON has no words for.
_UNUSUAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def to_document(value: Any, *, without: tuple[str, ...] = ()) -> Any:  # noqa: PLR0911
    """Return a value as JSON types: a dataclass as a table of its fields.

    Args:
        value: of plain types, tuples, lists, mappings by text, arrays, data frames, dataclasses.
        without: fields of the outermost dataclass that are left out.
    """
    if isinstance(value, np.ndarray):
        little_endian = value.astype(value.dtype.newbyteorder("<"))
        content = base64.b64encode(np.ascontiguousarray(little_endian).tobytes()).decode()
        return {"dtype": little_endian.dtype.str, "shape": list(value.shape), "base64": content}
    if isinstance(value, pl.DataFrame):
        buffer = io.BytesIO()
        value.write_ipc(buffer)
        return {"ipc": base64.b64encode(buffer.getvalue()).decode()}
    if is_dataclass(value):
        return {
            one.name: to_document(getattr(value, one.name))
            for one in fields(value)
            if one.init and one.name not in without
        }
    if isinstance(value, Mapping):
        return {str(name): to_document(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [to_document(one) for one in value]
    if isinstance(value, np.generic):
        return to_document(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return next(name for name, one in _UNUSUAL.items() if str(one) == str(value))
    return value


def from_document(kind: Any, document: Any, **given: Any) -> Any:
    """Return the value of a type that `to_document` wrote.

    Args:
        kind: a type, or a hint such as `tuple[float, ...] | None`.
        document: what was written.
        given: fields that were left out.

    Raises:
        WriteampError: the document is of something else.
    """
    try:
        return _dataclass(kind, document, given) if is_dataclass(kind) else _read(kind, document)
    except (TypeError, ValueError, KeyError, OverflowError, pl.exceptions.PolarsError) as error:
        name = getattr(kind, "__name__", str(kind))
        raise WriteampError(f"the document is no {name}: {' '.join(str(error).split())}") from None


def _read(kind: Any, document: Any) -> Any:  # one case for each type
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return _one_of(get_args(kind), document)
    if isinstance(document, Mapping):
        return _read_table(kind, document)
    if origin in (tuple, list) and isinstance(document, list):
        return _read_items(origin, get_args(kind), document)
    if kind is float and document in _UNUSUAL:
        return _UNUSUAL[document]
    if kind is Any:
        return document
    expected = (int, float) if kind is float else NoneType if kind is None else origin or kind
    if not isinstance(document, expected) or (isinstance(document, bool) and kind is not bool):
        raise TypeError(f"{document!r:.40} stands where {kind} is expected")
    return float(document) if isinstance(document, int) and kind is float else document


def _read_table(kind: Any, document: Mapping[str, Any]) -> Any:
    if is_dataclass(kind):
        return _dataclass(kind, document, {})
    if "base64" in document:
        content = base64.b64decode(document["base64"], validate=True)
        found = np.frombuffer(content, np.dtype(str(document["dtype"])))
        return found.reshape(document["shape"]).copy()
    if "ipc" in document:
        return pl.read_ipc(io.BytesIO(base64.b64decode(document["ipc"], validate=True)))
    of_value = get_args(kind)[1] if get_args(kind) else Any
    return {name: _read(of_value, one) for name, one in document.items()}


def _read_items(origin: Any, kinds: tuple[Any, ...], document: list[Any]) -> Any:
    if origin is list or kinds[1:] == (Ellipsis,):
        return origin(_read(kinds[0], one) for one in document)
    return tuple(_read(kind, one) for kind, one in zip(kinds, document, strict=True))


def _one_of(kinds: tuple[Any, ...], document: Any) -> Any:
    if document is None and NoneType in kinds:
        return None
    for kind in kinds:
        try:
            if kind is not NoneType:
                return _read(kind, document)
        except (TypeError, ValueError, KeyError):
            continue
    raise TypeError(f"{document!r:.40} stands where one of {kinds} is expected")


def _dataclass(kind: Any, document: Any, given: Mapping[str, Any]) -> Any:
    if not isinstance(document, Mapping):
        raise TypeError(f"{document!r:.40} stands where a table is expected")
    hints = _hints(kind)
    known = [one.name for one in fields(kind) if one.init]
    for name in document:
        if name not in known:
            raise KeyError(f"{name} is no field of it")
    found = {name: _read(hints[name], one) for name, one in document.items()}
    return kind(**found, **given)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
