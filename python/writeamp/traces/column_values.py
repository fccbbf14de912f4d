"""Values in a text `columns:…`: a column's position, unit, and the meaning of its words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from writeamp.errors import WriteampError
from writeamp.text import quoted
from writeamp.traces.trace import MAX_LENGTH_BYTES, OPERATIONS, SECTOR_BYTES
from writeamp.units.byte_sizes import ByteSize

PREFIX = "columns"

# Column of a table: its number from 1, or its name in the header.
Where: TypeAlias = int | str


@dataclass(frozen=True)
class TimeUnit:
    """Unit of a column of times, and the time from its origin to 1970."""

    words: str
    nanoseconds: int
    before_1970_ns: int = 0


TIME_UNITS = {
    "s": TimeUnit("seconds", 10**9),
    "ms": TimeUnit("milliseconds", 10**6),
    "us": TimeUnit("microseconds", 10**3),
    "ns": TimeUnit("nanoseconds", 1),
    "100ns": TimeUnit("ticks of 100 ns", 100),
    # Today's times since 1601 overflow 64 bits in nanoseconds, so the origin is subtracted first.
    "filetime": TimeUnit("ticks of 100 ns since 1601", 100, 11_644_473_600_000_000_000),
    "datetime": TimeUnit("dates and times, UTC unless they name a zone", 1),
}
DATE_AND_TIME = "datetime"
_LAST_COLUMN = 4096
_LARGEST_UNIT_BYTES = 2**40
_HEXADECIMAL = "hex-"
_UNITS = (
    "bytes, sectors (512 bytes) or a size such as 4KiB; with hex- before it for hexadecimal numbers"
)


@dataclass(frozen=True)
class MeasureColumn:
    """Column of offsets or lengths; if `where` is None, all rows have the length `unit_bytes`."""

    where: Where | None
    unit_bytes: int
    unit: str

    @property
    def text(self) -> str:
        """Canonical text of the column."""
        return self.unit if self.where is None else f"{self.where}:{self.unit}"

    @property
    def is_hexadecimal(self) -> bool:
        """True if the numbers of the column are hexadecimal."""
        return self.where is not None and self.unit.startswith(_HEXADECIMAL)

    @property
    def counted(self) -> str:
        """Unit of the column's numbers in words, for a note."""
        if self.where is None:
            return f"all {self.unit}"
        unit = self.unit.removeprefix(_HEXADECIMAL)
        named = {1: "bytes", SECTOR_BYTES: f"sectors of {SECTOR_BYTES} bytes"}
        words = named.get(self.unit_bytes, f"counted in {unit}")
        return f"{words}, hexadecimal" if self.is_hexadecimal else words


@dataclass(frozen=True)
class Operations:
    """Column of operation words and their meanings; if `where` is None, all rows are `always`."""

    where: Where | None
    words: Mapping[str, str]
    always: str = ""

    @property
    def text(self) -> str:
        """Canonical text of the column."""
        if self.where is None:
            return self.always
        return f"{self.where}:" + "/".join(f"{word}={op}" for word, op in self.words.items())

    @property
    def valid(self) -> str:
        """Operation words with their meanings, for a sentence."""
        return meanings(self.words)


@dataclass(frozen=True)
class Selection:
    """Column with words that select the rows that are requests; other rows are skipped."""

    where: Where
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        """Canonical text of the selection."""
        return f"{self.where}:{'/'.join(self.words)}"


def meanings(words: Mapping[str, str]) -> str:
    """Return operation words with their meanings, for a sentence."""
    return ", ".join(f"{word} ({op})" for word, op in words.items())


def parse_where(field: str, text: str) -> Where:
    """Return the column that a text names, by number or name."""
    if not text.isdecimal():
        if text.lstrip("+-").replace(".", "").isdecimal():
            raise spec_error(f"{field} is column {quoted(text)}; columns are numbered from 1")
        return text
    if len(text) > len(str(_LAST_COLUMN)) or not 1 <= int(text) <= _LAST_COLUMN:
        raise spec_error(
            f"{field} is column {quoted(text)}; columns are numbered from 1 to {_LAST_COLUMN}"
        )
    return int(text)


def parse_time(text: str) -> tuple[Where, str]:
    """Return the column of times and their unit."""
    where, colon, unit = text.rpartition(":")
    if not colon or not where:
        raise spec_error(f"time={text} has no unit; give one, as in time=1:ms; {_time_units()}")
    if unit not in TIME_UNITS:
        raise spec_error(f"time={text} has the unit {quoted(unit)}; {_time_units()}")
    return parse_where("time", where), unit


def _time_units() -> str:
    return "valid are " + ", ".join(f"{name} ({unit.words})" for name, unit in TIME_UNITS.items())


def parse_measure(field: str, text: str) -> MeasureColumn:
    """Return the column of offsets or lengths, or the length of all rows."""
    where, colon, unit = text.rpartition(":")
    if colon and where:
        return MeasureColumn(parse_where(field, where), _unit_bytes(field, text, unit), unit)
    if field == "length" and not text.isdecimal():
        try:
            size = _size(text)
        except WriteampError:
            size = 0
        if 0 < size <= MAX_LENGTH_BYTES:
            return MeasureColumn(None, size, text)
    one_size = ", or one size for all rows, such as 4KiB" if field == "length" else ""
    raise spec_error(
        f"{field}={text} has no unit; give one, as in {field}=3:bytes; valid are {_UNITS}{one_size}"
    )


def _unit_bytes(field: str, text: str, unit: str) -> int:
    named = {"bytes": 1, "sectors": SECTOR_BYTES}
    unit_of_number = unit.removeprefix(_HEXADECIMAL)
    if unit_of_number in named:
        return named[unit_of_number]
    try:
        size = 0 if unit_of_number.isdecimal() else _size(unit_of_number)
    except WriteampError:
        size = 0
    if not 0 < size <= _LARGEST_UNIT_BYTES:
        raise spec_error(f"{field}={text} has the unit {quoted(unit)}; valid are {_UNITS}")
    return size


def _size(text: str) -> int:
    return int(ByteSize().check("size", text))


def parse_operations(text: str) -> Operations:
    """Return the column of operations with its words, or the operation of all rows."""
    if text in OPERATIONS:
        return Operations(None, {}, always=text)
    where, colon, listed = text.partition(":")
    valid = "op=5:0=read/1=write, with any of read, write, trim and flush, or op=write for all rows"
    if not colon or not where:
        raise spec_error(f"op={text} does not define its words; valid is, for example, {valid}")
    words: dict[str, str] = {}
    for pair in listed.split("/"):
        word, _, op = pair.rpartition("=")
        if not word or op not in OPERATIONS:
            raise spec_error(f"op={text} has {quoted(pair)}; valid is, for example, {valid}")
        if words.setdefault(word, op) != op:
            raise spec_error(f"op={text} has {quoted(word)} twice; each word means one operation")
    return Operations(parse_where("op", where), words)


def parse_selection(text: str) -> Selection:
    """Return the column and the words of the rows that count."""
    where, colon, listed = text.rpartition(":")
    words = tuple(dict.fromkeys(word for word in listed.split("/") if word))
    if not colon or not where or not words:
        raise spec_error(
            f"only={text} does not select rows; valid is COLUMN:WORD/WORD, as in only=4:C"
        )
    return Selection(parse_where("only", where), words)


def spec_error(sentence: str) -> WriteampError:
    """Return the error for a text `columns:…` that is not valid."""
    return WriteampError(f"{PREFIX}: {sentence}")
