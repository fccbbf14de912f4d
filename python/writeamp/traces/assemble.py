"""Assembly of a trace from blocks of requests: device codes, and notes for any format."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.errors import WriteampError
from writeamp.traces.trace import SCHEMA, Trace

# Device numbers below this limit are encoded with an array indexed by the number.
_SMALL = 1 << 20


class DeviceCodes:
    """Numbering of the distinct devices of a trace, while the blocks of a file are read."""

    def __init__(self, separator: str) -> None:
        """Start without devices; ``separator`` joins the columns that together name a device."""
        self._separator = separator
        self._codes: dict[tuple[object, ...], int] = {}

    def encode(self, rows: pl.DataFrame, columns: list[str]) -> pl.Series:
        """Return the u32 code of the device that ``columns`` together name in each row.

        Without columns, all rows are of one device with the name 0.
        """
        if not columns:
            code = self._codes.setdefault((0,), len(self._codes))
            return pl.repeat(code, rows.height, dtype=pl.UInt32, eager=True)
        if len(columns) == 1 and rows.schema[columns[0]] == pl.UInt64:
            numbers = rows[columns[0]].to_numpy()
            if len(numbers) and numbers.max() < _SMALL:
                return pl.Series(self._encode_small(numbers))
        keys = rows.select(columns)
        distinct = keys.unique(maintain_order=True)
        codes = [self._codes.setdefault(key, len(self._codes)) for key in distinct.rows()]
        if len(codes) == 1:
            return pl.repeat(codes[0], rows.height, dtype=pl.UInt32, eager=True)
        table = distinct.with_columns(pl.Series("code", codes, dtype=pl.UInt32))
        return keys.join(table, on=columns, how="left", maintain_order="left")["code"]

    def _encode_small(self, numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint32]:
        """Return the codes of devices with small numbers, by an array indexed by the number."""
        is_there = np.zeros(int(numbers.max()) + 1, bool)
        is_there[numbers] = True
        code_of = np.zeros(len(is_there), np.uint32)
        for number in np.flatnonzero(is_there).tolist():
            code_of[number] = self._codes.setdefault((number,), len(self._codes))
        return code_of[numbers]

    @property
    def names(self) -> list[str]:
        """Names of the devices; the position of a name is its code."""
        return [self._separator.join(map(str, key)) for key in self._codes]

    def renumber(self, codes: pl.Series) -> tuple[list[str], pl.Series]:
        """Return the names in natural order (2 before 10) and the codes renumbered to match."""
        names = self.names
        order = natural_order(names)
        rank = pl.Series(order).arg_sort().cast(pl.UInt32)
        return [names[code] for code in order], rank.gather(codes)


def natural_order(names: list[str]) -> list[int]:
    """Return the positions of the names, sorted by name in natural order (2 before 10)."""
    return sorted(range(len(names)), key=lambda code: _natural(names[code]))


def _natural(name: str) -> list[tuple[int, int, str]]:
    parts = re.findall(r"\d+|\D+", name)
    return [(0, *_magnitude(piece)) if piece.isdecimal() else (1, 0, piece) for piece in parts]


def _magnitude(digits: str) -> tuple[int, str]:
    """Return a sort key that orders numbers of any length by size."""
    significant = digits.lstrip("0")
    return len(significant), significant


def assemble(
    path: Path,
    format_name: str,
    parts: Sequence[pl.DataFrame],
    devices: DeviceCodes,
    notes: Sequence[str],
    *,
    doubts: Sequence[str] = (),
) -> Trace:
    """Return the trace whose requests are these parts, in their order.

    Raises:
        WriteampError: the parts hold no request.
    """
    requests = pl.concat(parts, rechunk=True) if parts else pl.DataFrame(schema=SCHEMA)
    if requests.is_empty():
        raise WriteampError(f"{path}: the trace holds no requests; at least one is needed")
    names, codes = devices.renumber(requests["device"])
    requests = requests.with_columns(device=codes)
    return Trace(
        requests=requests,
        format=format_name,
        path=str(path),
        devices=names,
        notes=[*notes, *observations(requests, len(names))],
        doubts=list(doubts),
    )


def observations(requests: pl.DataFrame, device_count: int) -> list[str]:
    """Return notes on unusual properties of the requests of any trace."""
    empty = requests.select(((pl.col("length") == 0) & (pl.col("op") != "flush")).sum()).item()
    early = count_out_of_order(requests)
    notes = []
    if empty:
        notes.append(f"{empty} requests of zero bytes: they touch no page")
    if early:
        notes.append(
            f"{early} requests have an earlier time than the request before them: the order of "
            "the file is kept"
        )
    if device_count > 1:
        notes.append(f"{device_count} devices, each with an address space of its own")
    return notes


def count_out_of_order(requests: pl.DataFrame) -> int:
    """Return the number of requests with an earlier time than the previous request."""
    time = pl.col("timestamp_ns")
    return int(requests.select((time < time.shift(1)).sum()).item())
