"""Suggested `columns:` spec for a text of unknown format, after a test on its first rows."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path

from writeamp.errors import WriteampError
from writeamp.traces.assemble import DeviceCodes
from writeamp.traces.column_contents import (
    flags_in,
    is_bare_hexadecimal,
    is_clock,
    is_date_and_time,
    is_device,
    is_rising,
    operations_in,
    stage_in,
    time_unit_in,
    whole_numbers_in,
    with_opposites,
)
from writeamp.traces.column_extents import Extents, extents_in
from writeamp.traces.column_format import column_format
from writeamp.traces.column_names import (
    byte_unit_of,
    field_of,
    flag_of,
    is_in_4kib,
    time_unit_of,
)
from writeamp.traces.plausibility import absurdities_of_rows
from writeamp.traces.source import Head, TextBlock
from writeamp.traces.text_table import TextTable

# Fewest rows for a suggestion if there are no column names, as a single row does not prove the
# columns.
_FEWEST_ROWS = 2
# Operations of the words for no and yes in a column of flags, by the word in the column's name. In
# a column named "op", yes is a write.
_FLAGS = {"write": ("read", "write"), "read": ("write", "read"), "op": ("read", "write")}
# Times without a unit are taken as seconds if the mean gap between requests is then at most this
# long.
_LONGEST_MEAN_GAP_S = 60
_FEWEST_PER_DEVICE = 8
_LINE = "line "


@dataclass(frozen=True)
class Suggestion:
    """Spec that reads the first rows, with assumptions that users should check.

    Attributes:
        spec: `columns:…`.
        checks: clauses with assumptions that neither the values nor the column names prove.
    """

    spec: str
    checks: tuple[str, ...]


@dataclass(frozen=True)
class _Fields:
    """Detected columns of the fields, from 0, their words and units, and the stage that counts."""

    op: int
    operations: Mapping[str, str]
    extents: Extents
    time: int | None = None
    time_unit: str = ""
    device: int | None = None
    stage: tuple[int, str] | None = None


def suggestion_of(path: Path, head: Head) -> Suggestion | None:
    """Return the spec for a text; None if its columns are unclear, or no spec reads its rows."""
    table = head.table
    if table is None or len(table.rows) < (1 if table.names else _FEWEST_ROWS):
        return None
    fields = _fields(table)
    if fields is None:
        return None
    if head.is_cut:  # unseen rows may have the other operation
        fields = replace(fields, operations=with_opposites(fields.operations))
    for tried in _without_parts(fields):
        spec = _spec(table, tried)
        if not _faults_of(spec, path, head):
            return Suggestion(spec, tuple(_checks(table, tried)))
    return None


def misfit_of(path: Path, head: Head) -> str:
    """Return a clause with the detected spec and why it does not fit; "" if none is detected."""
    table = head.table
    fields = None if table is None or len(table.rows) < _FEWEST_ROWS else _fields(table)
    if table is None or fields is None:
        return ""
    spec = _spec(table, replace(fields, time=None))
    option = f"--format {shlex.quote(spec)}"
    faults = _faults_of(spec, path, head)
    is_of_a_row = faults[0].startswith(_LINE)
    return (
        f"{option} fits, except for {faults[0]}" if is_of_a_row else f"with {option}, {faults[0]}"
    )


def gap_of(table: TextTable | None) -> str:
    """Return a clause on why no spec was detected in a table; "" if the text is not a table."""
    if table is None or len(table.rows) < _FEWEST_ROWS:
        return ""
    if _operation_column(table) is None:
        return "no column clearly holds operations (op=write if all are writes)"
    for column in range(len(table.rows[0])):
        is_extent = field_of(table.name(column)) in ("offset", "length")
        if is_extent and whole_numbers_in(table.column(column)) is None:
            return f"{table.name(column)} has values other than whole numbers from 0 to 2^63"
    return "no two columns are clearly the offsets and lengths of requests"


def _fields(table: TextTable) -> _Fields | None:
    width = len(table.rows[0])
    stages = ((at, word) for at in range(width) if (word := stage_in(table.column(at))))
    stage = next(stages, None)
    if stage is not None:
        table = replace(table, rows=[row for row in table.rows if row[stage[0]] == stage[1]])
    op = _operation_column(table)
    if op is None:
        return None
    at, operations = op
    moves_data = [operations[word] in ("read", "write") for word in table.column(at)]
    times = {
        column: unit
        for column in range(width)
        if column != at and (unit := _time_unit(table, column))
    }
    proven = [column for column, unit in times.items() if time_unit_in(table.column(column))]
    time = next((column for column in (*proven, *times)), None)
    if not any(moves_data):
        return None
    numbers = {
        column: whole
        for column in range(width)
        if column not in (at, time)
        and (whole := whole_numbers_in([*compress(table.column(column), moves_data)])) is not None
    }
    extents = extents_in(numbers, {column: table.name(column) for column in numbers})
    if extents is None:
        return None
    taken = {at, time, extents.offset, extents.length}
    return _Fields(
        at,
        operations,
        extents,
        time,
        "" if time is None else times[time],
        _device_column(table, taken),
        stage,
    )


def _operation_column(table: TextTable) -> tuple[int, Mapping[str, str]] | None:
    """Return the column of operations and its words; None if no column or several columns fit."""
    words = {
        column: operations
        for column in range(len(table.rows[0]))
        if (operations := operations_in(table.column(column)))
        and {"read", "write"} & set(operations.values())
    }
    named = [column for column in words if field_of(table.name(column)) == "op"]
    candidates = named or list(words)
    meanings = {tuple(words[at][word] for word in table.column(at)) for at in candidates}
    if len(meanings) == 1:
        return candidates[0], words[candidates[0]]
    if candidates:
        return None
    flags = [
        (column, dict(zip(pair, flag_meanings, strict=True)))
        for column in range(len(table.rows[0]))
        if (pair := flags_in(table.column(column)))
        and (
            flag_meanings := _FLAGS.get(flag_of(table.name(column)) or field_of(table.name(column)))
        )
    ]
    return flags[0] if len(flags) == 1 else None


def _time_unit(table: TextTable, column: int) -> str:
    """Return the unit of a column of times; "" if it has no times or an unknown unit."""
    values, name = table.column(column), table.name(column)
    field = field_of(name)
    if field not in ("", "time") or not is_rising(values):
        return ""
    proven, named = time_unit_in(values), time_unit_of(name)
    if proven or field != "time":
        return proven if named in ("", proven) else ""
    if named:
        return named
    span_s = float(values[-1]) - float(values[0])
    return "s" if span_s <= _LONGEST_MEAN_GAP_S * len(values) else ""


def _device_column(table: TextTable, taken: set[int | None]) -> int | None:
    free = [column for column in range(len(table.rows[0])) if column not in taken]
    named = [column for column in free if field_of(table.name(column)) == "device"]
    shown = [column for column in free if is_device(table.column(column))]
    return next((column for column in (*named, *shown) if all(table.column(column))), None)


def _without_parts(fields: _Fields) -> Iterator[_Fields]:
    """Yield the fields with times, then without times, as times are most often wrong."""
    yield fields
    if fields.time is not None:
        yield replace(fields, time=None)


def _spec(table: TextTable, fields: _Fields) -> str:
    extents = fields.extents
    columns = {
        "time": fields.time,
        "device": fields.device,
        "offset": extents.offset,
        "length": extents.length,
        "op": fields.op,
    }
    references = {
        field: table.reference(column) for field, column in columns.items() if column is not None
    }
    words = "/".join(f"{word}={meaning}" for word, meaning in fields.operations.items())
    units = {
        "time": f":{fields.time_unit}",
        "offset": f":{_base(table, extents.offset)}{extents.offset_unit}",
        "length": f":{_base(table, extents.length)}{extents.length_unit}",
        "op": f":{words}",
    }
    parts = [f"{field}={where}{units.get(field, '')}" for field, where in references.items()]
    if fields.stage is not None:
        column, word = fields.stage
        references["only"] = table.reference(column)
        parts.append(f"only={references['only']}:{word}")
    return "columns:" + ",".join([*parts, *table.settings(list(references.values()))])


def _base(table: TextTable, column: int) -> str:
    return "hex-" if is_bare_hexadecimal(table.column(column)) else ""


def _faults_of(spec: str, path: Path, head: Head) -> list[str]:
    """Return why a spec cannot read the first rows, or which values it reads are implausible."""
    try:
        entry = column_format(spec)
        assert entry.rows is not None
        rows = entry.rows(path)
        devices = DeviceCodes(rows.device_separator)
        requests = rows.requests_of(TextBlock(path, 1, head.text.encode()), devices)
    except WriteampError as error:
        return [str(error).replace(f"{path}:", _LINE, 1)]
    return absurdities_of_rows(requests, devices)


def _checks(table: TextTable, fields: _Fields) -> Iterator[str]:
    extents = fields.extents
    counting: dict[str, list[str]] = {}
    for is_proven, column, unit in (
        (extents.is_offset_proven, extents.offset, extents.offset_unit),
        (extents.is_length_proven, extents.length, extents.length_unit),
    ):
        name = table.name(column)
        named = byte_unit_of(name)
        is_pages = unit == "4KiB" and not is_in_4kib(name)
        if is_pages or (named != unit and (named or not is_proven)):
            counting.setdefault(unit, []).append(_called(table, column))
    for unit, names in counting.items():
        yield f"{' and '.join(names)} {'count' if len(names) > 1 else 'counts'} {unit}"
    if fields.time is None and not table.names and is_clock(table.column(extents.offset)):
        yield f"{_called(table, extents.offset)} is an offset and not a time"
    if extents.is_offset_coarser and extents.offset_unit == "sectors":
        yield f"{_called(table, extents.offset)} counts sectors of 512 bytes and not larger sectors"
    if _base(table, extents.offset) and not _base(table, extents.length):
        yield f"{_called(table, extents.length)} is decimal"
    if fields.operations == {"0": "read", "1": "write"} and not flag_of(table.name(fields.op)):
        yield f"0 of {_called(table, fields.op)} is a read and 1 a write"
    if fields.stage is not None:
        column, word = fields.stage
        yield f"the rows with {word} in {_called(table, column)} are all requests"
    if fields.time is None:
        clock = _clock_column(table, fields)
        of_clock = "" if clock is None else f" in {_called(table, clock)}"
        how = ""
        if clock is not None and is_date_and_time(table.column(clock)):
            how = f" (time={table.reference(clock)}:datetime adds them)"
        yield f"the times{of_clock} do not matter{how}"
    elif not (time_unit_in(table.column(fields.time)) or time_unit_of(table.name(fields.time))):
        yield f"{_called(table, fields.time)} counts seconds"
    if fields.device is None:
        columns = _possible_devices(table, fields)
        how = f" (else add device={columns[0]})" if len(columns) == 1 else ""
        yield f"all rows are of one device{how}"


def _possible_devices(table: TextTable, fields: _Fields) -> list[str]:
    """Return unnamed columns with few different numbers, which may be devices."""
    taken = {fields.op, fields.time, fields.extents.offset, fields.extents.length}
    if fields.stage is not None:
        taken.add(fields.stage[0])
    free = [column for column in range(len(table.rows[0])) if column not in taken]
    return [
        table.reference(column)
        for column in free
        if not table.name(column)
        and all(value.isdecimal() for value in table.column(column))
        and 1 < len(set(table.column(column))) <= len(table.rows) / _FEWEST_PER_DEVICE
    ]


def _clock_column(table: TextTable, fields: _Fields) -> int | None:
    """Return the column of times with an unknown unit, if there is one."""
    taken = {fields.op, fields.device, fields.extents.offset, fields.extents.length}
    free = [column for column in range(len(table.rows[0])) if column not in taken]
    for column in free:
        is_named = field_of(table.name(column)) == "time"
        if is_named or (not table.names and is_clock(table.column(column))):
            return column
    return None


def _called(table: TextTable, column: int) -> str:
    return table.name(column) or f"column {column + 1}"
