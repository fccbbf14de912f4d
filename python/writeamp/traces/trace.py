"""Trace in the one shape that every file has once it is read."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from writeamp.errors import WriteampError
from writeamp.fields.domains import shown
from writeamp.plots.figures.traces import rates_over_time
from writeamp.plots.spec import LineChart
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import four_digits
from writeamp.traces.clocks import clock_of
from writeamp.traces.recorded import Recorded
from writeamp.traces.request_facts import facts_of, rates_of

OPERATIONS = ("read", "write", "trim", "flush")
Operation = pl.Enum(OPERATIONS)

SCHEMA: dict[str, pl.DataType] = {
    "timestamp_ns": pl.Int64(),
    "device": pl.UInt32(),
    "op": Operation,
    "offset": pl.UInt64(),
    "length": pl.UInt32(),
}

# Column that a recording of the virtual drive has besides: whether a request had to be durable
# before it was answered.
FUA = "fua"

MAX_TIMESTAMP_NS = 2**63 - 1
# The kernel's loff_t is signed, so no block device reaches past 8 EiB; the bound also lets every
# later step add offset and length without overflow.
MAX_END_BYTES = 2**63 - 1
# The kernel's bio size is 32 bits wide: no single request is 4 GiB or longer.
MAX_LENGTH_BYTES = 2**32 - 1
SECTOR_BYTES = 512

# Four digits would make a whole of it.
_NEARLY_ONE = 0.9995


def check_trace(given: object) -> None:
    """Refuse what is no trace.

    Raises:
        WriteampError: it is not.
    """
    if not isinstance(given, Trace):
        hint = f": wa.traces.read({shown(given)}) reads one" if isinstance(given, str) else ""
        raise WriteampError(f"trace is {shown(given)}; it must be a writeamp.traces.Trace{hint}")


@dataclass(frozen=True, eq=False)
class Trace(Drawn):
    """Requests of one trace file, in file order.

    Attributes:
        requests: one row a request: ``timestamp_ns`` i64, ``device`` u32 (an index into
            ``devices``), ``op`` (read, write, trim or flush), ``offset`` u64 and ``length`` u32
            (bytes). Each device is an address space of its own.
        format: name of the format the trace was read from.
        path: the file it was read from.
        devices: device names; the position is the value of the ``device`` column.
        notes: sentences on what the reader assumed, chose or left out.
        doubts: sentences on what the reader found doubtful in the file.
        recorded: the virtual drive that served these requests, if one did.
        fua: whether each of them had to be durable before it was answered, of shape (requests,);
            None if nobody wrote that down.

    Raises:
        WriteampError: the frame has other columns or types than ``SCHEMA``, has no row, or names a
            device that ``devices`` lacks, or ``fua`` is of another length.
    """

    requests: pl.DataFrame
    format: str
    path: str
    devices: list[str]
    notes: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    recorded: Recorded | None = None
    fua: pl.Series | None = None

    def __post_init__(self) -> None:
        """Hold the frame to the schema, which every function on traces relies on."""
        if not isinstance(self.requests, pl.DataFrame) or dict(self.requests.schema) != SCHEMA:
            columns = ", ".join(f"{name} {dtype}" for name, dtype in SCHEMA.items())
            raise WriteampError(f"{self.path}: the requests of a trace need the columns {columns}")
        if self.requests.is_empty():
            raise WriteampError(f"{self.path}: the trace holds no request")
        is_series = isinstance(self.fua, pl.Series)
        if self.fua is not None and not (is_series and len(self.fua) == self.requests.height):
            raise WriteampError(f"{self.path}: fua is no Polars series of one value a request")
        last_device = int(self.requests["device"].max())  # type: ignore[arg-type]
        if last_device >= len(self.devices):
            raise WriteampError(
                f"{self.path}: a request names device {last_device}, "
                f"valid are 0 to {len(self.devices) - 1}"
            )

    @property
    def warnings(self) -> list[str]:
        """Sentences on what is doubtful in the file and in its times."""
        return [*self.doubts, *clock_of(self.requests).doubts]

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Facts of the requests, as `traces.info` has them."""
        return facts_of(self.requests, self.path)

    def _records(self) -> list[dict[str, Any]]:
        about = {"path": self.path, "format": self.format}
        return [about | self.facts | {"devices": self.devices}]

    def card(self) -> Card:
        """Return the main facts of the trace in words."""
        about = {"file": self.path, "format": self.format}
        facts = about | self.facts | {"devices": list(self.devices)}
        rows = [(name.replace("_", " "), shown_fact(value)) for name, value in facts.items()]
        return Card(f"Trace {self.path}", rows, warnings=self.warnings, notes=self.notes)

    def figure(self) -> LineChart:
        """Describe the bytes a second that were written and read."""
        end_s, rates = rates_of(self.requests)
        return rates_over_time(
            end_s,
            rates,
            title=f"Requests of {self.path}",
            subtitle=f"{self.requests.height:,} requests, {self.format}",
        )


def shown_fact(value: object) -> str:
    """Return a fact of a trace in words."""
    if isinstance(value, bool) or value is None:
        return "–" if value is None else str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return _nearly_one(value) if _NEARLY_ONE <= value < 1 else four_digits(value)
    if isinstance(value, list):
        return f"{len(value)}: {', '.join(str(item) for item in value)}"
    return str(value)


def _nearly_one(value: float) -> str:
    """Return a share with the digits that tell it from 1."""
    return f"{value:.{1 - math.floor(math.log10(1 - value))}f}"
