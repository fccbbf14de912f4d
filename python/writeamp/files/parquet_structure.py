"""Structure of Parquet files: counts and sizes, checked before Polars relies on them.

Polars does not check them, and a damaged file ends the process. The metadata and the header of
each page are Thrift in its compact protocol, which is parsed here;
https://parquet.apache.org/docs/file-format/metadata/ lists the fields.
"""

from __future__ import annotations

import os
from typing import Any, BinaryIO, TypeAlias

Fields: TypeAlias = dict[int, Any]

_MAGIC = b"PAR1"
_FOOTER_BYTES = 8
# Largest accepted page and metadata, in bytes; writers stay far below these limits.
_LARGEST_PAGE_BYTES = 2**28
_LARGEST_METADATA_BYTES = 2**24
# Bytes that are read of a page's header: first for short statistics, then for the longest ones.
_HEADER_BYTES, _LARGEST_HEADER_BYTES = 2**10, 2**24
_DEEPEST = 32
# Size in bytes of numbers that no check needs, by their Thrift type.
_WIDTHS = {3: 1, 7: 8}

# Numbers of the fields in the Thrift structures of Parquet.
_SCHEMA, _ROWS, _ROW_GROUPS = 2, 3, 4
_REPETITION, _REPEATED = 3, 2
_COLUMNS, _ROWS_OF_GROUP = 1, 3
_COLUMN_METADATA = 3
_VALUES, _UNPACKED_BYTES, _PACKED_BYTES, _DATA_AT, _DICTIONARY_AT = 5, 6, 7, 9, 11
_PAGE_UNPACKED_BYTES, _PAGE_PACKED_BYTES = 2, 3
_DATA_PAGE, _DICTIONARY_PAGE, _DATA_PAGE_2 = 5, 7, 8
_PAGE_VALUES, _PAGE_NULLS, _PAGE_ROWS, _PAGE_LEVELS = 1, 2, 3, (5, 6)


class DamagedError(Exception):
    """The structure of a Parquet file is damaged."""


def check_structure(file: BinaryIO) -> None:
    """Reject a file with counts or sizes that do not fit each other; its position is kept.

    Raises:
        DamagedError: the structure is damaged.
    """
    position = file.tell()
    size = file.seek(0, os.SEEK_END)
    try:
        _check(file, size)
    except (IndexError, KeyError, TypeError, AttributeError, OverflowError):
        raise DamagedError("its structure is damaged") from None
    finally:
        file.seek(position)


def _check(file: BinaryIO, size: int) -> None:
    end = _at(file, max(size - _FOOTER_BYTES, 0), _FOOTER_BYTES)
    length = int.from_bytes(end[:4], "little")
    begin = size - _FOOTER_BYTES - length
    if end[4:] != _MAGIC:
        raise DamagedError("it is not a Parquet file, or its end is missing")
    if begin < len(_MAGIC) or length > _LARGEST_METADATA_BYTES:
        raise DamagedError("the metadata are damaged")
    metadata, _ = _struct(_at(file, begin, length))
    rows = metadata[_ROWS]
    groups = metadata.get(_ROW_GROUPS, [])
    if rows != sum(group[_ROWS_OF_GROUP] for group in groups):
        raise DamagedError("the row groups are damaged")
    # Each column has a value for each row, unless a column holds lists.
    is_flat = all(element.get(_REPETITION) != _REPEATED for element in metadata[_SCHEMA])
    for group in groups:
        group_rows = group[_ROWS_OF_GROUP]
        for column in group[_COLUMNS]:
            chunk = column[_COLUMN_METADATA]
            if group_rows < 0 or (is_flat and chunk[_VALUES] != group_rows):
                raise DamagedError("the row groups are damaged")
            _check_pages(file, chunk, begin)


