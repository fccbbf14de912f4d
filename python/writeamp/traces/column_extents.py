"""Detection of the offset and length columns of a table, from properties of block requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import permutations, product

import numpy as np
import numpy.typing as npt

from writeamp.traces.column_names import UNIT_BYTES, byte_unit_of, field_of
from writeamp.traces.plausibility import FARTHEST_BYTES, LONGEST_BYTES
from writeamp.traces.trace import SECTOR_BYTES

_PAGE_BYTES = 4096
# Smallest share of the rows that must have a property; some rows may be damaged.
_NEARLY_ALL = 0.95
# Number of previous requests that are compared: requests often begin where one of the last few
# requests ended.
_LOOKED_BACK = 4
_OFTEN, _MOSTLY, _BEYOND_CHANCE = 0.2, 0.5, 0.8
# Fewest distinct offsets for a conclusion on units: if all are multiples of 4096, they are in
# bytes, despite a column name such as LBA.
_FEWEST_PLACES = 3
_FEWEST_AT_ONE_PLACE = 8
_MANY_PLACES, _FEW_PER_PLACE = 64, 4
# Points for evidence in the score of a pair of columns. A fitting column name counts less than
# requests that begin where others ended.
_NAMED, _UNIT_NAMED, _FOLLOWING, _MISNAMED, _MIXED = 3.0, 1.0, 4.0, 4.0, 1.5
# Least difference between the scores of the best pair of columns and the next one, and least score
# of the best pair.
_CLEARLY, _LEAST = 0.75, 1.5
# On a real drive, the highest offset is more than this many times the size of the largest request.
_FAR = 16

Column = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Extents:
    """Positions of the offset and length columns in a table, from 0, and their units.

    Attributes:
        offset, length: positions of the columns.
        offset_unit, length_unit: keys of `UNIT_BYTES`.
        score: strength of the evidence for these columns and units.
        is_offset_proven, is_length_proven: whether the values exclude other units.
        is_offset_coarser: whether offsets may count larger blocks than `offset_unit`: sizes are
            whole pages, but most requests would begin within a page.
    """

    offset: int
    length: int
    offset_unit: str
    length_unit: str
    score: float
    is_offset_proven: bool = True
    is_length_proven: bool = True
    is_offset_coarser: bool = False


def extents_in(columns: Mapping[int, Column], names: Mapping[int, str]) -> Extents | None:
    """Return the columns of offset and length; None if no pair fits clearly best.

    Columns whose names indicate other fields, such as PID, are left out.

    Args:
        columns: whole numbers of each possible column, of reads and writes only.
        names: column names, by position; "" for a column without a name.
    """
    columns = {
        at: values
        for at, values in columns.items()
        if field_of(names[at]) in ("", "offset", "length")
    }
    candidates = sorted(_scored(columns, names), key=lambda extents: -extents.score)
    if not candidates or candidates[0].score < _LEAST:
        return None
    best = candidates[0]
    others = [extents for extents in candidates if not _is_same(best, extents, columns)]
    if others and best.score - others[0].score < _CLEARLY:
        return None
    units = [
        (extents.offset_unit, extents.length_unit)
        for extents in candidates
        if _has_columns_of(best, extents)
    ]
    # Requests to files can have any size in bytes, which could be mistaken for sectors, so only
    # whole pages or a length in bytes prove the units.
    is_paged = bool((columns[best.length] * UNIT_BYTES[best.length_unit] % _PAGE_BYTES == 0).all())
    is_sure = best.length_unit == "bytes" or is_paged
    # If a table has the sizes both in bytes and in sectors, each of the two columns proves the unit
    # of the other one.
    is_double = any(
        extents.length != best.length and _is_same(best, extents, columns) for extents in candidates
    )
    offsets = columns[best.offset] * UNIT_BYTES[best.offset_unit]
    return replace(
        best,
        is_offset_coarser=is_paged and bool((offsets % _PAGE_BYTES != 0).mean() > _MOSTLY),
        is_offset_proven=is_sure and len({offset for offset, _ in units}) == 1,
        is_length_proven=is_double or (is_sure and len({length for _, length in units}) == 1),
    )


def _has_columns_of(first: Extents, other: Extents) -> bool:
    return (first.offset, first.length) == (other.offset, other.length)


def _is_same(first: Extents, other: Extents, columns: Mapping[int, Column]) -> bool:
    """Return whether two pairs have the same offset column and give the same sizes in bytes."""
    lengths = [columns[each.length] * UNIT_BYTES[each.length_unit] for each in (first, other)]
    return first.offset == other.offset and (
        first.length == other.length or bool((lengths[0] == lengths[1]).all())
    )


def _scored(columns: Mapping[int, Column], names: Mapping[int, str]) -> Iterator[Extents]:
    for offset, length in permutations(columns, 2):
        units = product(
            _units(columns[offset], names[offset], FARTHEST_BYTES),
            _units(columns[length], names[length], LONGEST_BYTES),
        )
        for offset_unit, length_unit in units:
            extents = Extents(offset, length, offset_unit, length_unit, 0.0)
            score = _score(extents, columns, names)
            if score is not None:
                yield replace(extents, score=score)


def _units(values: Column, name: str, most_bytes: int) -> Iterator[str]:
    """Yield the units in which nearly all values are addresses or sizes of whole sectors."""
    named = byte_unit_of(name)
    for unit in ("bytes", "sectors", *({named} - {"", "bytes", "sectors"})):
        unit_bytes = UNIT_BYTES[unit]
        is_whole = values * (unit_bytes % SECTOR_BYTES or 0) % SECTOR_BYTES == 0
        is_near = values <= most_bytes // unit_bytes
        if len(values) and (is_whole & is_near).mean() >= _NEARLY_ALL:
            yield unit


def _score(
    extents: Extents, columns: Mapping[int, Column], names: Mapping[int, str]
) -> float | None:
    """Return the score of a pair of columns; None if it cannot be offsets and lengths."""
    offsets, lengths = columns[extents.offset], columns[extents.length]
    if (lengths > 0).mean() < _NEARLY_ALL:
        return None
    starts = offsets * UNIT_BYTES[extents.offset_unit]
    sizes = lengths * UNIT_BYTES[extents.length_unit]
    places = len(np.unique(starts))
    if places == 1 and len(starts) >= _FEWEST_AT_ONE_PLACE:
        return None
    is_far = bool(starts.max() > _FAR * sizes.max())
    following = _following(starts, sizes)
    are_many = places > min(_MANY_PLACES, len(starts) / _FEW_PER_PLACE)
    if not (are_many and is_far) and following < _BEYOND_CHANCE:
        # Among small numbers, some are sums of others by chance, so they prove nothing.
        following = 0.0
    score = _of_names(extents, names) + _FOLLOWING * min(1.0, following / _OFTEN)
    score += float(places > len(np.unique(sizes))) + 0.5 * (extents.length == extents.offset + 1)
    score += 0.5 * bool((sizes % _PAGE_BYTES == 0).all())
    score -= 0.5 * bool(sizes.min() == sizes.max())
    score += 0.5 * is_far
    is_named = byte_unit_of(names[extents.length]) == extents.length_unit
    if (extents.offset_unit, extents.length_unit) == ("bytes", "sectors") and not is_named:
        score -= _MISNAMED
    elif extents.offset_unit != extents.length_unit and not names[extents.length]:
        score -= _MIXED if extents.length_unit == "bytes" else _MISNAMED
    score += 2.0 * (extents.length_unit == "bytes") + 1.0 * (extents.offset_unit == "bytes")
    if places >= _FEWEST_PLACES and (offsets % _PAGE_BYTES == 0).all():
        score += _NAMED * (extents.offset_unit == "bytes")
    steps = np.diff(offsets)
    if places >= _FEWEST_PLACES and (steps == 1).all():  # row numbers, not offsets
        score -= _MISNAMED
    elif len(steps) > 1 and (steps > 0).all() and following <= 0.5:  # times, not offsets
        score -= 1.0
    return score


def _of_names(extents: Extents, names: Mapping[int, str]) -> float:
    score = 0.0
    for field, at, unit in (
        ("offset", extents.offset, extents.offset_unit),
        ("length", extents.length, extents.length_unit),
    ):
        field_named, unit_named = field_of(names[at]), byte_unit_of(names[at])
        if field_named:
            score += _NAMED if field_named == field else -_MISNAMED
        if unit_named:
            # The difference between a right and a wrong unit in a name (2.5) is larger than the
            # preference for bytes (2), so bytes never override the unit that a name states.
            score += 1.5 * _UNIT_NAMED if unit_named == unit else -_UNIT_NAMED
    return score


def _following(starts: Column, sizes: Column) -> float:
    """Return the share of requests that begin where one of the 4 requests before them ended."""
    if len(starts) < 2:
        return 0.0
    ends = starts + sizes
    follows = np.zeros(len(starts), bool)
    for back in range(1, min(_LOOKED_BACK, len(starts) - 1) + 1):
        follows[back:] |= (starts[back:] == ends[:-back]) & (sizes[:-back] > 0)
    return float(follows[1:].mean())
