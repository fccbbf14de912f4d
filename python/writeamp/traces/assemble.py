"""Assembly of a trace from blocks of normalised rows, with notes that hold for every format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from writeamp.errors import WriteampError
from writeamp.traces.devices import DeviceCodes
from writeamp.traces.trace import SCHEMA, Trace


def assemble(
    path: Path,
    format_name: str,
    parts: Sequence[pl.DataFrame],
    devices: DeviceCodes,
    notes: Sequence[str],
    *,
    doubts: Sequence[str] = (),
) -> Trace:
    """Return the trace that the parts make, in their order.

    Raises:
        WriteampError: there is no request.
    """
    requests = pl.concat(parts, rechunk=True) if parts else pl.DataFrame(schema=SCHEMA)
    if requests.is_empty():
        raise WriteampError(f"{path}: the trace holds no request, at least one is needed")
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
    """Return notes on what stands out in the requests of any trace."""
    empty = requests.select(((pl.col("length") == 0) & (pl.col("op") != "flush")).sum()).item()
    early = count_out_of_order(requests)
    notes = []
    if empty:
        notes.append(f"{empty} requests of zero bytes: they touch no page")
    if early:
        notes.append(
            f"{early} requests carry an earlier time than the one before: file order is kept"
        )
    if device_count > 1:
        notes.append(f"{device_count} devices, each an address space of its own")
    return notes


def count_out_of_order(requests: pl.DataFrame) -> int:
    """Return how many requests carry an earlier time than the one before them."""
    time = pl.col("timestamp_ns")
    return int(requests.select((time < time.shift(1)).sum()).item())
