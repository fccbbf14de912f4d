"""Read data in memory as a trace."""

from __future__ import annotations

import os
from typing import Any

import polars as pl

from writeamp.errors import WriteampError
from writeamp.fields.domains import POSITIVE_COUNT
from writeamp.traces.assemble import observations
from writeamp.traces.devices import DeviceCodes
from writeamp.traces.in_memory import Given
from writeamp.traces.in_memory_rows import ignored_columns
from writeamp.traces.reading import read
from writeamp.traces.trace import MAX_LENGTH_BYTES, SCHEMA, Trace


def of(data: Any, format: str | None = None, *, page_bytes: int = 4096) -> Trace:
    """Return data in memory as a trace.

    `simulate`, `compare`, `endurance` and `traces.to_pages` take the same data as they are, without
    this, and then keep 6 to 9 bytes of a request rather than 25.

    Args:
        data: an array of integers of shape (requests,), pages that are written, or (requests, 2),
            first pages and numbers of pages that are written; a table with the columns `offset`
            and `length` in bytes, `op` (read, write, trim or flush), and if they matter
            `timestamp_ns` and `device`, or with `page` and if they matter `pages` and `op`: a
            frame of Polars or pandas, a structured array, a table, record batch or stream of
            Arrow; an iterator of page numbers, or of arrays or tables; the path of a file.
        format: what the columns of a table mean if they are others, such as
            "columns:time=ts:ms,offset=lba:sectors,length=n:sectors,op=rw:R=read/W=write"; of a
            file, as `traces.read` takes it.
        page_bytes: the size of a page, where data are in pages.

    Raises:
        WriteampError: the data are none of these, a column is missing, or a value is not valid;
            names the first such row.

    >>> import numpy as np
    >>> import writeamp as wa
    >>> wa.traces.of(np.array([3, 1, 3])).requests["offset"].to_list()
    [12288, 4096, 12288]
    """
    if isinstance(data, Trace):
        return data
    if isinstance(data, str | os.PathLike):
        return read(data, format)
    page_bytes = POSITIVE_COUNT.check("page_bytes", page_bytes)
    given = data if isinstance(data, Given) else Given(data, format)
    parts = []
    row = 1
    known = DeviceCodes("_")
    ignored: dict[str, None] = {}
    for reading, batch, devices in given.batches():
        found = _in_bytes(batch, row, page_bytes) if reading.in_pages else batch
        parts.append(found.select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items()))
        row += batch.height
        ignored |= dict.fromkeys(reading.ignored)
        known = devices
    requests = pl.concat(parts, rechunk=True)
    names, codes = known.renumber(requests["device"])
    requests = requests.with_columns(device=codes)
    return Trace(
        requests=requests,
        format="memory" if given.columns is None else given.columns.text,
        path="the trace",
        devices=names,
        notes=[*observations(requests, len(names)), *ignored_columns(ignored)],
    )


def _in_bytes(requests: pl.DataFrame, first_row: int, page_bytes: int) -> pl.DataFrame:
    long = requests["length"] > MAX_LENGTH_BYTES // page_bytes
    if long.any():
        at = int(long.arg_true()[0])
        raise WriteampError(
            f"row {first_row + at} of the trace has pages {requests['length'][at]}, a request is "
            f"at most {MAX_LENGTH_BYTES // page_bytes} pages of {page_bytes} bytes long"
        )
    return requests.with_columns(pl.col("offset", "length") * page_bytes)
