"""Trace in the common form of all formats."""

from __future__ import annotations

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
from writeamp.results.facts import fact_in_words
from writeamp.traces.clocks import clock_of
from writeamp.traces.recorded import Recorded
from writeamp.traces.request_facts import facts_of, rates_of
from writeamp.traces.words import HINT
from writeamp.traces.writers import OF_WRITERS, writers_of
from writeamp.units.byte_sizes import shown_bytes

OPERATIONS = ("read", "write", "trim", "flush")
Operation = pl.Enum(OPERATIONS)

SCHEMA: dict[str, pl.DataType] = {
    "timestamp_ns": pl.Int64(),
    "device": pl.UInt32(),
    "op": Operation,
    "offset": pl.UInt64(),
    "length": pl.UInt32(),
}

# Columns that a trace may have in addition: the process, its number and the file that each request
# came from. Null is unknown. The names may also be text (`pl.String`).
ORIGINS: dict[str, pl.DataType] = {
    "process": pl.Categorical(),
    "pid": pl.UInt32(),
    "file": pl.Categorical(),
}
# All columns that a trace may have in addition; the last one has the placement handle that the host
# named for a write.
OPTIONAL = ORIGINS | {HINT: pl.UInt8()}
NUMBERS = ("pid", HINT)
_TEXT = (pl.String, pl.Categorical, pl.Enum)

# Additional column of recordings of the virtual drive: whether a request had to be durable before
# its answer.
FUA = "fua"

MAX_TIMESTAMP_NS = 2**63 - 1
# The kernel's loff_t is signed, so block devices end below 8 EiB. The bound also lets later steps
# add offset and length without overflow.
MAX_END_BYTES = 2**63 - 1
# The kernel's bio size has 32 bits, so requests are shorter than 4 GiB.
MAX_LENGTH_BYTES = 2**32 - 1
SECTOR_BYTES = 512


def check_trace(trace: object) -> None:
    """Reject a value that is not a trace.

    Raises:
        WriteampError: the value is not a `Trace`.
    """
    if not isinstance(trace, Trace):
        hint = f"; read it with wa.traces.read({shown(trace)})" if isinstance(trace, str) else ""
        raise WriteampError(f"trace is {shown(trace)}; it must be a writeamp.traces.Trace{hint}")


