"""Format of a file, detected from its beginning and from what reading it so would mean."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from writeamp.errors import WriteampError
from writeamp.traces.devices import DeviceCodes
from writeamp.traces.format import Format
from writeamp.traces.header_lines import spec_of
from writeamp.traces.plausibility import absurdities
from writeamp.traces.registry import FORMATS
from writeamp.traces.row_format import RowFormat
from writeamp.traces.source import Block, Head, file_path, read_head
from writeamp.traces.words import EXAMPLE

# Rows that are parsed one by one where not all of the first can be read.
_LINES_ONE_BY_ONE = 32


def detect(path: str | os.PathLike[str]) -> str:
    """Return the name of the file's format.

    Raises:
        WriteampError: no format or more than one fits; names the candidates and what sets them
            apart.

    >>> import writeamp as wa
    >>> wa.traces.detect("examples/postgres-tpcb.parquet")
    'parquet'
    """
    file = file_path(path)
    head = read_head(file)
    candidates = [entry for entry in FORMATS.values() if entry.matches(head)]
    why_not = {entry.name: _absurdities(entry, file, head) for entry in candidates}
    plausible = [entry for entry in candidates if not why_not[entry.name]]
    if len(plausible) == 1 and plausible[0].certain:
        return plausible[0].name
    if plausible:
        choices = "; ".join(f"{entry.name} ({entry.units})" for entry in plausible)
        raise WriteampError(
            f"{path}: the rows alone do not tell the format, name it with --format "
            f"(--from in convert): {choices}"
        )
    if candidates:
        raise WriteampError(
            f"{path}: {_refusals(why_not)}; name the format with --format (--from in convert) if "
            f"that is right"
        )
    _refuse_without_operations(path, head)
    suggested = spec_of(head)
    if suggested is not None:
        raise WriteampError(
            f"{path}: its first line names columns of no known format; if the units and the words "
            f"of the operations are right, this reads it: --format {shlex.quote(suggested)}"
        )
    # The content of a file that is perhaps none for others to see is not shown.
    why = "its first line is no row of a known format" if head.lines else "it has only blank lines"
    raise WriteampError(
        f"{path}: {why}; name the format with "
        f"--format (--from in convert) from {', '.join(FORMATS)}, or state its columns: {EXAMPLE}"
    )


def _absurdities(entry: Format, path: Path, head: Head) -> list[str]:
    """Return what would be absurd if the first rows were of a format; empty if nothing is.

    Rows that are damaged say nothing of the format: reading it names them.
    """
    if entry.rows is None or entry.unmistakable:
        return []
    lines = [line for line in head.lines if entry.matches(Head(line.encode(), (line,)))]
    rows = entry.rows(path)
    devices = DeviceCodes(rows.device_separator)
    try:
        requests = _requests(rows, path, lines, devices)
    except WriteampError:
        parts, faults = [], []
        for line in lines[:_LINES_ONE_BY_ONE]:
            try:
                parts.append(_requests(rows, path, [line], devices))
            except WriteampError as fault:
                faults.append(str(fault).removeprefix(f"{path}:1: "))
        if len(faults) > max(1, len(parts)):
            return [faults[0]]
        if not parts:
            return []
        requests = pl.concat(parts)
    if requests.is_empty():
        return []
    names, codes = devices.renumber(requests["device"])
    return absurdities(requests.with_columns(device=codes), names)


def _requests(
    rows: RowFormat, path: Path, lines: Sequence[str], devices: DeviceCodes
) -> pl.DataFrame:
    text = "\n".join([*lines, ""]).encode()
    return rows.requests_of(Block(path, 1, text), devices)


def _refusals(why_not: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(
        f"it has the form of {name}, but {' and '.join(reasons)}"
        for name, reasons in why_not.items()
    )


# A record of libCacheSim's oracleGeneral: time in s, object, size, next access (-1 or 2^63 - 1 of
# none), little-endian.
_ORACLE_GENERAL = np.dtype([("time", "<u4"), ("id", "<u8"), ("size", "<u4"), ("next", "<i8")])
_LOOKED_AT = 64
_NO_NEXT = (-1, 2**63 - 1)


def _refuse_without_operations(path: str | os.PathLike[str], head: Head) -> None:
    """Refuse oracleGeneral, whose records do not say what is written."""
    count = min(_LOOKED_AT, len(head.start) // _ORACLE_GENERAL.itemsize)
    records = np.frombuffer(head.start, _ORACLE_GENERAL, count)
    looks_so = (
        count >= 2
        and b"\0" in head.start
        and bool((np.diff(records["time"].astype(np.int64)) >= 0).all())
        and bool((records["size"] > 0).all())
        and bool((np.isin(records["next"], _NO_NEXT) | (records["next"] > np.arange(count))).all())
        and bool((records["next"] < 2**48).all() | np.isin(records["next"], _NO_NEXT).any())
    )
    if looks_so or ".oraclegeneral" in os.fspath(path).lower():
        raise WriteampError(
            f"{path}: is libCacheSim's oracleGeneral, whose records say neither read nor write, so "
            "that what is written cannot be told; give the trace that it was made from (its VSCSI "
            "file or CSV)"
        )