def _check_pages(file: BinaryIO, chunk: Fields, end: int) -> None:
    begin = chunk.get(_DICTIONARY_AT) or chunk[_DATA_AT]
    behind = begin + chunk[_PACKED_BYTES]
    if not (0 < begin <= behind <= end and chunk[_UNPACKED_BYTES] >= 0):
        raise DamagedError("a column lies beyond the end of the data")
    values = 0
    while begin < behind:
        header, length = _page_header(file, begin, behind)
        packed, unpacked = header[_PAGE_PACKED_BYTES], header[_PAGE_UNPACKED_BYTES]
        begin += length + packed
        if packed < 0 or begin > behind or not 0 <= unpacked <= _LARGEST_PAGE_BYTES:
            raise DamagedError("a page has no valid size")
        values += _values_in(header, unpacked)
    if values != chunk[_VALUES]:
        raise DamagedError(
            "the pages of a column have more or fewer values than its metadata state"
        )


def _page_header(file: BinaryIO, begin: int, end: int) -> tuple[Fields, int]:
    try:
        return _struct(_at(file, begin, min(_HEADER_BYTES, end - begin)))
    except (IndexError, DamagedError):  # the header is longer
        return _struct(_at(file, begin, min(_LARGEST_HEADER_BYTES, end - begin)))


def _values_in(header: Fields, unpacked_bytes: int) -> int:
    """Return the number of a column's values in a page; 0 for a dictionary page."""
    if _DICTIONARY_PAGE in header:
        if not 0 <= header[_DICTIONARY_PAGE][_PAGE_VALUES] <= unpacked_bytes:
            raise DamagedError("a dictionary has no valid size")
        return 0
    page = header.get(_DATA_PAGE) or header[_DATA_PAGE_2]
    counts = [page.get(name, 0) for name in (_PAGE_VALUES, _PAGE_NULLS, _PAGE_ROWS, *_PAGE_LEVELS)]
    if _DATA_PAGE in header:
        counts[1:] = []
    values, parts, levels_bytes = counts[0], counts[1:3], counts[3:]
    if min(counts) < 0 or max(parts, default=0) > values or sum(levels_bytes) > unpacked_bytes:
        raise DamagedError("a page has no valid number of values")
    return int(values)


def _at(file: BinaryIO, place: int, count: int) -> bytes:
    file.seek(place)
    return file.read(count)


def _struct(data: bytes, at: int = 0, depth: int = 0) -> tuple[Fields, int]:
    """Return the fields of a structure by number, and the position after it."""
    fields: Fields = {}
    number = 0
    while kind := data[at]:
        at += 1
        if kind >> 4:
            number += kind >> 4
        else:
            number, at = _integer(data, at)
        fields[number], at = _value(data, at, kind & 15, depth)
    return fields, at + 1


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if depth > _DEEPEST:
        raise DamagedError("the metadata are nested too deep")
    if kind in (1, 2):
        return kind == 1, at
    if kind in _WIDTHS:
        return data[at + _WIDTHS[kind] - 1], at + _WIDTHS[kind]
    if kind in (4, 5, 6):
        return _integer(data, at)
    if kind == 8:
        length, at = _varint(data, at)
        if length > len(data) - at:
            raise DamagedError("the metadata end too early")
        return data[at : at + length], at + length
    if kind in (9, 10):
        return _list(data, at, depth)
    if kind == 12:
        return _struct(data, at, depth + 1)
    raise DamagedError("the metadata are damaged")


def _list(data: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    head, at = data[at], at + 1
    count, kind = head >> 4, head & 15
    if count == 15:
        count, at = _varint(data, at)
    items = []
    for _ in range(count):
        if kind in (1, 2):  # in a list a boolean takes a byte, other than as a field
            item, at = data[at] == 1, at + 1
        else:
            item, at = _value(data, at, kind, depth + 1)
        items.append(item)
    return items, at


def _integer(data: bytes, at: int) -> tuple[int, int]:
    """Return a signed number, decoded from zigzag order, and the position after it."""
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise DamagedError("the metadata are damaged")