@dataclass(frozen=True, eq=False)
class Trace(Drawn):
    """Requests of one trace file, in file order.

    Attributes:
        requests: one row per request: ``timestamp_ns`` i64, ``device`` u32 (an index into
            ``devices``), ``op`` (read, write, trim or flush), ``offset`` u64 and ``length`` u32
            (bytes). Each device has an address space of its own. Traces that name the origin of
            their requests also have some of ``process`` and ``file`` (text or categories) and
            ``pid`` u32, and ``hint`` u8, a placement handle; null is unknown.
        format: name of the format the trace was read from.
        path: the file it was read from.
        devices: device names; the position is the value of the ``device`` column.
        notes: sentences on assumptions and choices of the reader, and on requests left out.
        doubts: sentences on doubtful facts in the file.
        recorded: the virtual drive that served these requests; None without one.
        fua: whether each request had to be durable before its answer, shape (requests,); None if
            not recorded.
        tags: u8, index into ``tag_names`` for each request, or 255, shape (requests,); by these
            tags runs count. None without tags.
        tag_names: names of the tags; None without tags.
        are_tags_hints: whether the tags are placement hints for the block manager.

    Raises:
        WriteampError: the frame has other columns or types than ``SCHEMA`` and ``OPTIONAL``, has no
            rows, or has a device that is not in ``devices``; or ``fua`` has another length.
    """

    requests: pl.DataFrame
    format: str
    path: str
    devices: list[str]
    notes: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    recorded: Recorded | None = None
    fua: pl.Series | None = None
    tags: pl.Series | None = None
    tag_names: tuple[str, ...] | None = None
    are_tags_hints: bool = False

    def __post_init__(self) -> None:
        """Check that the frame has the schema that all functions on traces need."""
        if not isinstance(self.requests, pl.DataFrame) or not _is_valid(self.requests.schema):
            columns = ", ".join(f"{name} {dtype}" for name, dtype in SCHEMA.items())
            raise WriteampError(f"{self.path}: the requests of a trace need the columns {columns}")
        if self.requests.is_empty():
            raise WriteampError(f"{self.path}: the trace holds no requests; at least one is needed")
        is_series = isinstance(self.fua, pl.Series)
        if self.fua is not None and not (is_series and len(self.fua) == self.requests.height):
            raise WriteampError(f"{self.path}: fua must be a Polars series, one value per request")
        last_device = int(self.requests["device"].max())  # type: ignore[arg-type]
        if last_device >= len(self.devices):
            raise WriteampError(
                f"{self.path}: a request has device {last_device}, "
                f"valid are 0 to {len(self.devices) - 1}"
            )

    @property
    def origins(self) -> list[str]:
        """Names of the columns of `OPTIONAL` that the trace has."""
        return [name for name in OPTIONAL if name in self.requests.columns]

    @property
    def warnings(self) -> list[str]:
        """Sentences on doubtful facts in the file and in its times."""
        return [*self.doubts, *clock_of(self.requests).doubts]

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Facts of the requests, with the keys of `traces.info`."""
        return facts_of(self.requests, self.path)

    @cached_property
    def writers(self) -> dict[str, Any]:
        """Written bytes by process, file and hint, as in `traces.info`; {} without names."""
        return writers_of(self.requests)

    def _records(self) -> list[dict[str, Any]]:
        about = {"path": self.path, "format": self.format}
        return [about | self.facts | {"devices": self.devices}]

    def card(self) -> Card:
        """Return the main facts of the trace as a card."""
        about = {"file": self.path, "format": self.format}
        facts = about | self.facts | {"devices": list(self.devices)}
        rows = [fact_in_words(name, value) for name, value in facts.items()]
        return Card(
            f"Trace {self.path}",
            rows,
            warnings=self.warnings,
            notes=self.notes,
            parts=[
                _table_of_writers(self.writers, name) for name in self.origins if name in OF_WRITERS
            ],
        )

    def figure(self) -> LineChart:
        """Return a figure of the bytes written and read per second."""
        end_s, rates = rates_of(self.requests)
        return rates_over_time(
            end_s,
            rates,
            title=f"Requests of {self.path}",
            subtitle=f"{self.requests.height:,} requests, {self.format}",
        )


def is_origin(name: str, kind: pl.DataType | None) -> bool:
    """Return whether a table's column can be one of `OPTIONAL`: numbers, or names.

    A number may also be a name. A column whose values are all unknown may have no type.
    """
    if kind is None:
        return False
    is_text = isinstance(kind, _TEXT) and name not in NUMBERS
    return is_text or kind.is_integer() or isinstance(kind, pl.Null)


def _is_valid(schema: pl.Schema) -> bool:
    """Return whether the columns are those of `SCHEMA`, and then any of `OPTIONAL`."""
    columns = dict(schema)
    origins = {name: columns.pop(name) for name in OPTIONAL if name in columns}
    are_valid = (
        kind == OPTIONAL[name] if name in NUMBERS else isinstance(kind, _TEXT)
        for name, kind in origins.items()
    )
    return columns == SCHEMA and all(are_valid)


def _table_of_writers(writers: dict[str, Any], column: str) -> Card:
    rows = [
        (row[column], shown_bytes(row["bytes_written"]), f"{row['share']:.1%}")
        for row in writers[f"written_by_{column}"]
    ]
    unknown = writers[f"{column}_unknown_share"]
    notes = [f"{unknown:.1%} of the written bytes have no {column}"] if unknown else []
    return Card(f"Written bytes by {column}", rows, (column, ">written", ">share"), notes=notes)
