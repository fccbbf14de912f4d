"""Detection of the format of a file, from its first rows and their values in each format."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from writeamp.errors import WriteampError
from writeamp.traces.assemble import DeviceCodes
from writeamp.traces.format import Format
from writeamp.traces.plausibility import absurdities_of_rows
from writeamp.traces.registry import FORMATS
from writeamp.traces.row_format import RowFormat
from writeamp.traces.source import Head, TextBlock, file_path, read_head
from writeamp.traces.suggestion import Suggestion, gap_of, misfit_of, suggestion_of
from writeamp.traces.words import EXAMPLE

# Number of rows that are parsed one by one if some of the first rows cannot be read.
_LINES_ONE_BY_ONE = 32


def detect(path: str | os.PathLike[str]) -> str:
    """Return the name of the file's format.

    Returns:
        Name of the format, such as "msr".

    Raises:
        WriteampError: no format fits, or several do. If several fit, the message lists them with
            their units.

    >>> import writeamp as wa
    >>> wa.traces.detect("examples/postgres-tpcb.parquet")
    'parquet'
    """
    file = file_path(path)
    head = read_head(file)
    candidates = [entry for entry in FORMATS.values() if entry.matches(head)]
    why_not = {entry.name: _absurdities(entry, file, head) for entry in candidates}
    plausible = [entry for entry in candidates if not why_not[entry.name]]
    is_one = len(plausible) == 1 and plausible[0].certain
    if is_one and not _has_foreign_header(plausible[0], file, head):
        return plausible[0].name
    _refuse_without_operations(path, head)
    suggestion = suggestion_of(file, head)
    table = head.table
    if table is not None and table.has_header and suggestion is not None:
        raise _error(path, "its first line has column names of no known format", suggestion)
    if is_one:
        return plausible[0].name
    if plausible:
        choices = "; ".join(f"{entry.name} ({entry.units})" for entry in plausible)
        raise WriteampError(
            f"{path}: the rows fit several formats or units; name one with --format "
            f"(--from in convert): {choices}{_ending(suggestion)}"
        )
    if candidates:
        raise _error(path, _refusals(why_not), suggestion)
    if table is not None and table.is_quoted:
        raise WriteampError(
            f"{path}: its fields are in quotes, which cannot be read; remove them, e.g. with "
            "tr -d '\"'"
        )
    why = "its first line is not a row of a known format" if head.lines else "all lines are blank"
    if suggestion is not None:
        raise _error(path, why, suggestion)
    if misfit := misfit_of(file, head):
        raise WriteampError(f"{path}: {why}; {misfit}")
    # The file may be private, so the errors do not show its content.
    if gap := gap_of(table):
        raise WriteampError(
            f"{path}: {why}, and {gap}; name the format with --format (--from in convert), one of "
            f"writeamp list formats, or state its columns: {EXAMPLE}"
        )
    raise WriteampError(
        f"{path}: {why}; name the format with --format (--from in convert), or state its columns: "
        f"{EXAMPLE}; formats are {', '.join(FORMATS)}"
    )


def _error(path: str | os.PathLike[str], why: str, suggestion: Suggestion | None) -> WriteampError:
    """Return an error that ends with the suggested spec, if any, so that users can copy it."""
    return WriteampError(
        f"{path}: {why}"
        f"{_ending(suggestion) or f'; for another format, state its columns: {EXAMPLE}'}"
    )


def _ending(suggestion: Suggestion | None) -> str:
    if suggestion is None:
        return ""
    if_right = f"if {_listed(suggestion.checks)}, this" if suggestion.checks else "this"
    return f"; {if_right} reads it: --format {shlex.quote(suggestion.spec)}"


def _listed(clauses: Sequence[str]) -> str:
    *others, last = clauses
    return f"{', '.join(others)} and {last}" if others else last


def _has_foreign_header(entry: Format, path: Path, head: Head) -> bool:
    """Return whether the first line names columns and is not the format's own header."""
    table = head.table
    if entry.rows is None or table is None or not table.has_header:
        return False
    first_line = head.lines[0]
    if entry.matches(Head(first_line.encode(), (first_line,), first_line)):
        return False
    header = entry.rows(path).header
    return header is None or header.match(first_line.encode()) is None


def _absurdities(entry: Format, path: Path, head: Head) -> list[str]:
    """Return the implausible values that the first rows would have in a format, as clauses.

    Damaged rows do not count: reading the file reports them.
    """
    if entry.rows is None or entry.unmistakable:
        return []
    lines = [line for line in head.lines if entry.matches(Head(line.encode(), (line,)))]
    rows = entry.rows(path)
    devices = DeviceCodes(rows.device_separator)
    try:
        requests = _requests(rows, path, lines, devices)
    except WriteampError:
        tables, faults = [], []
        for line in lines[:_LINES_ONE_BY_ONE]:
            try:
                tables.append(_requests(rows, path, [line], devices))
            except WriteampError as fault:
                faults.append(str(fault).removeprefix(f"{path}:1: "))
        if len(faults) > max(1, len(tables)):
            return [faults[0]]
        if not tables:
            return []
        requests = pl.concat(tables)
    if requests.is_empty():
        return []
    return absurdities_of_rows(requests, devices)


def _requests(
    rows: RowFormat, path: Path, lines: Sequence[str], devices: DeviceCodes
) -> pl.DataFrame:
    text = "\n".join([*lines, ""]).encode()
    return rows.requests_of(TextBlock(path, 1, text), devices)


def _refusals(why_not: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(
        f"it has the form of {name}, but {' and '.join(reasons)} (--format {name} reads it anyway)"
        for name, reasons in why_not.items()
    )


# Record of libCacheSim's oracleGeneral, little-endian: time in s, object, size, next access (-1 or
# 2^63 - 1 for none).
_ORACLE_GENERAL = np.dtype([("time", "<u4"), ("id", "<u8"), ("size", "<u4"), ("next", "<i8")])
_LOOKED_AT = 64
_NO_NEXT = (-1, 2**63 - 1)


def _refuse_without_operations(path: str | os.PathLike[str], head: Head) -> None:
    """Reject files of libCacheSim's oracleGeneral, which do not distinguish reads and writes."""
    count = min(_LOOKED_AT, len(head.start) // _ORACLE_GENERAL.itemsize)
    records = np.frombuffer(head.start, _ORACLE_GENERAL, count)
    is_oracle_general = (
        count >= 2
        and b"\0" in head.start
        and bool((np.diff(records["time"].astype(np.int64)) >= 0).all())
        and bool((records["size"] > 0).all())
        and bool((np.isin(records["next"], _NO_NEXT) | (records["next"] > np.arange(count))).all())
        and bool((records["next"] < 2**48).all() | np.isin(records["next"], _NO_NEXT).any())
    )
    if is_oracle_general or ".oraclegeneral" in os.fspath(path).lower():
        raise WriteampError(
            f"{path}: is libCacheSim's oracleGeneral, which does not distinguish reads and writes; "
            "give the trace that it was made from (its VSCSI file or CSV)"
        )
