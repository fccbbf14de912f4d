"""Facts of a trace for the checks: its writes in order, and related statistics."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.fio.job_file import UNIT_BYTES
from writeamp.traces import PageTrace, Trace

_I64 = npt.NDArray[np.int64]
# Largest numbers of writes of a trace that are examined, by `doctor` and by `simulate`. The last
# writes of the trace are used, as a fill may come before them.
MOST_WRITES, FEW_WRITES = 4_000_000, 500_000
# Number of address bits within one device; the bits above them are the device.
_DEVICE_BITS = 44
# A write is near the previous one if it begins within this many lengths of that write.
_NEAR = 32


@dataclass(frozen=True, eq=False)
class TraceFacts:
    """Writes of a trace in order, and numbers about its requests.

    Attributes:
        name: name of the file.
        offsets, lengths: bytes, shape (writes,); addresses of several devices do not overlap.
        requests, trims: number of requests and trims in the trace.
        extent_bytes: largest end of a request within its device, in bytes.
        times_ns: times of all requests in ns, sorted; empty if the trace has none.
        repeated: share of requests that equal the previous one.
        notes: notes of the trace reader.
        capacity_bytes: capacity of the drive; None if unknown.
        unit_bytes: mapping unit of the drive.
    """

    name: str
    offsets: _I64
    lengths: _I64
    requests: int = 0
    trims: int = 0
    extent_bytes: int = 0
    times_ns: _I64 = field(default_factory=lambda: np.empty(0, np.int64))
    repeated: float = 0.0
    notes: tuple[str, ...] = ()
    capacity_bytes: int | None = None
    unit_bytes: int = UNIT_BYTES

    @cached_property
    def gaps(self) -> _I64:
        """Number of writes since the previous write to the same address, for each rewrite."""
        order = np.argsort(self.offsets, kind="stable")
        same = np.diff(self.offsets[order]) == 0
        gaps: _I64 = np.diff(order)[same]
        return gaps

    @cached_property
    def writes_of_addresses(self) -> _I64:
        """Number of writes to each start address; shape (addresses,)."""
        counts: _I64 = np.unique(self.offsets, return_counts=True)[1]
        return counts

    @cached_property
    def is_sequential(self) -> bool:
        """Whether most writes begin near the end of the previous one."""
        steps = np.abs(np.diff(self.offsets))
        return bool(np.mean(steps <= _NEAR * self.lengths[:-1]) > 0.5) if steps.size else True

    @cached_property
    def partly(self) -> float:
        """Share of writes that cover a mapping unit partially."""
        if not self.offsets.size:
            return 0.0
        unit = self.unit_bytes
        return float(np.mean((self.offsets % unit != 0) | (self.lengths % unit != 0)))


def of_trace(trace: Trace) -> TraceFacts:
    """Return the facts of a trace."""
    requests = trace.requests
    writes = requests.filter(pl.col("op") == "write").tail(MOST_WRITES)
    devices = writes["device"].to_numpy().astype(np.int64) << _DEVICE_BITS
    requests_fields = pl.struct("device", "op", "offset", "length")
    same = (
        requests.select((requests_fields == requests_fields.shift()).mean())[0, 0]
        if requests.height > 1
        else 0.0
    )
    return TraceFacts(
        trace.path,
        writes["offset"].to_numpy().astype(np.int64) + devices,
        writes["length"].to_numpy().astype(np.int64),
        requests=requests.height,
        trims=int((requests["op"] == "trim").sum()),
        extent_bytes=int((requests["offset"] + requests["length"]).max()),  # type: ignore[arg-type]
        times_ns=np.sort(requests["timestamp_ns"].to_numpy()),
        repeated=float(same or 0.0),
        notes=(*trace.warnings, *trace.notes),
    )


def of_pages(trace: PageTrace) -> TraceFacts:
    """Return the facts of the last writes of a trace that was converted to pages."""
    writes = np.flatnonzero(trace.op == 0)[-FEW_WRITES:]
    page_bytes = trace.page_bytes
    return TraceFacts(
        trace.path or "the trace",
        trace.start[writes].astype(np.int64) * page_bytes,
        trace.count[writes].astype(np.int64) * page_bytes,
        requests=int(trace.op.size),
    )
